// What is told about a slice, a message or a shaded stretch: pairs of a name and a text. Texts come from the trace, and become text
// nodes only.

function aboutOperation(table, i) {
  const told = [];
  if (table.peer[i] >= 0) told.push(["peer", `rank ${table.peer[i]}`]);
  if (table.tag[i] >= 0) told.push(["tag", table.tag[i]]);
  if (table.bytes[i] > 0) told.push(["size", bytesText(table.bytes[i])]);
  const protocol = word("protocol", table.protocol[i]);
  const reason = word("reason", table.reason[i]);
  if (protocol) told.push(["protocol", reason && reason !== "none" ? `${protocol} (${reason})` : protocol]);
  if (table.fallback[i]) told.push(["fell back", word("fallback", table.fallback[i])]);
  if (table.not_released[i]) told.push(["not released", word("fallback", table.not_released[i])]);
  if (table.operation[i]) told.push(["operation", table.operation[i]]);
  return told;
}

function aboutSite(name, number) {
  const known = site(number);
  return known ? [[name, [siteText(number), ...known.callers.map((caller) => `  from ${caller}`)].join("\n")]] : [];
}

function aboutRelease(i) {
  const touched = slices.touched_after[i] > 0;
  return [
    ["released for", timeText(slices.duration[i])],
    ["hidden", timeText(slices.hidden[i])],
    ["first touch", touched ? `after ${timeText(slices.touched_after[i])}` : "none before the data was there"],
    ["waited on pages", `${timeText(slices.waited[i])}, ${countText(slices.faults[i], "fault")}`],
    ["pages", `${slices.pages[i]}, opened in ${countText(slices.runs[i], "run")}`],
  ];
}

function aboutCollective(i) {
  const ranks = collectives.get(collectiveKey(i));
  const last = ranks.reduce((latest, other) => slices.begin[other] > slices.begin[latest] ? other : latest);
  const later = slices.begin[last] - slices.begin[i];
  return [
    ["carried", wordsOfBits("carried", slices.how[i]) || "by messages"],
    ["waited in the call", timeText(slices.waited[i])],
    ["last to enter", `rank ${lanes[slices.lane[last]].rank.rank}${later > 0 ? `, ${timeText(later)} later` : ""}, of ${countText(ranks.length, "rank")}`],
  ];
}

function tellSlice(i) {
  const kind = KINDS[slices.kind[i]];
  const detail = slices.detail[i];
  const words = !kind.list || detail === 0 ? "" : kind.bits ? wordsOfBits(kind.list, detail - 1) : word(kind.list, detail);
  const told = [[kind.label, words], ["time", `${timeText(slices.duration[i])}, from ${timeText(slices.begin[i])}`], ["lane", laneText(slices.lane[i])]];
  told.push(...aboutSite("site", slices.site[i]));
  if (kind.name === "call") told.push(["waited", timeText(slices.waited[i])]);
  if (kind.name === "release") told.push(...aboutRelease(i));
  if (isCollective(i)) told.push(...aboutCollective(i));
  told.push(...aboutOperation(slices, i));
  const release = releases.get(operationKey(slices.lane[i], slices.operation[i]));
  if (slices.operation[i] && release !== undefined && release !== i) told.push(...aboutRelease(release));
  return told;
}

function tellArrow(i) {
  const how = wordsOfBits("match", arrows.how[i]);
  const told = [["message", how], ["time", timeText(arrows.complete[i] - arrows.sent[i])], ["from", `${laneText(arrows.from[i])}, at ${timeText(arrows.sent[i])}`],
    ["to", `${laneText(arrows.to[i])}, matched at ${timeText(arrows.matched[i])}, complete at ${timeText(arrows.complete[i])}`]];
  told.push(...aboutSite("sent by", arrows.from_site[i]), ...aboutSite("received by", arrows.to_site[i]));
  const about = aboutOperation(arrows, i).filter(([name]) => name !== "peer");
  if (!arrows.protocol[i]) about.push(["protocol", arrows.how[i] & MATCH_PUT ? "written to its receive (putnr, put)" : "eager"]);
  const release = releases.get(operationKey(arrows.to[i], arrows.operation[i]));
  return [...told, ...about, ...(arrows.operation[i] && release !== undefined ? aboutRelease(release) : [])];
}

function tellCell(i) {
  return [[KINDS[cells.kind[i]].label, `${cells.begun[i]} short ones begin here, not shown one by one`],
    ["time", `${timeText(cells.time[i])} of ${timeText(page.density.bin_ns)}`], ["lane", laneText(cells.lane[i])]];
}

function tell(hit) { return hit.arrow !== undefined ? tellArrow(hit.arrow) : hit.slice !== undefined ? tellSlice(hit.slice) : tellCell(hit.cell); }

/** Replaces what `element` shows. */
function showTold(element, pairs) {
  const list = document.createElement("dl");
  list.className = "told";
  for (const [name, text] of pairs) {
    list.append(Object.assign(document.createElement("dt"), {textContent: name}), Object.assign(document.createElement("dd"), {textContent: text}));
  }
  element.replaceChildren(list);
}

/** What the page does not show, and what is wrong with the trace. */
function notes() {
  const told = [];
  const left = (counts, what, rest) => {
    if (counts.left_out) told.push(`${counts.left_out} ${what} of ${timeText(counts.longest_left_out_ns)} or less are not shown one by one${rest}`);
  };
  left(page.slice_counts, "slices", ", but as shading. With --from and --to, sluice timeline shows a part in full.");
  left(page.arrow_counts, "messages", ".");
  if (page.one_ended) told.push(`Of ${page.one_ended} messages the trace has only one end; they have no arrow.`);
  for (const rank of page.ranks) {
    if (rank.lost_records) told.push(`Rank ${rank.rank}: ${rank.lost_records} records are not in the trace (SLUICE_TRACE_LIMIT).`);
    if (!rank.ended) told.push(`Rank ${rank.rank} did not end its trace: it was killed, or was still running.`);
    if (rank.clock_error_ns) told.push(`Rank ${rank.rank}: its clock may be off by ${timeText(rank.clock_error_ns)}.`);
  }
  if (page.damage.found) told.push(`The trace is damaged in ${page.damage.found} places; what could be read is shown.`, ...page.damage.kept);
  return told;
}
