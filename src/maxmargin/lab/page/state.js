// What a link holds: the whole state, as the part of the address behind #. That part is not sent to any server.

export const HALF = 5;
export const NAMES = ["A", "B", "C"];
export const DEFAULTS = {
  points: [], estimator: "soft", kernel: "rbf", spelling: "sum", value: 1, gamma: 0.5, degree: 3, coef0: 1, intercept: true,
};
const LETTERS = { e: "estimator", k: "kernel", s: "spelling", v: "value", g: "gamma", d: "degree", c: "coef0", b: "intercept" };
const NUMBERS = ["value", "gamma", "degree", "coef0"];

export function encode(state) {
  const parts = Object.entries(LETTERS).map(([letter, name]) => `${letter}=${name === "intercept" ? +state.intercept : state[name]}`);
  return [...parts, `p=${state.points.map(([x, y, label]) => `${x},${y},${NAMES[label]}`).join(";")}`].join("&");
}

export function decode(text) {
  const state = { ...DEFAULTS, points: [] };
  for (const part of text.split("&")) {
    const [letter, value] = [part.slice(0, 1), part.slice(2)];
    if (letter === "p") {
      state.points = value.split(";").filter(Boolean).map((point) => {
        const [x, y, name] = point.split(",");
        return [Number(x), Number(y), NAMES.indexOf(name)];
      });
    } else if (LETTERS[letter]) {
      const name = LETTERS[letter];
      state[name] = name === "intercept" ? value === "1" : NUMBERS.includes(name) ? Number(value) : value;
    }
  }
  return state;
}

export const hasC = (spelling) => spelling === "sum" || spelling === "mean";
export const ends = (spelling) => (hasC(spelling) ? [-3, 5] : [-6, 2]);
export const inside = (value) => Math.round(Math.min(Math.max(value, -HALF), HALF) * 1000) / 1000;

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  return String(Number(value.toPrecision(digits))).replace(/-/g, "−");
}
