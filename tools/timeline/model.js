// The trace's part of the page, as tables of numbers, and what the view needs to find in them fast. Times are nanoseconds.

/** Kinds of slices, numbered as in pieces.hpp. `part`: where in a lane they are drawn. */
const KINDS = [
  {name: "call", label: "call", part: "base"},
  {name: "host_call", label: "call of the host MPI", part: "base"},
  {name: "wait", label: "wait in a call", part: "top", list: "ended"},
  {name: "unfinished", label: "wait without end", part: "top"},
  {name: "fault", label: "wait for a page", part: "top", list: "access"},
  {name: "settle", label: "wait for a release", part: "top", list: "settle"},
  {name: "release", label: "released, data on its way", part: "below", list: "release", bits: true},
  {name: "held", label: "held back", part: "held", list: "held"},
  {name: "registration", label: "registration", part: "top", list: "registration"},
  {name: "migrate", label: "alias migration", part: "top", list: "eligibility"},
  {name: "helper", label: "helper thread awake", part: "base"},
  {name: "collective", label: "collective call", part: "top", list: "collective"},
  {name: "nonblocking", label: "nonblocking collective call", part: "below", list: "collective"},
];
const RELEASE = KINDS.findIndex((kind) => kind.name === "release");
const MATCH_UNEXPECTED = 2, MATCH_PUT = 16, CARRIED_LANES = 1;

const page = JSON.parse(document.getElementById("data").textContent);

/** Columns that columns.cpp wrote. A name with "+" in front has differences. */
function decode(table) {
  const text = atob(table.data);
  const columns = {};
  let at = 0;
  for (const name of table.columns) {
    const column = new Float64Array(table.rows);
    const grows = name.startsWith("+");
    for (let row = 0, last = 0; row < table.rows; row++) {
      let zigzag = 0, scale = 1, byte;
      do {
        byte = text.charCodeAt(at++);
        zigzag += (byte & 127) * scale;
        scale *= 128;
      } while (byte & 128);
      const number = zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
      column[row] = grows ? last += number : number;
    }
    columns[grows ? name.slice(1) : name] = column;
  }
  return columns;
}

const slices = decode(page.slices);
const arrows = decode(page.arrows);
const cells = decode(page.density);
for (const end of ["matched", "complete"]) arrows[end].forEach((after, i) => { arrows[end][i] = after + arrows.sent[i]; });
const count = {slices: page.slices.rows, arrows: page.arrows.rows, cells: page.density.rows};

/** Rows by begin, with the latest end so far, so that the first one that reaches into a view is found by halving. */
class Stretch {
  constructor(rows, end) {
    this.rows = rows;
    this.latest = new Float64Array(rows.length);
    let latest = -Infinity;
    for (let i = 0; i < rows.length; i++) this.latest[i] = latest = Math.max(latest, end(rows[i]));
  }

  first(from) {
    let low = 0, high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.latest[middle] < from) low = middle + 1; else high = middle;
    }
    return low;
  }
}

const sliceEnd = (i) => slices.begin[i] + slices.duration[i];
const messages = new Stretch(Uint32Array.from({length: count.arrows}, (_, i) => i), (i) => Math.max(arrows.complete[i], arrows.sent[i]));

const PARTS = ["base", "top", "below", "held"];
const lanes = page.lanes.map((lane) => ({...lane, rank: page.ranks[lane.rank], lists: {base: [], top: [], below: [], held: []}, cells: [], rows: 0}));
for (let i = 0; i < count.slices; i++) {
  const lane = lanes[slices.lane[i]];
  const part = KINDS[slices.kind[i]].part;
  lane.lists[part].push(i);
  if (part === "below") lane.rows = Math.max(lane.rows, slices.row[i] + 1);
}
for (let i = 0; i < count.cells; i++) {
  const lane = lanes[cells.lane[i]];
  lane.cells.push(i);
  if (KINDS[cells.kind[i]].part === "below") lane.rows = Math.max(lane.rows, 1);
  if (KINDS[cells.kind[i]].part === "held") lane.holds = true;
}
for (const lane of lanes) {
  lane.parts = {};
  for (const part of PARTS) lane.parts[part] = new Stretch(Uint32Array.from(lane.lists[part]), sliceEnd);
  lane.holds = lane.holds || lane.lists.held.length > 0;
  delete lane.lists;
}

/** The release of an operation, if the page has it. */
const releases = new Map();
for (let i = 0; i < count.slices; i++) {
  if (slices.kind[i] === RELEASE && slices.operation[i]) releases.set(operationKey(slices.lane[i], slices.operation[i]), i);
}
function operationKey(lane, operation) { return page.lanes[lane].rank * 2 ** 32 + operation; }

/** The slices of one collective call, by its name: they are on several ranks. */
const collectives = new Map();
for (let i = 0; i < count.slices; i++) {
  if (!isCollective(i)) continue;
  const ranks = collectives.get(collectiveKey(i)) || [];
  ranks.push(i);
  collectives.set(collectiveKey(i), ranks);
}
function isCollective(i) { return ["collective", "nonblocking"].includes(KINDS[slices.kind[i]].name); }
function collectiveKey(i) { return [slices.communicator[i], slices.how[i] & CARRIED_LANES, slices.number[i]].join(); }

/** Words come with 1 added, 0 being "not told". */
function word(list, number) { return number > 0 ? page.words[list][number - 1] || String(number - 1) : ""; }
function wordsOfBits(list, bits) { return page.words[list].filter((text, bit) => text && bits >> bit & 1).join(", "); }
function site(number) { return number > 0 ? page.sites[number - 1] : null; }
function siteText(number) {
  const known = site(number);
  return known ? (known.call ? `${known.call} at ${known.place}` : known.place) : "";
}

function timeText(ns) {
  const size = Math.abs(ns);
  const [scale, unit] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Number((ns / scale).toPrecision(4))} ${unit}`;
}
function bytesText(bytes) {
  const exact = bytes.toLocaleString("en").replaceAll(",", " ");
  for (const [scale, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (bytes >= scale) return `${Number((bytes / scale).toPrecision(4))} ${unit} (${exact} bytes)`;
  }
  return `${exact} bytes`;
}
function countText(count, what) { return `${count} ${what}${count === 1 ? "" : "s"}`; }
function laneName(lane) {
  if (lane.thread === null) return "unknown thread";
  return lane.helper ? "helper" : `thread ${lane.thread}${lane.name ? ` ${lane.name}` : ""}`;
}
function laneText(number) { return `rank ${lanes[number].rank.rank}, ${laneName(lanes[number])}`; }
