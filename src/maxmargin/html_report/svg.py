"""A chart as data: two axes, and outlines of lines, bars and marks. The templates write it; the style sheet has the colours."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.typing import Floats

WIDTH, RIGHT, TOP, BOTTOM = 720, 12, 12, 50
SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "star", "bar")
"""Marks of the classes, drawn in the colours k0 … k7; from the ninth class on they repeat."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass
class Chart:
    """A picture under construction; what is added later lies on top."""

    title: str
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    """Of decimal logarithms where `has_powers`."""

    has_powers: bool = False
    """Whether y is a decimal logarithm: its ticks are powers of ten."""

    height: int = 300
    left: int = 76
    y_names: Sequence[str] = ()
    """They stand beside whole numbers of y instead of ticks."""

    parts: list[tuple[str, str, Any]] = field(default_factory=list)
    """A class of the style sheet, the shape of some marks (or ""), and where they are: (x, y, radius) of each, or one outline."""

    legend: list[tuple[str, str, str]] = field(default_factory=list)
    """Shape, class and words of each entry."""

    width, right, top = WIDTH, WIDTH - RIGHT, TOP

    @property
    def bottom(self) -> int:
        """Where the x axis lies."""
        return self.height - BOTTOM

    def x(self, values: Any) -> Floats:
        """Where data lie, from the left."""
        low, high = self.x_range
        return self.left + (self.right - self.left) * ((np.asarray(values, dtype=np.float64) - low) / (high - low))

    def y(self, values: Any) -> Floats:
        """Where data lie, from the top."""
        low, high = self.y_range
        return self.bottom + (TOP - self.bottom) * ((np.asarray(values, dtype=np.float64) - low) / (high - low))

    @property
    def x_ticks(self) -> list[tuple[str, str]]:
        """(place, words) along x."""
        return [(f"{self.x(tick):.1f}", f"{tick:.8g}".replace("-", "−")) for tick in ticks(*self.x_range)]

    @property
    def y_ticks(self) -> list[tuple[str, str]]:
        """(place, words) along y."""
        if self.y_names:
            named: list[tuple[float, str]] = list(enumerate(self.y_names))
        elif self.has_powers:
            named = [(tick, "10" + f"{tick:.0f}".translate(SUPERSCRIPTS)) for tick in ticks(*self.y_range, finest=1.0)]
        else:
            named = [(tick, f"{tick:.8g}".replace("-", "−")) for tick in ticks(*self.y_range)]
        return [(f"{self.y(place):.1f}", words) for place, words in named]

    def curves(
        self, curves: Iterable[Any], class_: str, words: str = "", *, shape: str = "line", end: str = ""
    ) -> None:
        """Lines through points (n, 2), all in one outline: nothing is shaded twice. Words give them an entry in the legend."""
        drawn = []
        for curve in map(np.asarray, curves):
            places = zip(self.x(curve[:, 0]), self.y(curve[:, 1]), strict=True)
            drawn.append("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places) + end)
        self._add(class_, "", "".join(drawn), shape, words)

    def areas(self, polygons: Any, class_: str) -> None:
        """What contourpy fills: the points of each polygon, and where its outer ring and its holes begin."""
        rings = [ring for points, starts in zip(*polygons, strict=True) for ring in np.split(points, starts[1:-1])]
        self.curves(rings, class_, end="z")

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]], class_: str, words: str = "") -> None:
        """Rectangles from (x low, y low) to (x high, y high); empty ones are not drawn."""
        corners = [[(x0, y0), (x1, y0), (x1, y1), (x0, y1)] for x0, y0, x1, y1 in boxes if x0 != x1 and y0 != y1]
        self.curves(corners, class_, words, shape="box", end="z")

    def vertical(self, x: float, class_: str) -> None:
        """A vertical line, unless it lies outside the chart."""
        if self.x_range[0] <= x <= self.x_range[1]:
            self.curves([[(x, y) for y in self.y_range]], class_)

    def marks(self, xs: Any, ys: Any, shape: str, class_: str, radius: Any = 4.0, words: str = "") -> None:
        """Marks of one shape; `radius` is one for all or one for each."""
        places = np.column_stack([self.x(xs), self.y(ys), np.broadcast_to(radius, np.shape(xs))])
        self._add(class_, shape, [tuple(f"{number:.1f}" for number in place) for place in places], shape, words)

    def _add(self, class_: str, shape: str, drawn: Any, key: str, words: str) -> None:
        if drawn:
            self.parts.append((class_, shape, drawn))
        if words:
            self.legend.append((key, class_, words))


def ticks(low: float, high: float, most: int = 6, finest: float = 0.0) -> list[float]:
    """About so many round numbers between two ends, no closer to each other than `finest`.

    >>> ticks(-0.1, 1.0)
    [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
    """
    rough = max((high - low) / most, finest)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1.0, 2.0, 5.0, 10.0) if digit * power >= rough * (1 - 1e-9))
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
