// The picture: an SVG of 700 × 700 for the square of ±5 units.

import { HALF, NAMES, number } from "./state.js";

const SIZE = 700;
const SCALE = SIZE / (2 * HALF);
const RADIUS = 8;
const MARKS = [
  `M${-RADIUS} 0a${RADIUS} ${RADIUS} 0 1 0 ${2 * RADIUS} 0a${RADIUS} ${RADIUS} 0 1 0 ${-2 * RADIUS} 0Z`,
  "M-7 -7H7V7H-7Z",
  "M0 -9.5L9 6.5H-9Z",
];

export const toX = (x) => (x + HALF) * SCALE;
export const toY = (y) => (HALF - y) * SCALE;

export function place(svg, event) {
  const box = svg.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * 2 * HALF - HALF, HALF - ((event.clientY - box.top) / box.height) * 2 * HALF];
}

export function element(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const outline = (points, close) => "M" + points.map(([x, y]) => `${toX(x).toFixed(2)} ${toY(y).toFixed(2)}`).join("L") + (close ? "Z" : "");
const lines = (many) => many.map((points) => outline(points, false)).join("");
const areas = (many) => many.map((points) => outline(points, true)).join("");
const path = (kind, d, more = {}) => element("path", { class: kind, d, ...more });

function axes() {
  const group = element("g", { "aria-hidden": "true" });
  let d = "";
  for (let k = -HALF + 1; k < HALF; k++) {
    d += `M${toX(k)} 0V${SIZE}M0 ${toY(k)}H${SIZE}`;
    if (k % 2 === 0 && k !== 0) {
      group.append(element("text", { x: toX(k), y: toY(0) + 18, "text-anchor": "middle" }, number(k)));
      group.append(element("text", { x: toX(0) - 6, y: toY(k) + 5, "text-anchor": "end" }, number(k)));
    }
  }
  group.prepend(path("grid", d), path("axis", `M${toX(0)} 0V${SIZE}M0 ${toY(0)}H${SIZE}`));
  return group;
}

function arrow(w, b, kind) {
  // from the point of the hyperplane that is nearest to the origin, as long as the margin 1/‖w‖: it ends on the edge F = 1
  const square = w[0] * w[0] + w[1] * w[1];
  if (!(square > 1e-12)) return [];
  const foot = [(-b * w[0]) / square, (-b * w[1]) / square];
  const tip = [foot[0] + w[0] / square, foot[1] + w[1] / square];
  const [x0, y0, x1, y1] = [toX(foot[0]), toY(foot[1]), toX(tip[0]), toY(tip[1])];
  const angle = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI;
  return [
    path(`w ${kind}`, `M${x0} ${y0}L${x1} ${y1}`),
    path(`w-head ${kind}`, "M4 0L-9 6V-6Z", { transform: `translate(${x1} ${y1}) rotate(${angle})` }),
  ];
}

// view: {state, answer, verdicts, selected, leftOut, step, cursor}
export function draw(svg, view) {
  const { answer, state, step } = view;
  const drawn = [axes()];
  const shown = answer && answer.outlines;
  if (shown) {
    const numbers = answer.classes.map((name) => NAMES.indexOf(name));
    shown.regions.forEach((rings, k) => drawn.push(path(`region k${numbers[k]}`, areas(rings), { "fill-rule": "evenodd" })));
    drawn.push(path("band", areas(shown.band), { "fill-rule": "evenodd" }));
    drawn.push(path(step ? "edge faint" : "edge", lines(shown.edges)), path(step ? "zero faint" : "zero", lines(shown.zero)));
    if (answer.hyperplane && !step) drawn.push(...arrow(answer.hyperplane.w, answer.hyperplane.b, ""));
  }
  if (answer && answer.ghost) drawn.push(path("ghost", lines(answer.ghost.outlines.zero)));
  if (step) {
    drawn.push(path("stepped", lines(step.zero)));
    if (step.w) drawn.push(...arrow(step.w, step.b, "of-step"));
  }
  const points = element("g", { id: "points" });
  state.points.forEach((point, i) => points.append(mark(view, point, i)));
  drawn.push(points);
  if (answer && answer.witness && answer.witness.meeting) {
    const [x, y] = answer.witness.meeting;
    drawn.push(path("meeting", `M${toX(x) - 9} ${toY(y)}h18M${toX(x)} ${toY(y) - 9}v18`));
  }
  if (view.cursor) {
    const [x, y] = view.cursor;
    drawn.push(path("cursor", `M${toX(x) - 14} ${toY(y)}h28M${toX(x)} ${toY(y) - 14}v28`));
  }
  svg.replaceChildren(...drawn);
}

export function sampleOf(view, i) {
  const { answer, state } = view;
  if (!answer || !answer.samples || answer.count !== state.points.length || i === answer.leftOut) return null;
  const { leftOut } = answer;
  return answer.samples[leftOut !== null && i > leftOut ? i - 1 : i] || null;
}

function mark(view, [x, y, label], i) {
  const sample = sampleOf(view, i);
  const group = element("g", { class: view.leftOut === i ? "point out" : "point", "data-i": i, transform: `translate(${toX(x)} ${toY(y)})` });
  const kind = sample ? sample.group : null;
  group.append(path(`mark k${label}${kind === "outlier" ? " hollow" : ""}`, MARKS[label]));
  if (kind === "on" || kind === "inside") group.append(element("circle", { class: `ring ${kind}`, r: 13 }));
  else if (kind === null && sample && sample.alpha > 0) group.append(element("circle", { class: "ring on", r: 13 }));
  if (sample && sample.is_wrong) group.append(path("wrong", "M-4 -4L4 4M-4 4L4 -4"));
  const verdict = view.verdicts && view.verdicts[i];
  if (verdict && verdict.is_wrong) group.append(path("flag", "M8 -18h10l-3 4l3 4h-8v6h-2Z"));
  const weight = view.answer && view.answer.witness && view.leftOut === null ? view.answer.witness.weights[i] : 0;
  if (weight > 0) group.append(element("circle", { class: "witness", r: 14, "stroke-width": 1.5 + 5 * weight }));
  if (view.step && view.step.sample === i) group.append(element("circle", { class: "visited", r: 18 }));
  if (view.selected === i) group.append(element("circle", { class: "chosen", r: 18 }));
  group.append(element("circle", { class: "hit", r: 18 }));
  return group;
}

export function legend(list, isPerceptron) {
  const ring = (kind) => element("circle", { class: `ring ${kind}`, cx: 11, cy: 11, r: 8 });
  const groups = isPerceptron
    ? [["a mistake was made here", ring("on")]]
    : [
        ["F = ±1", path("edge", "M1 11H21")],
        ["on the margin, 0 < α < c", ring("on")],
        ["inside or wrong, α = c", ring("inside")],
        ["leave-one-out error", path("flag", "M7 3h10l-3 4l3 4h-8v8h-2Z")],
      ];
  const entries = [["F = 0", path("zero", "M1 11H21")], ...groups, ["the other boundary", path("ghost", "M1 11H21")]];
  list.replaceChildren(
    ...entries.map(([words, drawn]) => {
      const item = document.createElement("li");
      const svg = element("svg", { viewBox: "0 0 22 22", "aria-hidden": "true" });
      svg.append(drawn);
      item.append(svg, words);
      return item;
    }),
  );
}

// primal and dual values after each round; the optimum lies in the band
export function drawClosing(svg, points) {
  const [left, right, top, bottom] = [44, 312, 8, 128];
  const values = points.flatMap(([, primal, dual]) => [primal, dual]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const last = Math.max(points[points.length - 1][0], 2);
  const x = (round) => left + (Math.log(round) / Math.log(last)) * (right - left);
  const y = (value) => bottom - ((value - least) / (most - least || 1)) * (bottom - top);
  const line = (k) => points.map((point) => `${x(Math.max(point[0], 1)).toFixed(1)} ${y(point[k]).toFixed(1)}`);
  const [primal, dual] = [line(1), line(2)];
  const drawn = [
    path("axis", `M${left} ${top}V${bottom}H${right}`),
    path("between", `M${primal.join("L")}L${[...dual].reverse().join("L")}Z`),
    path("primal", `M${primal.join("L")}`),
    path("dual", `M${dual.join("L")}`),
    element("text", { x: left - 4, y: top + 8, "text-anchor": "end" }, number(most, 3)),
    element("text", { x: left - 4, y: bottom, "text-anchor": "end" }, number(least, 3)),
    element("text", { x: left, y: bottom + 15 }, "1"),
    element("text", { x: right, y: bottom + 15, "text-anchor": "end" }, `${last} rounds`),
  ];
  points.forEach((_, i) => {
    for (const [k, at] of [["primal", primal[i]], ["dual", dual[i]]]) {
      const [cx, cy] = at.split(" ");
      drawn.push(element("circle", { class: `dot ${k}`, cx, cy, r: 2.6 }));
    }
  });
  svg.replaceChildren(...drawn);
}
