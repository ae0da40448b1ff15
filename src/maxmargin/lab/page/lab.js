// What happens: a control changes the state, the state is asked about, the answer is drawn. All mathematics is the server's.

import { draw, drawClosing, legend, place, sampleOf } from "./picture.js";
import { png, save, svgText } from "./save.js";
import { DEFAULTS, NAMES, decode, encode, ends, hasC, inside, number } from "./state.js";

const $ = (id) => document.getElementById(id);
const plot = $("plot");
const IDLE = 250; // milliseconds without a change, after which the slow questions are asked
const MOST_UNDONE = 100;

let presets = [];
let undone = [];
const view = {
  state: { ...DEFAULTS }, answer: null, verdicts: null, selected: null, hovered: null, leftOut: null,
  moved: null, // {point, place}: where a point was before it was moved; its old boundary is drawn too
  cursor: null, steps: null, stepAt: 0, step: null,
};

// ---- questions ----------------------------------------------------------------------------------------------------------

async function ask(name, body) {
  const reply = await fetch(name, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await reply.text();
  try {
    return JSON.parse(text);
  } catch {
    return { error: `The server answered ${reply.status}: ${text.slice(0, 200)}` };
  }
}

let [revision, since, isAsking, isWanted, timer, playing] = [0, 0, false, false, 0, 0];

function changed({ keepsMove = false } = {}) {
  if (!keepsMove) view.moved = null;
  revision += 1;
  $("status").dataset.asked = revision;
  since = performance.now();
  isWanted = true;
  view.verdicts = null;
  forgetSteps();
  $("link").value = new URL(`#${encode(view.state)}`, location.href).href;
  paint();
  showControls();
  clearTimeout(timer);
  if (!isAsking) answerAll();
}

const comparison = () => (view.leftOut !== null ? { point: view.leftOut, place: null } : view.moved);

async function answerAll() {
  isAsking = true;
  while (isWanted) {
    isWanted = false;
    const [asked, begun, { state, leftOut, moved }] = [revision, since, view];
    try {
      const found = await ask("fit", { state, comparison: comparison() });
      view.answer = { ...found, leftOut, moved, count: state.points.length };
    } catch (error) {
      $("status").textContent = `The lab does not answer: is it still running? (${error.message})`;
      isAsking = false;
      return;
    }
    paint();
    showAnswer();
    await painted();
    showStatus(asked, performance.now() - begun);
  }
  isAsking = false;
  clearTimeout(timer);
  timer = setTimeout(idle, IDLE);
}

// a message that is sent while a frame is made arrives once it is painted
const painted = () => new Promise((done) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(null);
}));

function showStatus(asked, milliseconds) {
  const status = $("status");
  const server = view.answer.seconds === undefined ? "" : `, of which ${number(1000 * view.answer.seconds, 3)} ms on the server`;
  status.textContent = `${view.state.points.length} points. On the screen ${number(milliseconds, 3)} ms after the change${server}.`;
  status.dataset.milliseconds = milliseconds;
  status.dataset.revision = asked;
}

async function idle() {
  const asked = revision;
  history.replaceState(null, "", $("link").value); // not at each change: browsers allow only so many
  const isTrained = view.answer && view.answer.samples;
  const state = { state: view.state };
  if (isLesson() && isTrained) await loadSteps(asked, state);
  const [leftOut, closing] = isTrained ? await Promise.all([ask("left_out", state), ask("closing", { ...state, comparison: comparison() })]) : [null, null];
  if (asked !== revision) return;
  view.verdicts = leftOut && leftOut.verdicts;
  showLeftOut(leftOut);
  showClosing(closing);
  paint();
  showAbout();
  $("status").dataset.idle = asked;
}

// ---- the lesson ---------------------------------------------------------------------------------------------------------

const isLesson = () => ["perceptron", "pegasos"].includes(view.state.estimator);

async function loadSteps(asked, state) {
  const found = await ask("steps", state);
  if (asked !== revision) return;
  view.steps = found.steps || null;
  $("step").max = view.steps ? view.steps.length : 0;
  $("step-words").textContent = found.error || `Press ▶: the first ${view.steps.length} steps are here.`;
  goTo(0);
}

function forgetSteps() {
  clearInterval(playing);
  [playing, view.steps, view.step, view.stepAt] = [0, null, null, 0];
  $("play").textContent = "Play";
  [$("step").max, $("step").value] = [0, 0];
}

function goTo(at) {
  if (!view.steps) return;
  view.stepAt = Math.min(Math.max(at, 0), view.steps.length);
  view.step = view.stepAt ? view.steps[view.stepAt - 1] : null;
  $("step").value = view.stepAt;
  if (view.step) $("step-words").textContent = view.step.words;
  if (view.stepAt === view.steps.length && playing) play();
  paint();
}

function play() {
  const isOn = Boolean(playing);
  clearInterval(playing);
  playing = isOn ? 0 : setInterval(() => goTo(view.stepAt + 1), 350);
  $("play").textContent = isOn ? "Play" : "Pause";
}

// ---- what is shown ------------------------------------------------------------------------------------------------------

function paint() {
  draw(plot, view);
  const i = view.selected;
  $("selection").hidden = i === null;
  if (i !== null) {
    $("selected").textContent = `Point ${i}`;
    $("label").value = view.state.points[i][2];
    $("leave-out").setAttribute("aria-pressed", String(view.leftOut === i));
  }
}

function showAnswer() {
  const found = view.answer;
  $("sentence").textContent = found.error ? found.error + (found.witness ? ` ${found.witness.check}` : "") : found.sentence;
  $("sentence").className = found.error ? "error" : "";
  $("remarks").textContent = (found.remarks || []).join(" ");
  $("code").textContent = found.code || "";
  legend($("legend"), Boolean(found.samples && found.samples.some((one) => one.group === null)));
  table($("problems"), ["problem", "primal", "dual", "gap", "‖w‖", "support"], (found.problems || []).filter((one) => one.support !== undefined)
    .map((one) => [one.name, number(one.primal, 6), number(one.dual, 6), one.gap.replace("-", "−"), number(one.norm), one.support]));
  table($("bounds"), ["bound", "value", "formula"], (found.bounds || []).map((one) => [
    one.name, number(one.value, 3) + (one.is_vacuous ? " (vacuous)" : ""), one.formula]),
  (found.bounds || []).map((one) => [one.is_vacuous ? "vacuous" : "", one.words]));
  if (found.error) {
    showLeftOut(null);
    showClosing(null);
  }
  showCompared();
  showAbout();
}

function table(where, heads, rows, looks = []) {
  const line = (cells, kind) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell) => Object.assign(document.createElement(kind), { textContent: cell })));
    return row;
  };
  const drawn = rows.map((cells, k) => Object.assign(line(cells, "td"), looks[k] ? { className: looks[k][0], title: looks[k][1] } : {}));
  where.replaceChildren(...(rows.length ? [line(heads, "th"), ...drawn] : []));
}

function showAbout() {
  const i = view.hovered !== null ? view.hovered : view.selected;
  if (i === null || !view.state.points[i]) return;
  const [x, y, label] = view.state.points[i];
  const sample = sampleOf(view, i);
  const words = [`Point ${i} (${number(x)}, ${number(y)}), class ${NAMES[label]}.`];
  if (sample) {
    const several = sample.problems.length > 1;
    for (const one of sample.problems) {
      const which = several ? `${one.name}: ` : "";
      words.push(`${which}${one.alpha === null ? "" : `α = ${number(one.alpha)}, `}ξ = ${number(one.xi)}, yF = ${number(one.margin)}.`);
    }
    const groups = { outside: "Outside the margin.", on: "On the margin.", inside: "Inside the margin or wrong.", outlier: "An outlier of the ramp." };
    if (sample.group) words.push(groups[sample.group]);
    if (sample.is_wrong) words.push(`Predicted ${sample.predicted}: a training error.`);
  }
  const verdict = view.verdicts && view.verdicts[i];
  if (verdict) words.push(`Left out it is predicted ${verdict.predicted}: ${verdict.is_wrong ? "wrong" : "right"}. ${verdict.words}`);
  $("about").textContent = words.join(" ");
  $("about").className = "";
}

function showCompared() {
  const ghost = view.answer && view.answer.ghost;
  const about = $("compared");
  about.hidden = !ghost;
  if (!ghost) return;
  const change = ghost.difference === null ? "" : ` Largest change of F in the picture: ${number(ghost.difference, 2)}.`;
  const { leftOut, moved } = view.answer;
  if (leftOut !== null) {
    const value = ghost.value === undefined ? "" : ` (F = ${number(ghost.value)})`;
    about.textContent = `Without point ${leftOut}, whose α was ${number(ghost.alpha)}, the machine predicts ${ghost.predicted} there${value}: ${ghost.is_wrong ? "wrong" : "right"}.${change}`;
  } else {
    const now = sampleOf(view, moved.point);
    about.textContent = `Point ${moved.point} was moved. α before: ${number(ghost.alpha)}, now: ${number(now ? now.alpha : null)}.${change}`;
  }
  about.dataset.difference = ghost.difference;
}

function showLeftOut(found) {
  const percent = (value) => `${number(100 * value, 4)} %`;
  let words = "–";
  if (found && !found.verdicts) words = found.error;
  if (found && found.verdicts) {
    const [low, high] = found.range;
    const error = low < high ? `between ${percent(low)} and ${percent(high)}` : percent(found.error);
    const estimate = found.xi_alpha === null ? "" : ` The ξα estimate: ${percent(found.xi_alpha)}.`;
    words = `Error ${error}; ${found.retrained} of ${found.verdicts.length} points were retrained without.${estimate}`;
  }
  $("left-out").textContent = words;
  table($("causes"), ["points", "why"], (found && found.counts) || []);
}

function showClosing(found) {
  const isThere = Boolean(found && found.points && found.points.length > 0);
  $("closing").hidden = !isThere;
  if (!isThere) return;
  drawClosing($("chart"), found.points);
  $("chart-words").textContent = found.words;
}

function showControls() {
  const { state } = view;
  const isLinear = state.kernel === "linear" || state.estimator === "l1";
  for (const name of ["estimator", "kernel", "spelling"]) $(name).value = state[name];
  $("kernel").disabled = state.estimator === "l1";
  if (state.estimator === "l1") $("kernel").value = "linear";
  $("for-gamma").hidden = isLinear;
  $("for-degree").hidden = isLinear || state.kernel !== "poly";
  $("for-coef0").hidden = isLinear || !["poly", "sigmoid"].includes(state.kernel);
  $("for-value").hidden = ["hard", "perceptron"].includes(state.estimator);
  $("lesson").hidden = !isLesson();
  $("letter").textContent = hasC(state.spelling) ? "C" : "λ";
  [$("value").min, $("value").max] = ends(state.spelling);
  for (const name of ["value", "gamma"]) {
    $(name).value = Math.log10(state[name]);
    $(name).setAttribute("aria-valuetext", number(state[name]));
    if (document.activeElement !== $(`${name}-number`)) $(`${name}-number`).value = String(Number(state[name].toPrecision(6)));
  }
  for (const name of ["degree", "coef0"]) if (document.activeElement !== $(name)) $(name).value = state[name];
  $("intercept").checked = state.intercept;
}

// ---- changes ------------------------------------------------------------------------------------------------------------

function remember() {
  undone.push(encode(view.state));
  if (undone.length > MOST_UNDONE) undone.shift();
}

function edit(changes, how) {
  view.state = { ...view.state, ...changes };
  changed(how);
}

function load(state) {
  [view.state, view.selected, view.hovered, view.leftOut, view.moved, view.cursor] = [state, null, null, null, null, null];
  $("about").textContent = "Click to place a point, drag to move it, hover to read it.";
  changed();
}

function undo() {
  let before = undone.pop();
  while (before === encode(view.state)) before = undone.pop(); // a control was taken up and put down again
  if (before !== undefined) load(decode(before));
}

function select(i) {
  if (i !== view.selected) {
    if (view.leftOut !== null && view.leftOut !== i) {
      view.leftOut = null;
      view.selected = i;
      changed();
    }
    view.moved = null;
  }
  [view.selected, view.cursor] = [i, null];
  paint();
  showAbout();
}

function add(x, y, label) {
  remember();
  edit({ points: [...view.state.points, [inside(x), inside(y), label]] });
  select(view.state.points.length - 1);
}

function move(i, x, y) {
  const [oldX, oldY] = view.state.points[i];
  if (!view.moved || view.moved.point !== i) view.moved = { point: i, place: [oldX, oldY] };
  if (view.leftOut !== null) view.leftOut = null;
  const points = view.state.points.map((point, k) => (k === i ? [inside(x), inside(y), point[2]] : point));
  edit({ points }, { keepsMove: true });
  showAbout();
}

function relabel(i, label) {
  remember();
  edit({ points: view.state.points.map((point, k) => (k === i ? [point[0], point[1], label] : point)) });
}

function remove(i) {
  remember();
  [view.selected, view.hovered, view.leftOut] = [null, null, null];
  edit({ points: view.state.points.filter((_, k) => k !== i) });
}

function leaveOut(i) {
  view.leftOut = view.leftOut === i ? null : i;
  changed();
}

async function makeOutside(i) {
  const found = await ask("outside", { state: view.state, point: i });
  if (found.place) {
    remember();
    move(i, ...found.place);
    view.moved = null; // its new place is the one to compare with: drag it on, and nothing changes
    changed();
  } else {
    [$("about").textContent, $("about").className] = [found.error, "error"];
  }
}

// ---- pointer and keyboard -----------------------------------------------------------------------------------------------

const indexAt = (event) => {
  const group = event.target.closest ? event.target.closest(".point") : null;
  return group ? Number(group.dataset.i) : null;
};
const newLabel = () => Number(document.querySelector("input[name=class]:checked").value);
let dragged = null;

plot.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const i = indexAt(event);
  plot.setPointerCapture(event.pointerId);
  plot.focus({ preventScroll: true });
  event.preventDefault();
  if (i === null) {
    add(...place(plot, event), newLabel());
  } else {
    select(i);
    dragged = { i, pointer: event.pointerId, isMoving: false, from: [event.clientX, event.clientY] };
  }
});

plot.addEventListener("pointermove", (event) => {
  if (dragged && dragged.pointer === event.pointerId) {
    const far = Math.hypot(event.clientX - dragged.from[0], event.clientY - dragged.from[1]) > 3;
    if (!dragged.isMoving && far) {
      remember();
      dragged.isMoving = true;
      view.moved = null;
    }
    if (dragged.isMoving) move(dragged.i, ...place(plot, event));
  } else {
    const i = indexAt(event);
    if (i !== view.hovered) {
      view.hovered = i;
      showAbout();
    }
  }
});

for (const end of ["pointerup", "pointercancel"]) plot.addEventListener(end, () => { dragged = null; });
plot.addEventListener("pointerleave", () => { view.hovered = null; });
plot.addEventListener("contextmenu", (event) => {
  event.preventDefault();
  const i = indexAt(event);
  if (i !== null) remove(i);
});

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function keyed(event) {
  const [i, n] = [view.selected, view.state.points.length];
  const length = event.shiftKey ? 0.5 : 0.1;
  if (ARROWS[event.key]) {
    const [dx, dy] = ARROWS[event.key].map((one) => one * length);
    if (i !== null) {
      if (!view.moved || view.moved.point !== i) remember();
      move(i, view.state.points[i][0] + dx, view.state.points[i][1] + dy);
    } else {
      const [x, y] = view.cursor || [0, 0];
      view.cursor = [inside(x + dx), inside(y + dy)];
      paint();
    }
  } else if (event.key === "Enter" || event.key === "Insert") {
    const [x, y] = view.cursor || (i === null ? [0, 0] : [view.state.points[i][0] + 0.3, view.state.points[i][1]]);
    add(x, y, newLabel());
  } else if (event.key.toLowerCase() === "n" && n) {
    select(((i === null ? -1 : i) + (event.shiftKey ? n - 1 : 1) + n) % n);
  } else if (event.key === "Escape") {
    select(null);
  } else if (i === null) {
    return false;
  } else if (event.key === "Delete" || event.key === "Backspace") {
    remove(i);
  } else if (["1", "2", "3"].includes(event.key)) {
    relabel(i, Number(event.key) - 1);
  } else if (event.key.toLowerCase() === "l") {
    leaveOut(i);
  } else if (event.key.toLowerCase() === "o") {
    makeOutside(i);
  } else {
    return false;
  }
  return true;
}

plot.addEventListener("keydown", (event) => {
  if (!event.ctrlKey && !event.metaKey && !event.altKey && keyed(event)) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  const isText = event.target.matches("input:not([type=range],[type=radio],[type=checkbox])");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !isText) {
    event.preventDefault();
    undo();
  }
});

// ---- controls -----------------------------------------------------------------------------------------------------------

$("preset").addEventListener("change", () => {
  const chosen = presets[$("preset").value];
  if (!chosen) return;
  remember();
  $("preset-words").textContent = chosen.words;
  load({ ...DEFAULTS, ...chosen.state });
});
$("estimator").addEventListener("change", () => { remember(); edit({ estimator: $("estimator").value }); });
$("kernel").addEventListener("change", () => { remember(); edit({ kernel: $("kernel").value }); });
$("intercept").addEventListener("change", () => { remember(); edit({ intercept: $("intercept").checked }); });
$("spelling").addEventListener("change", () => {
  remember();
  const same = view.answer && view.answer.spellings ? view.answer.spellings[$("spelling").value] : null;
  edit({ spelling: $("spelling").value, value: same || 1 }); // the same machine in other words
});
for (const name of ["value", "gamma"]) {
  for (const id of [name, `${name}-number`]) $(id).addEventListener("focus", remember);
  $(name).addEventListener("pointerdown", remember);
  $(name).addEventListener("input", () => edit({ [name]: Number((10 ** $(name).valueAsNumber).toPrecision(3)) }));
  $(`${name}-number`).addEventListener("input", (event) => {
    const value = Number(event.target.value);
    const isGood = event.target.value.trim() !== "" && value >= 1e-9 && value <= 1e9;
    event.target.setCustomValidity(isGood ? "" : "A number from 1e-9 to 1e9 is wanted.");
    if (isGood) edit({ [name]: value });
  });
}
for (const name of ["degree", "coef0"]) {
  $(name).addEventListener("focus", remember);
  $(name).addEventListener("input", () => {
    if ($(name).checkValidity() && !Number.isNaN($(name).valueAsNumber)) edit({ [name]: $(name).valueAsNumber });
  });
}
$("label").addEventListener("change", () => relabel(view.selected, Number($("label").value)));
$("delete").addEventListener("click", () => remove(view.selected));
$("leave-out").addEventListener("click", () => leaveOut(view.selected));
$("outside").addEventListener("click", () => makeOutside(view.selected));
$("undo").addEventListener("click", undo);
$("clear").addEventListener("click", () => { remember(); load({ ...view.state, points: [] }); });
$("step").addEventListener("input", () => goTo($("step").valueAsNumber));
$("first").addEventListener("click", () => goTo(0));
$("back").addEventListener("click", () => goTo(view.stepAt - 1));
$("forward").addEventListener("click", () => goTo(view.stepAt + 1));
$("play").addEventListener("click", play);
$("theme").addEventListener("click", () => {
  const next = { auto: "light", light: "dark", dark: "auto" }[document.documentElement.dataset.theme || "auto"];
  document.documentElement.dataset.theme = next;
  $("theme").textContent = `Theme: ${next}`;
});

async function copy(text, button) {
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed: select it below";
  }
  setTimeout(() => { button.textContent = words; }, 1500);
}
$("copy-link").addEventListener("click", (event) => copy($("link").value, event.target));
$("copy-code").addEventListener("click", (event) => copy($("code").textContent, event.target));
$("save-code").addEventListener("click", () => save(new Blob([$("code").textContent], { type: "text/x-python" }), "lab.py"));
$("save-svg").addEventListener("click", () => save(new Blob([svgText(plot)], { type: "image/svg+xml" }), "lab.svg"));
$("save-png").addEventListener("click", async () => save(await png(plot), "lab.png"));
window.addEventListener("hashchange", () => load(decode(location.hash.slice(1))));

legend($("legend"), false);
presets = await (await fetch("presets")).json();
$("preset").append(new Option("choose a data set", ""), ...presets.map((one, k) => new Option(one.name, k)));
if (location.hash.length > 1) {
  load(decode(location.hash.slice(1)));
} else {
  $("preset").value = "0";
  $("preset").dispatchEvent(new Event("change"));
  undone = [];
}
