"""The charts of a report (margins, gap, features, leave-one-out verdicts), as data, and how values are written.

A chart has two axes, and outlines of lines, bars and marks. The templates write it; the style sheet has the colours.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from maxmargin.analysis.margin_histogram import MarginHistogram, margin_histogram
from maxmargin.core import Trace
from maxmargin.core.certificate.parts import INSIDE, ON, OUTSIDE
from maxmargin.estimators import LeaveOneOut
from maxmargin.estimators.per_sample import Anatomy
from maxmargin.rounding import shown_above
from maxmargin.typing import Floats


def number(value: Any, digits: int = 4) -> str:
    """A number as people write it: few digits, thousands apart, a real minus.

    Examples
    --------
    >>> number(-0.12345), number(20000)
    ('−0.1235', '20\u202f000')
    """
    words = f"{int(value):,}".replace(",", "\u202f") if isinstance(value, Integral) else f"{value:.{digits}g}"
    return words.replace("-", "−")


def above(value: float, digits: int = 2) -> str:
    """A number that something is proved to be below: it is rounded up, as in the certificate's sentence."""
    return shown_above(value, digits).replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """A share in percent."""
    return f"{share:.{digits}%}"


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

    def curves(self, curves: Iterable[Any], class_: str, words: str = "", *, shape: str = "line", end: str = "") -> None:
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


MOST_VERDICTS = 1500
FLOOR = 1e-17
"""A gap of 0 is drawn here: a logarithm has no place for it."""


def margins_chart(part: Anatomy) -> tuple[Chart, int]:
    """The histogram of yF of one problem's samples, and how many samples further out stand in the outermost bars."""
    found = margin_histogram(part.margins[part.present])
    edges, below = found.edges, np.zeros(len(found.edges) - 1)
    zones = [zone for zone in _zones(part, found) if zone[0].any()]
    top = 1.06 * float(np.max(sum(counts for counts, _, _ in zones)))
    chart = Chart(f"Margins, {part.name}", "margin y F", "samples", (float(edges[0]), float(edges[-1])), (0.0, top))
    for counts, class_, words in zones:
        bars = zip(edges[:-1], below, edges[1:], below + counts, strict=True)
        chart.boxes(bars, f"bar {class_}", f"{words} ({number(counts.sum())})")
        below = below + counts
    chart.vertical(0.0, "zero")
    chart.vertical(1.0, "edge")
    return chart, found.n_beyond


def _zones(part: Anatomy, found: MarginHistogram) -> Iterator[tuple[Any, str, str]]:
    """By the groups of complementary slackness, as the certificate counts; by yF where there is no dual variable."""
    margins, groups = part.margins, part.groups
    if groups is None:
        yield found.wrong, "z0", "wrong: yF ≤ 0"
        yield found.inside, "z1", "inside the margin"
        yield found.outside, "z2", "on or outside it"
        return
    yield found.counts_of(margins[part.outliers]), "z0", "outliers of the ramp, left out"
    looks = {INSIDE: ("z1", "inside it or wrong"), ON: ("z3", "on it"), OUTSIDE: ("z2", "outside the margin")}
    for group, look in looks.items():
        yield found.counts_of(margins[groups == group]), *look


def gap_chart(traces: Sequence[Trace], names: Sequence[str], worst: int, tol: float | None) -> Chart | None:
    """The certified gaps of each problem against time, the largest in front; None where each was certified once."""
    if max(map(len, traces)) < 2:
        return None
    moments = [[at for at in trace if math.isfinite(at.relative_gap)] for trace in traces]
    places = [[(at.seconds, math.log10(max(at.relative_gap, FLOOR))) for at in own] for own in moments]
    points = [np.reshape(own, (-1, 2)) for own in places]
    seconds, powers = np.vstack([*points, [(0.0, np.log10(tol or 1.0))]]).T
    wide, high = (0.0, 1.03 * seconds.max() or 1.0), (np.floor(powers.min() - 0.5), np.ceil(powers.max() + 0.05))
    chart = Chart("Relative duality gap against time", "seconds", "relative gap", wide, high, has_powers=True)

    def draw(some: list[Floats], look: str, radius: float, words: str) -> None:
        chart.curves([own for own in some if len(own)], f"trace {look}", words)
        x, y = np.vstack(some).T
        chart.marks(x, y, "circle", f"dot {look}", radius)

    largest = points.pop(worst)
    if points:
        draw(points, "others", 2.2, f"the {len(points)} other problems")
    draw([largest], "", 3.5, f"the largest: {names[worst]}" if points else "relative gap")
    if tol:
        chart.curves([[(x, np.log10(tol)) for x in wide]], "tol", f"tol = {number(tol)}")
    return chart


def features_chart(names: Sequence[str], effects: Floats) -> Chart:
    """Bars of signed effects, the largest on top."""
    count, reach = len(names), 1.08 * float(np.abs(effects).max(initial=0.0)) or 1.0
    short = [name if len(name) <= 24 else f"{name[:23]}…" for name in names]
    chart = Chart(
        "Strongest features", "change of F for one standard deviation", "", (-reach, reach), (count - 0.4, -0.6),
        height=70 + 20 * count, left=30 + 8 * max(map(len, short), default=0), y_names=short,
    )  # fmt: skip
    for k, effect in enumerate(effects):
        chart.boxes([(0.0, k + 0.36, effect, k - 0.36)], "bar z2" if effect > 0 else "bar z1")
    chart.vertical(0.0, "edge")
    return chart


def verdicts_chart(result: LeaveOneOut, is_error: Any) -> tuple[Chart, int]:
    """α against ξ of each sample of a leave-one-out result, with the lemma's line; and of how many samples one is drawn."""
    estimate = result.xi_alpha
    assert not isinstance(estimate, tuple)
    alpha, xi = np.asarray(estimate.alpha), np.asarray(estimate.xi)
    most = float(alpha.max()) or 1.0
    wide, high = (-0.04, max(1.3, 1.05 * float(xi.max()))), (-0.04 * most, 1.08 * most)
    chart = Chart("Leave-one-out verdicts", "slack ξ", "dual variable α", wide, high, height=340)
    step = -(-len(xi) // MOST_VERDICTS)

    def mark(chosen: Any, shape: str, class_: str, radius: float, words: str) -> None:
        mine = np.flatnonzero(chosen)
        chart.marks(xi[mine][::step], alpha[mine][::step], shape, class_, radius, f"{words} ({number(len(mine))})")

    names = np.array([how.name for how in result.settled_by])
    for k, name in enumerate(name for name in dict.fromkeys(names.tolist()) if name != "ABSENT"):
        mark(names == name, SHAPES[k % 5], f"mark full k{k % 8}", 3.6, name.replace("_", " ").lower())
    mark(is_error, "circle", "ring", 6.5, "leave-one-out error")
    if estimate.radius2 > 0:
        top = min(0.5 / estimate.radius2, high[1])
        chart.curves([[(1.0 - 2.0 * estimate.radius2 * top, top), (1.0, 0.0)]], "edge", "2αR² + ξ = 1: the lemma")
    chart.vertical(1.0, "tol")
    return chart, step
