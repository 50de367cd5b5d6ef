// Zoom, pan, search, what is under the pointer.

const tooltip = document.getElementById("tooltip");
const details = document.getElementById("details");
const search = document.getElementById("search");
const SHORTEST_VIEW = 50; // nanoseconds
const NEAR = 4; // pixels

function show(from, to) {
  const length = Math.min(Math.max(to - from, SHORTEST_VIEW), page.to_ns - page.from_ns);
  view.from = Math.min(Math.max(from, page.from_ns), page.to_ns - length);
  view.to = view.from + length;
  redraw();
}
function zoom(factor, at = (view.from + view.to) / 2) { show(at - (at - view.from) * factor, at + (view.to - at) * factor); }
function pan(share) { show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from)); }
function scroll(pixels) {
  view.top = Math.max(0, Math.min(view.top + pixels, bottom + AXIS - view.height + GAP));
  redraw();
}

/** What is at a place of the canvas: the last thing drawn there. */
function hitAt(x, y) {
  if (x < GUTTER || y < AXIS) return null;
  const time = timeAt(x);
  const around = NEAR / 2 / scale();
  for (const [number, lane] of lanes.entries()) {
    if (y < yOf(lane) || y > yOf(lane) + lane.height) continue;
    for (const part of [...PARTS].reverse()) {
      const stretch = lane.parts[part];
      let best;
      for (let at = stretch.first(time - around); at < stretch.rows.length && slices.begin[stretch.rows[at]] <= time + around; at++) {
        const i = stretch.rows[at];
        const [top, height] = place(lane, slices.kind[i], slices.row[i]);
        if (!shown.kinds[slices.kind[i]] || sliceEnd(i) < time - around || y < top || y > top + height) continue;
        if (best === undefined || slices.duration[i] <= slices.duration[best]) best = i;
      }
      if (best !== undefined) return {slice: best, lane: number};
    }
  }
  return shown.messages && arrowAt(x, y) || cellAt(time, y);
}

function arrowAt(x, y) {
  let best, nearest = NEAR;
  for (const i of arrowsInView()) {
    const {x1, y1, x2, y2} = arrowLine(i);
    const [dx, dy] = [x2 - x1, y2 - y1];
    const share = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
    const distance = Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
    if (distance < nearest) [best, nearest] = [i, distance];
  }
  return best === undefined ? null : {arrow: best};
}

function cellAt(time, y) {
  for (const lane of lanes) {
    if (y < yOf(lane) || y > yOf(lane) + lane.height) continue;
    const bin = Math.floor(time / page.density.bin_ns);
    const found = lane.cells.filter((i) => cells.bin[i] === bin && shown.kinds[cells.kind[i]] && (([top, height]) => y >= top && y <= top + height)(place(lane, cells.kind[i], 0)));
    if (found.length) return {cell: found[found.length - 1]};
  }
  return null;
}

function showTooltip(hit, x, y) {
  tooltip.hidden = !hit;
  if (!hit) return;
  showTold(tooltip, tell(hit));
  const [width, height] = [tooltip.offsetWidth, tooltip.offsetHeight];
  tooltip.style.left = `${Math.max(0, Math.min(x + 14, view.width - width - 4))}px`;
  tooltip.style.top = `${Math.max(0, y + 18 + height > view.height ? y - height - 10 : y + 18)}px`;
}

function select(hit) {
  marks.current = hit;
  if (hit) showTold(details, tell(hit)); else details.replaceChildren();
  if (hit?.slice !== undefined) marks.slices.add(hit.slice);
  if (hit?.arrow !== undefined) marks.arrows.add(hit.arrow);
  redraw();
}
function clearMarks() {
  marks.slices.clear();
  marks.arrows.clear();
  select(null);
}

// --- search: every word must fit; "name:value" compares a number or a name, anything else is a part of a text -----------------------

function wordTest(text) {
  const [, name, value] = /^(tag|peer|rank|kind|protocol|operation):(.+)$/.exec(text) || [];
  const inSites = page.sites.map((known) => `${known.call} ${known.place}`.toLowerCase().includes(text));
  const ofSite = (number) => number > 0 && inSites[number - 1];
  const same = (number) => String(number) === value;
  const rankOf = (lane) => lanes[lane].rank.rank;
  const protocolOf = (table, i) => word("protocol", table.protocol[i]) || (table === arrows && !(arrows.how[i] & MATCH_PUT) ? "eager" : "");
  switch (name) {
    case "tag": case "peer": case "operation":
      return {slice: (i) => same(slices[name][i]), arrow: (i) => same(arrows[name][i])};
    case "rank":
      return {slice: (i) => same(rankOf(slices.lane[i])), arrow: (i) => same(rankOf(arrows.from[i])) || same(rankOf(arrows.to[i]))};
    case "kind":
      return {slice: (i) => KINDS[slices.kind[i]].name === value, arrow: () => value === "message"};
    case "protocol":
      return {slice: (i) => protocolOf(slices, i) === value, arrow: (i) => protocolOf(arrows, i) === value};
    default:
      return {slice: (i) => ofSite(slices.site[i]) || KINDS[slices.kind[i]].label.includes(text), arrow: (i) => ofSite(arrows.from_site[i]) || ofSite(arrows.to_site[i])};
  }
}

let found = [], foundAt = -1;
function find(text) {
  clearMarks();
  [found, foundAt] = [[], -1];
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(wordTest);
  if (tests.length) {
    for (let i = 0; i < count.slices; i++) if (tests.every((test) => test.slice(i))) found.push({slice: i, time: slices.begin[i]});
    for (let i = 0; i < count.arrows; i++) if (tests.every((test) => test.arrow(i))) found.push({arrow: i, time: arrows.sent[i]});
    found.sort((a, b) => a.time - b.time);
    for (const hit of found) if (hit.slice !== undefined) marks.slices.add(hit.slice); else marks.arrows.add(hit.arrow);
  }
  document.getElementById("found").textContent = tests.length ? `${found.length} found` : "";
  redraw();
}

/** The next or the one before, brought into view. */
function go(step) {
  if (!found.length) return;
  foundAt = foundAt < 0 ? (step > 0 ? 0 : found.length - 1) : (foundAt + step + found.length) % found.length;
  const hit = found[foundAt];
  const end = hit.slice !== undefined ? sliceEnd(hit.slice) : arrows.complete[hit.arrow];
  const lane = lanes[hit.slice !== undefined ? slices.lane[hit.slice] : arrows.from[hit.arrow]];
  const length = Math.max(Math.min(view.to - view.from, 40 * (end - hit.time)), 2 * (end - hit.time));
  show((hit.time + end - length) / 2, (hit.time + end + length) / 2);
  if (yOf(lane) < AXIS || yOf(lane) + lane.height > view.height) scroll(lane.y - view.top - view.height / 3);
  document.getElementById("found").textContent = `${foundAt + 1} of ${found.length}`;
  select(hit);
}

// --- pointer and keys --------------------------------------------------------------------------------------------------------------

const drag = {on: false, moved: false, x: 0, y: 0};
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.offsetX < GUTTER || event.altKey) scroll(event.deltaY);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / view.width);
  else zoom(1.0015 ** event.deltaY, timeAt(event.offsetX));
}, {passive: false});
canvas.addEventListener("pointerdown", (event) => {
  Object.assign(drag, {on: true, moved: false, x: event.offsetX, y: event.offsetY});
  canvas.setPointerCapture(event.pointerId);
  canvas.focus();
});
canvas.addEventListener("pointermove", (event) => {
  if (!drag.on) return showTooltip(hitAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
  if (Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > NEAR) drag.moved = true;
  if (!drag.moved) return;
  tooltip.hidden = true;
  pan((drag.x - event.offsetX) / (view.width - GUTTER));
  scroll(drag.y - event.offsetY);
  Object.assign(drag, {x: event.offsetX, y: event.offsetY});
});
canvas.addEventListener("pointerup", (event) => {
  if (drag.on && !drag.moved) {
    const hit = hitAt(event.offsetX, event.offsetY);
    if (!found.length) clearMarks();
    select(hit);
  }
  drag.on = false;
});
canvas.addEventListener("pointerleave", () => { tooltip.hidden = true; });
canvas.addEventListener("dblclick", (event) => {
  const hit = hitAt(event.offsetX, event.offsetY);
  if (hit?.slice !== undefined) show(slices.begin[hit.slice] - slices.duration[hit.slice] / 2, sliceEnd(hit.slice) + slices.duration[hit.slice] / 2);
  else zoom(0.25, timeAt(event.offsetX));
});

const KEYS = {
  "+": () => zoom(0.5), "=": () => zoom(0.5), "w": () => zoom(0.5), "-": () => zoom(2), "s": () => zoom(2), "0": () => show(page.from_ns, page.to_ns),
  "Home": () => show(page.from_ns, page.to_ns), "ArrowLeft": () => pan(-0.2), "a": () => pan(-0.2), "ArrowRight": () => pan(0.2), "d": () => pan(0.2),
  "ArrowUp": () => scroll(-60), "ArrowDown": () => scroll(60), "PageUp": () => scroll(-view.height * 0.8), "PageDown": () => scroll(view.height * 0.8),
  "/": () => search.focus(), "n": () => go(1), "N": () => go(-1), "Escape": () => { search.value = ""; find(""); },
};
document.addEventListener("keydown", (event) => {
  if (event.target === search || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});
search.addEventListener("input", () => find(search.value));
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") { search.value = ""; find(""); canvas.focus(); }
});
for (const [id, deed] of [["previous", () => go(-1)], ["next", () => go(1)], ["zoom-in", KEYS["+"]], ["zoom-out", KEYS["-"]], ["zoom-all", KEYS["0"]]]) {
  document.getElementById(id).addEventListener("click", deed);
}

function legendEntry(label, colour, change) {
  const box = Object.assign(document.createElement("input"), {type: "checkbox", checked: true});
  box.addEventListener("change", () => { change(box.checked); redraw(); });
  const swatch = document.createElement("i");
  swatch.style.background = `var(--${colour})`;
  const entry = document.createElement("label");
  entry.append(box, swatch, label);
  document.getElementById("legend").append(entry);
}

function start() {
  readColours();
  const lastPart = (path) => path.split("/").filter(Boolean).pop() || path;
  document.title = `${lastPart(page.name)} - Sluice timeline`;
  Object.assign(document.getElementById("title"), {textContent: lastPart(page.name), title: page.name});
  Object.assign(document.getElementById("subtitle"), {title: page.program,
    textContent: `${lastPart(page.program)}, ${page.size} ranks, ${new Date(page.start_wall_ns / 1e6).toLocaleString()}, Sluice ${page.version}`});
  const list = document.getElementById("notes");
  for (const note of notes()) list.append(Object.assign(document.createElement("li"), {textContent: note}));
  list.hidden = !list.childElementCount;
  const present = new Set([...slices.kind, ...cells.kind]);
  KINDS.forEach((kind, number) => { if (present.has(number)) legendEntry(kind.label, kind.name, (on) => { shown.kinds[number] = on; }); });
  if (count.arrows) legendEntry("message", "arrow", (on) => { shown.messages = on; });
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); redraw(); });
  draw();
}
start();

/** For tests: what the last picture shows, and where. */
window.timeline = {
  page, view, show, find, hitAt, tell, colours, shown, axis: AXIS, lanes: lanes.map(({y, height}) => ({y, height})), slices, arrows,
  record() { recording = true; draw(); recording = false; return drawn; },
};
