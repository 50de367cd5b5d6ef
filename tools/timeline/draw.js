// Layout and drawing. One canvas: a time axis, then a lane for each thread: calls with the waits in them, and below the releases that
// are under way. Messages are drawn over the lanes, from when they left to when their data was in place.

const AXIS = 24, GUTTER = 190, BASE = 18, ROW = 7, GAP = 7;
const MAX_ARROWS = 5000; // in one picture
const ARROW_ROOM = 8; // pixels; where there are more, they fade
const canvas = document.getElementById("canvas");
const pen = canvas.getContext("2d");
const view = {from: page.from_ns, to: page.to_ns, top: 0, width: 0, height: 0};
const shown = {kinds: KINDS.map(() => true), messages: true};
/** Of the last picture; lists are filled on demand only (timeline.record). */
const drawn = {slices: [], arrows: [], arrowsInView: 0};
const marks = {slices: new Set(), arrows: new Set(), current: null};
let recording = false;
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "panel", "text", "faint", "line", "stripe", "arrow", "mark", ...KINDS.map((kind) => kind.name)]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

let bottom = 0;
lanes.forEach((lane, number) => {
  lane.firstOfRank = number === 0 || lanes[number - 1].rank !== lane.rank;
  lane.y = bottom + (lane.firstOfRank ? GAP : 0);
  lane.height = BASE + (lane.rows + (lane.holds ? 1 : 0)) * ROW;
  bottom = lane.y + lane.height + GAP;
});

const scale = () => (view.width - GUTTER) / (view.to - view.from);
const xOf = (time) => GUTTER + (time - view.from) * scale();
const timeAt = (x) => view.from + (x - GUTTER) / scale();
const yOf = (lane) => AXIS + lane.y - view.top;
const middleOf = (lane) => yOf(lane) + BASE / 2;

/** y and height of a part of a lane. */
function place(lane, kind, row) {
  const y = yOf(lane);
  switch (KINDS[kind].part) {
    case "base": return [y, BASE];
    case "top": return [y + 3, BASE - 6];
    case "held": return [y + BASE + lane.rows * ROW + 1, ROW - 2];
    default: return [y + BASE + row * ROW + 1, ROW - 2];
  }
}

function drawCells(lane) {
  const width = page.density.bin_ns * scale();
  for (const i of lane.cells) {
    const kind = cells.kind[i];
    const x = xOf(cells.bin[i] * page.density.bin_ns);
    if (!shown.kinds[kind] || x + width < GUTTER || x > view.width) continue;
    const [y, height] = place(lane, kind, 0);
    pen.globalAlpha = 0.15 + 0.55 * Math.min(1, cells.time[i] / page.density.bin_ns);
    pen.fillStyle = colours[KINDS[kind].name];
    pen.fillRect(Math.max(x, GUTTER), y, Math.max(1, Math.min(x + width, view.width) - Math.max(x, GUTTER)), height);
  }
  pen.globalAlpha = 1;
}

function drawPart(lane, part) {
  const stretch = lane.parts[part];
  const last = new Float64Array(KINDS.length * 8).fill(-1); // by kind and row: the pixel that is filled already
  for (let at = stretch.first(view.from); at < stretch.rows.length; at++) {
    const i = stretch.rows[at];
    if (slices.begin[i] > view.to) break;
    const kind = slices.kind[i];
    if (!shown.kinds[kind] || sliceEnd(i) < view.from) continue;
    const left = Math.max(xOf(slices.begin[i]), GUTTER);
    const width = Math.max(Math.min(xOf(sliceEnd(i)), view.width) - left, 1);
    const place_ = kind * 8 + slices.row[i];
    if (width <= 1 && Math.floor(left) === last[place_]) continue;
    last[place_] = Math.floor(left + width - 1);
    const [y, height] = place(lane, kind, slices.row[i]);
    pen.fillStyle = colours[KINDS[kind].name];
    pen.fillRect(left, y, width, height);
    if (marks.slices.has(i)) drawMark(left, y, width, height, marks.current?.slice === i);
    if (recording) drawn.slices.push({slice: i, lane: slices.lane[i], kind: KINDS[kind].name, x: left, y, width, height});
  }
}

function drawMark(x, y, width, height, isCurrent) {
  pen.strokeStyle = colours.mark;
  pen.lineWidth = isCurrent ? 3 : 1.5;
  pen.strokeRect(x - 1, y - 1, width + 2, height + 2);
}

function arrowsInView() {
  const found = [];
  for (let at = messages.first(view.from); at < messages.rows.length && arrows.sent[messages.rows[at]] <= view.to; at++) {
    const i = messages.rows[at];
    if (Math.max(arrows.complete[i], arrows.sent[i]) < view.from || arrows.from[i] === arrows.to[i]) continue;
    const [y1, y2] = [middleOf(lanes[arrows.from[i]]), middleOf(lanes[arrows.to[i]])];
    if (Math.max(y1, y2) >= AXIS && Math.min(y1, y2) <= view.height) found.push(i);
  }
  return found;
}

const arrowLine = (i) => ({x1: xOf(arrows.sent[i]), y1: middleOf(lanes[arrows.from[i]]), x2: xOf(arrows.complete[i]), y2: middleOf(lanes[arrows.to[i]])});

function drawArrow(i, colour, width) {
  const {x1, y1, x2, y2} = arrowLine(i);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const head = Math.min(8, length / 3);
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2 - dx * head, y2 - dy * head);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x2, y2);
  pen.lineTo(x2 - dx * head - dy * head / 2.5, y2 - dy * head + dx * head / 2.5);
  pen.lineTo(x2 - dx * head + dy * head / 2.5, y2 - dy * head - dx * head / 2.5);
  pen.fill();
}

function drawArrows() {
  const found = arrowsInView();
  drawn.arrowsInView = found.length;
  const step = Math.max(1, Math.ceil(found.length / MAX_ARROWS));
  pen.globalAlpha = Math.max(0.12, Math.min(1, 2 * (view.width - GUTTER) / ARROW_ROOM / found.length));
  for (let at = 0; at < found.length; at += step) {
    const i = found[at];
    drawArrow(i, colours.arrow, 1.5);
    if (recording) drawn.arrows.push({arrow: i, from: arrows.from[i], to: arrows.to[i], ...arrowLine(i)});
  }
  pen.globalAlpha = 1;
  for (const i of marks.arrows) drawArrow(i, colours.mark, marks.current?.arrow === i ? 3 : 2);
  return step;
}

function drawAxis(step) {
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, view.width, AXIS);
  pen.fillStyle = colours.faint;
  const rough = (view.to - view.from) / Math.max(1, (view.width - GUTTER) / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const interval = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const [unit, name] = interval >= 1e8 ? [1e9, "s"] : interval >= 1e3 ? [1e6, "ms"] : [1e3, "µs"];
  for (let time = Math.ceil(view.from / interval) * interval; time <= view.to; time += interval) {
    const x = Math.round(xOf(time));
    pen.fillRect(x, AXIS - 6, 1, 6);
    pen.fillText(`${Number((time / unit).toFixed(6))} ${name}`, x + 4, AXIS / 2);
  }
  const told = step > 1 ? `${timeText(view.to - view.from)} · 1 of ${step} messages drawn` : timeText(view.to - view.from);
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, GUTTER, AXIS);
  pen.fillStyle = colours.faint;
  pen.fillText(told, 8, AXIS / 2, GUTTER - 10);
}

function drawNames() {
  pen.fillStyle = colours.panel;
  pen.fillRect(0, AXIS, GUTTER, view.height - AXIS);
  for (const lane of lanes) {
    const y = middleOf(lane);
    if (y < AXIS - BASE || y > view.height + BASE) continue;
    if (lane.firstOfRank) {
      pen.fillStyle = colours.text;
      pen.fillText(`rank ${lane.rank.rank}`, 8, y, 66);
    }
    pen.fillStyle = colours.faint;
    pen.fillText(laneName(lane), 76, y, GUTTER - 84);
  }
  pen.fillStyle = colours.line;
  pen.fillRect(GUTTER - 1, 0, 1, view.height);
  pen.fillRect(0, AXIS - 1, view.width, 1);
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  [view.width, view.height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(view.width * ratio) || canvas.height !== Math.round(view.height * ratio)) {
    [canvas.width, canvas.height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  [drawn.slices, drawn.arrows, drawn.arrowsInView] = [[], [], 0];
  pen.fillStyle = colours.ground;
  pen.fillRect(0, 0, view.width, view.height);
  pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  pen.textBaseline = "middle";
  for (const lane of lanes) {
    const y = yOf(lane);
    if (y + lane.height < AXIS || y > view.height) continue;
    pen.fillStyle = colours.stripe;
    pen.fillRect(GUTTER, y, view.width - GUTTER, lane.height);
    drawCells(lane);
    for (const part of PARTS) drawPart(lane, part);
    if (lane.firstOfRank) {
      pen.fillStyle = colours.line;
      pen.fillRect(0, y - GAP, view.width, 1);
    }
  }
  const step = shown.messages ? drawArrows() : 1;
  drawAxis(step);
  drawNames();
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}
