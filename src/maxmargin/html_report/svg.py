"""A small writer of SVG charts: two axes, marks, lines, bars. Colours come from the page's style sheet, light or dark."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.html_report.html import Html, element, join, number

WIDTH, HEIGHT = 560, 360
LEFT, RIGHT, TOP, BOTTOM = 76, 12, 12, 50
N_MARKS = 8
"""Marks and colours k0 … k7 of the classes; from the ninth class on they repeat."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "star", "bar")


@dataclass(frozen=True)
class Scale:
    """From data to the length of an axis."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, values: Any) -> Any:
        """Where data lie, in the picture's units."""
        values, low, high = np.asarray(values, dtype=np.float64), self.low, self.high
        if self.is_log:
            values, low, high = np.log10(np.maximum(values, 1e-300)), math.log10(low), math.log10(high)
        return self.start + (self.end - self.start) * ((values - low) / (high - low))

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers along the axis."""
        if self.is_log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            step = max(1, -(-(last - first) // most))
            return [10.0**k for k in range(first, last + 1, step)]
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        width = next(digit * power for digit in (1.0, 2.0, 5.0, 10.0) if digit * power >= rough * (1 - 1e-9))
        lowest, highest = math.ceil(self.low / width - 1e-9), math.floor(self.high / width + 1e-9)
        return [k * width for k in range(lowest, highest + 1)]

    def tick(self, value: float) -> str:
        """How a tick is written; powers of ten as such."""
        if self.is_log:
            return "10" + f"{round(math.log10(value))}".translate(SUPERSCRIPTS)
        return "0" if abs(value) < 1e-9 * (self.high - self.low) else number(value, 4 if 1e3 <= abs(value) < 1e4 else 3)


@dataclass
class Chart:
    """An SVG picture under construction; what is added later lies on top."""

    title: str
    description: str
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_y: bool = False
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    parts: list[Html] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.x = Scale(*self.x_range, self.left, self.width - RIGHT)
        self.y = Scale(*self.y_range, self.height - BOTTOM, TOP, self.log_y)

    def line(self, xs: Any, ys: Any, class_: str) -> None:
        """A line through points, with a small mark at each if its class says so."""
        pairs = zip(self.x(xs), self.y(ys), strict=True)
        self.parts.append(element("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in pairs), class_=class_))

    def curves(self, curves: Any, class_: str, end: str = "") -> None:
        """Lines through points (n, 2), all in one path."""
        d = "".join(
            "M"
            + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(self.x(curve[:, 0]), self.y(curve[:, 1]), strict=True))
            + end
            for curve in curves
        )
        if d:
            self.parts.append(element("path", d=d, class_=class_))

    def areas(self, polygons: Any, class_: str) -> None:
        """What contourpy fills: the points of each polygon, and where its outer ring and its holes begin."""
        rings = [ring for points, starts in zip(*polygons, strict=True) for ring in np.split(points, starts[1:-1])]
        self.curves(rings, class_, "z")

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]], class_: str) -> None:
        """Rectangles from (x low, y low) to (x high, y high)."""
        drawn = []
        for x0, y0, x1, y1 in boxes:
            a, b, c, d = float(self.x(x0)), float(self.y(y1)), float(self.x(x1)), float(self.y(y0))
            drawn.append(f"M{a:.1f} {b:.1f}H{c:.1f}V{d:.1f}H{a:.1f}z")
        if drawn:  # one path: neighbours share their edges, and nothing is shaded twice
            self.parts.append(element("path", d="".join(drawn), class_=class_))

    def marks(self, xs: Any, ys: Any, shape: str, class_: str, radius: Any = 4.0) -> None:
        """Marks of one shape; `radius` is one for all or one for each."""
        sizes = np.broadcast_to(np.asarray(radius, dtype=np.float64), np.shape(xs))
        drawn = [_mark(shape, a, b, r) for a, b, r in zip(self.x(xs), self.y(ys), sizes, strict=True)]
        if drawn:
            self.parts.append(element("g", *drawn, class_=class_))

    def vertical(self, x: float, class_: str, label: str = "") -> None:
        """A line across, and what it means."""
        at = f"{float(self.x(x)):.1f}"
        self.parts.append(element("line", x1=at, x2=at, y1=TOP, y2=self.height - BOTTOM, class_=class_))
        if label:
            self.text(x, self.y.high, label, "start", dx=4, dy=12)

    def horizontal(self, y: float, class_: str) -> None:
        """A line along."""
        at = f"{float(self.y(y)):.1f}"
        self.parts.append(element("line", x1=self.left, x2=self.width - RIGHT, y1=at, y2=at, class_=class_))

    def text(self, x: float, y: float, words: str, anchor: str = "middle", dx: float = 0, dy: float = 0) -> None:
        """Words at a place of the data."""
        place = {"x": f"{float(self.x(x)) + dx:.1f}", "y": f"{float(self.y(y)) + dy:.1f}"}
        self.parts.append(element("text", words, text_anchor=anchor, **place))

    def render(self, *, y_names: Sequence[str] | None = None) -> Html:
        """The picture; `y_names` stand beside whole numbers of y instead of ticks."""
        label = f"{self.title}. {self.description}"
        return element(
            "svg",
            element("title", self.title),
            element("desc", self.description),
            *self._axes(y_names),
            *self.parts,
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=label,
            class_="chart",
        )

    def _axes(self, y_names: Sequence[str] | None) -> list[Html]:
        bottom, right = self.height - BOTTOM, self.width - RIGHT
        out = []
        for tick in self.x.ticks():
            at = float(self.x(tick))
            out.append(element("line", x1=f"{at:.1f}", x2=f"{at:.1f}", y1=bottom, y2=bottom + 5, class_="axis"))
            out.append(element("text", self.x.tick(tick), x=f"{at:.1f}", y=bottom + 19, text_anchor="middle"))
        places = [(tick, self.y.tick(tick)) for tick in self.y.ticks()] if y_names is None else enumerate(y_names)
        for place, words in places:
            at = float(self.y(place))
            if y_names is None:
                out.append(element("line", x1=self.left, x2=right, y1=f"{at:.1f}", y2=f"{at:.1f}", class_="grid"))
            out.append(element("text", words, x=self.left - 7, y=f"{at + 4.5:.1f}", text_anchor="end"))
        out.append(element("line", x1=self.left, x2=right, y1=bottom, y2=bottom, class_="axis"))
        middle = (self.left + right) / 2
        out.append(
            element("text", self.x_label, x=f"{middle:.0f}", y=self.height - 8, text_anchor="middle", class_="lab")
        )
        if self.y_label:
            centre = (TOP + bottom) / 2
            out.append(
                element(
                    "text", self.y_label, transform=f"translate(13 {centre:.0f}) rotate(-90)", text_anchor="middle",
                    class_="lab",
                )
            )  # fmt: skip
        return out


def legend(entries: Iterable[tuple[str, str, str]]) -> Html:
    """(shape, class, words) of each mark, as a list below a picture."""
    items = []
    for shape, class_, words in entries:
        mark = (
            element("line", x1=1, x2=21, y1=8, y2=8, class_=class_)
            if shape == "line"
            else element("g", _mark(shape, 11, 8, 5.0), class_=class_)
        )
        key = element("svg", mark, viewBox="0 0 22 16", class_="key", aria_hidden="true")
        items.append(element("li", key, words))
    return element("ul", *items, class_="legend")


def _mark(shape: str, x: float, y: float, r: float) -> Html:
    if shape == "circle":
        return Html(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>')
    if shape == "box":
        return Html(f'<rect x="{x - 8:.1f}" y="{y - 6:.1f}" width="16" height="12"/>')
    return Html(f'<path d="M{x:.1f} {y:.1f}{_outline(shape, r)}"/>')


def _outline(shape: str, r: float) -> str:
    a, b = f"{r:.1f}", f"{2 * r:.1f}"
    s, t = f"{0.9 * r:.1f}", f"{1.8 * r:.1f}"
    h = f"{0.5 * r:.1f}"
    return {
        "square": f"m-{s}-{s}h{t}v{t}h-{t}z",
        "triangle": f"m0-{a}l{a} {t}h-{b}z",
        "diamond": f"m0-{a}l{a} {a}l-{a} {a}l-{a}-{a}z",
        "down": f"m0 {a}l{a}-{t}h-{b}z",
        "plus": f"m-{h}-{a}h{a}v{h}h{h}v{a}h-{h}v{h}h-{a}v-{h}h-{h}v-{a}h{h}z",
        "star": f"m0-{a}l{h} {h}l{h} {h}l-{h} {h}l-{h} {h}l-{h}-{h}l-{h}-{h}l{h}-{h}z",
        "bar": f"m-{h}-{a}h{a}v{b}h-{a}z",
        "cross": f"m-{s}-{s}l{t} {t}m0-{t}l-{t} {t}",
    }[shape]


def together(*parts: Any) -> Html:
    """Markup one after the other."""
    return join(parts)
