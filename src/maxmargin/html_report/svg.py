"""Charts as data: two axes, and outlines of marks, lines and bars. The templates write them; the style sheet has the colours."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.html_report.words import number

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
    """A picture under construction; what is added later lies on top."""

    title: str
    description: str
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_y: bool = False
    height: int = HEIGHT
    left: int = LEFT
    y_names: Sequence[str] = ()
    """They stand beside whole numbers of y instead of ticks."""

    parts: list[tuple[str, list[str]]] = field(default_factory=list)
    """A class of the style sheet, and outlines that are drawn with it."""

    width, right, top = WIDTH, WIDTH - RIGHT, TOP

    def __post_init__(self) -> None:
        self.bottom = self.height - BOTTOM
        self.x = Scale(*self.x_range, self.left, self.right)
        self.y = Scale(*self.y_range, self.bottom, TOP, self.log_y)

    @property
    def x_ticks(self) -> list[tuple[str, str]]:
        """(place, words) along x."""
        return [(f"{float(self.x(tick)):.1f}", self.x.tick(tick)) for tick in self.x.ticks()]

    @property
    def y_ticks(self) -> list[tuple[str, str]]:
        """(place, words) along y."""
        named: list[tuple[float, str]] = list(enumerate(self.y_names)) or [
            (tick, self.y.tick(tick)) for tick in self.y.ticks()
        ]
        return [(f"{float(self.y(place)):.1f}", words) for place, words in named]

    def curves(self, curves: Any, class_: str, end: str = "") -> None:
        """Lines through points (n, 2), all in one outline: nothing is shaded twice."""
        drawn = []
        for curve in map(np.asarray, curves):
            places = zip(self.x(curve[:, 0]), self.y(curve[:, 1]), strict=True)
            drawn.append("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places) + end)
        if drawn:
            self.parts.append((class_, ["".join(drawn)]))

    def areas(self, polygons: Any, class_: str) -> None:
        """What contourpy fills: the points of each polygon, and where its outer ring and its holes begin."""
        rings = [ring for points, starts in zip(*polygons, strict=True) for ring in np.split(points, starts[1:-1])]
        self.curves(rings, class_, "z")

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]], class_: str) -> None:
        """Rectangles from (x low, y low) to (x high, y high)."""
        self.curves([[(x0, y0), (x1, y0), (x1, y1), (x0, y1)] for x0, y0, x1, y1 in boxes], class_, "z")

    def line(self, xs: Any, ys: Any, class_: str) -> None:
        """A line through points."""
        self.curves([np.column_stack([xs, ys])], class_)

    def vertical(self, x: float, class_: str) -> None:
        """A line across."""
        self.line([x, x], self.y_range, class_)

    def horizontal(self, y: float, class_: str) -> None:
        """A line along."""
        self.line(self.x_range, [y, y], class_)

    def marks(self, xs: Any, ys: Any, shape: str, class_: str, radius: Any = 4.0) -> None:
        """Marks of one shape; `radius` is one for all or one for each."""
        sizes = np.broadcast_to(np.asarray(radius, dtype=np.float64), np.shape(xs))
        drawn = [outline(shape, a, b, r) for a, b, r in zip(self.x(xs), self.y(ys), sizes, strict=True)]
        if drawn:
            self.parts.append((class_, drawn))


@dataclass(frozen=True)
class Figure:
    """A chart, (shape, class, words) of each entry of its legend, and what it shows."""

    chart: Chart
    legend: Sequence[tuple[str, str, str]]
    caption: str


def outline(shape: str, x: float, y: float, r: float) -> str:
    """The path of a mark."""
    a, b = f"{r:.1f}", f"{2 * r:.1f}"
    s, t = f"{0.9 * r:.1f}", f"{1.8 * r:.1f}"
    h = f"{0.5 * r:.1f}"
    around = {
        "circle": f"m-{a} 0a{a} {a} 0 1 0 {b} 0a{a} {a} 0 1 0-{b} 0z",
        "square": f"m-{s}-{s}h{t}v{t}h-{t}z",
        "triangle": f"m0-{a}l{a} {t}h-{b}z",
        "diamond": f"m0-{a}l{a} {a}l-{a} {a}l-{a}-{a}z",
        "down": f"m0 {a}l{a}-{t}h-{b}z",
        "plus": f"m-{h}-{a}h{a}v{h}h{h}v{a}h-{h}v{h}h-{a}v-{h}h-{h}v-{a}h{h}z",
        "star": f"m0-{a}l{h} {h}l{h} {h}l-{h} {h}l-{h} {h}l-{h}-{h}l-{h}-{h}l{h}-{h}z",
        "bar": f"m-{h}-{a}h{a}v{b}h-{a}z",
        "cross": f"m-{s}-{s}l{t} {t}m0-{t}l-{t} {t}",
        "line": f"m-{b} 0h{2 * 2 * r:.1f}",
        "box": f"m-{1.6 * r:.1f}-{1.2 * r:.1f}h{3.2 * r:.1f}v{2.4 * r:.1f}h-{3.2 * r:.1f}z",
    }[shape]
    return f"M{x:.1f} {y:.1f}{around}"
