"""The pictures of a report (margins, gap, leave-one-out verdicts, boundary), as data, and how numbers are written.

A chart has two ranges, and outlines and marks in units of the data. The template places them and draws the axes; the style sheet
has the colours.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from contourpy import contour_generator
from scipy.ndimage import gaussian_filter
from sklearn.decomposition import KernelPCA

from maxmargin.analysis.margin_histogram import MarginHistogram, margin_histogram
from maxmargin.core.certificate.parts import INSIDE, ON, OUTSIDE
from maxmargin.core.products import dense_rows
from maxmargin.estimators.per_sample import Anatomy, Plane, Subject, limits_of, strongest
from maxmargin.typing import Floats, Indices

SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "star", "bar")
"""Marks of the classes, drawn in the colours k0 … k7; from the ninth class on they repeat."""

MOST_VERDICTS, MOST_SHOWN = 1500, 1000
"""Samples in the picture of verdicts, and in that of the boundary; of more, evenly chosen ones."""

GRID = 140
"""Points of the grid along each axis."""

FLOOR = 1e-17
"""A gap of 0 is drawn here: a logarithm has no place for it."""

SMALLEST, LARGEST = 3.2, 6.8
"""Radii of the marks: α = 0, and the largest α."""


def number(value: Any, digits: int = 4) -> str:
    """A number as people write it: few digits, thousands apart, a real minus.

    Examples
    --------
    >>> number(-0.12345), number(20000)
    ('−0.1235', '20\u202f000')
    """
    words = f"{int(value):,}".replace(",", "\u202f") if isinstance(value, Integral) else f"{value:.{digits}g}"
    return words.replace("-", "−")


def ticks(ends: tuple[float, float], finest: float = 0.0) -> list[float]:
    """About six round numbers between two ends, no closer to each other than `finest`.

    >>> ticks((-0.1, 1.0))
    [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
    """
    low, high = ends
    rough = max((high - low) / 6, finest)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1.0, 2.0, 5.0, 10.0) if digit * power >= rough * (1 - 1e-9))
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


@dataclass
class Chart:
    """A picture under construction; what is added later lies on top."""

    title: str
    x_label: str
    y_label: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    """Of decimal logarithms where `has_powers`."""

    height: int = 300
    has_powers: bool = False
    """Whether y is a decimal logarithm: its ticks are powers of ten."""

    parts: list[tuple[str, str, Any, str]] = field(default_factory=list)
    """Shape, class of the style sheet, places, and words for the legend (or ""). The places of a line or box are outlines, each
    of points (x, y); those of marks are (x, y, radius)."""

    def draw(self, shape: str, class_: str, places: Any, words: str = "") -> None:
        """Lines or boxes, all in one outline, so that nothing is shaded twice; without places only an entry in the legend."""
        self.parts.append((shape, class_, [np.asarray(place).tolist() for place in places], words))

    def vertical(self, x: float, class_: str) -> None:
        """A vertical line, unless it lies outside the chart."""
        if self.x_range[0] <= x <= self.x_range[1]:
            self.draw("line", class_, [[(x, y) for y in self.y_range]])

    def marks(self, xs: Any, ys: Any, shape: str, class_: str, radius: Any = 4.0, words: str = "") -> None:
        """Marks of one shape; `radius` is one for all or one for each."""
        self.draw(shape, class_, np.column_stack([xs, ys, np.broadcast_to(radius, np.shape(xs))]), words)


def margins_chart(part: Anatomy) -> tuple[Chart, int]:
    """The histogram of yF of one problem's samples, and how many samples further out stand in the outermost bars."""
    found = margin_histogram(part.margins[part.present])
    edges, below = found.edges, np.zeros(len(found.edges) - 1)
    zones = [zone for zone in _zones(part, found) if zone[0].any()]
    top = 1.06 * float(np.max(sum(counts for counts, _, _ in zones)))
    chart = Chart(f"Margins, {part.name}", "margin y F", "samples", (float(edges[0]), float(edges[-1])), (0.0, top))
    for counts, class_, words in zones:
        bars = [_box(*ends) for ends in zip(edges, below, edges[1:], below + counts, strict=False) if ends[1] < ends[3]]
        chart.draw("box", f"bar {class_}", bars, f"{words} ({number(counts.sum())})")
        below = below + counts
    chart.vertical(0.0, "zero")
    chart.vertical(1.0, "edge")
    return chart, found.n_beyond


def _box(left: float, low: float, right: float, high: float) -> list[tuple[float, float]]:
    return [(left, low), (right, low), (right, high), (left, high)]


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


def gap_chart(subject: Subject) -> Chart | None:
    """The certified gaps of each problem against time, the largest in front; None where each was certified once."""
    traces = (subject.estimator.trace_,) if subject.is_binary else tuple(subject.estimator.trace_)
    if max(map(len, traces)) < 2:
        return None
    tol = getattr(subject.estimator, "tol", None)
    known = [[(at.seconds, max(at.relative_gap, FLOOR)) for at in trace if at.relative_gap < np.inf] for trace in traces]
    points = [np.reshape(own, (-1, 2)) for own in known]
    worst = int(np.argmax([own[:, 1].min(initial=np.inf) for own in points]))
    for own in points:
        own[:, 1] = np.log10(own[:, 1])
    seconds, powers = np.vstack([*points, [(0.0, np.log10(tol or 1.0))]]).T
    wide, high = (0.0, 1.03 * seconds.max() or 1.0), (np.floor(powers.min() - 0.5), np.ceil(powers.max() + 0.05))
    chart = Chart("Relative duality gap against time", "seconds", "relative gap", wide, high, has_powers=True)
    largest = [points.pop(worst)]
    in_front = f"the largest: {subject.parts[worst].name}" if points else "relative gap"
    for some, look, radius, words in ((points, "others", 2.2, f"the {len(points)} other problems"), (largest, "", 3.5, in_front)):
        if some:
            chart.draw("line", f"trace {look}", some, words)
            x, y = np.vstack(some).T
            chart.marks(x, y, "circle", f"dot {look}", radius)
    if tol:
        chart.draw("line", "tol", [[(x, np.log10(tol)) for x in wide]], f"tol = {number(tol)}")
    return chart


def verdicts_chart(subject: Subject) -> tuple[Chart, int]:
    """α against ξ of each sample of a leave-one-out result, with the lemma's line; and of how many samples one is drawn."""
    result, classes = subject.leave_one_out, np.asarray(subject.estimator.classes_)
    estimate = result.xi_alpha
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
    mark(result.predictions != classes[subject.labels], "circle", "ring", 6.5, "leave-one-out error")
    if estimate.radius2 > 0:
        top = min(0.5 / estimate.radius2, high[1])
        chart.draw("line", "edge", [[(1.0 - 2.0 * estimate.radius2 * top, top), (1.0, 0.0)]], "2αR² + ξ = 1: the lemma")
    chart.vertical(1.0, "tol")
    return chart, step


def boundary(subject: Subject) -> dict[str, Any]:
    """The one picture of the boundary that the model allows, in the plane of two features or projected, and which it is."""
    part, rows, title = subject.parts[0], evenly(subject.n, MOST_SHOWN), "Decision boundary"
    if subject.plane:
        kind, axes, places = "features", subject.plane.names, subject.plane.points[rows]
    elif subject.is_binary and part.norm > 0:
        kind, axes = "along w", ("distance to the boundary, F/‖w‖", "first component orthogonal to w")
        own = part.present[evenly(len(part.present), MOST_SHOWN)]
        rows, places = part.rows[own], _along_w(part, own)
    else:
        kind, axes, title = "components", ("first principal component", "second principal component"), "Samples"
        gram = subject.X[np.ix_(rows, rows)] if subject.is_precomputed else subject.X[rows] @ subject.X[rows].T
        places = _leading(dense_rows(gram), 2)
    (left, bottom), (right, top) = np.array(limits_of(places, pad=0.05)).tolist()
    chart = Chart(title, axes[0], axes[1], (left, right), (bottom, top), height=440)
    if subject.plane:
        _draw_levels(chart, subject, subject.plane)
    elif kind == "along w":
        half = 1.0 / part.norm
        chart.draw("box", "band", [_box(max(-half, left), bottom, min(half, right), top)])
        for x, class_ in ((-half, "edge"), (half, "edge"), (0.0, "zero")):
            chart.vertical(x, class_)
    _draw_samples(chart, subject, rows, places)
    return {"chart": chart, "kind": kind, "n_shown": len(rows)}


def evenly(n: int, most: int) -> Indices:
    """At most so many of n row numbers, evenly spaced."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)


def _along_w(part: Anatomy, own: Indices) -> Floats:
    """An orthogonal projection of the feature space: along w exactly, and across it where the samples spread most.

    With K of the shown samples and f = ⟨w, φ⟩, the part orthogonal to w has the Gram matrix K − ffᵀ/‖w‖²; its first principal
    component is read off the leading eigenvector of that matrix, centred. The same for every kernel, precomputed ones too.
    """
    assert part.problem is not None
    assert part.candidate is not None
    f = part.F[own] - part.candidate.b
    across = _leading(part.problem.gram(own, own) - np.outer(f, f) / part.norm**2, 1)
    return np.column_stack([part.F[own] / part.norm, across])


def _leading(gram: Floats, count: int) -> Floats:
    """The first principal components of rows with this Gram matrix, as places (m, count); the largest entry is positive."""
    return np.asarray(KernelPCA(count, kernel="precomputed", eigen_solver="dense").fit_transform(gram))


def _draw_levels(chart: Chart, subject: Subject, plane: Plane) -> None:
    """F = 0 and the margin; of more than two classes their regions."""
    low, high = np.transpose([chart.x_range, chart.y_range])
    xs, ys, found = plane.response(low, high, GRID)
    if subject.is_binary:
        contours = contour_generator(xs, ys, found)
        if subject.has_margin:
            chart.draw("box", "band", rings(contours.filled(-1.0, 1.0)))
            chart.draw("line", "edge", [*contours.lines(-1.0), *contours.lines(1.0)])
        chart.draw("line", "zero", contours.lines(0.0))
        return
    for k in range(len(subject.classes)):
        share = gaussian_filter((found == k).astype(np.float64), 1.5, mode="nearest")  # no steps from point to point
        contours = contour_generator(xs, ys, share)
        chart.draw("box", f"region k{k % len(SHAPES)}", rings(contours.filled(0.5, 2.0)))
        chart.draw("line", "edge", contours.lines(0.5))


def rings(polygons: Any) -> list[Any]:
    """What contourpy fills, ring by ring: each polygon says where its outer ring and its holes begin."""
    return [ring for points, starts in zip(*polygons, strict=True) for ring in np.split(points, starts[1:-1])]


def _draw_samples(chart: Chart, subject: Subject, rows: Indices, places: Floats) -> None:
    """The samples on top: class by shape and colour, support vectors filled, larger α larger, crosses for errors."""
    x, y = places.T
    known, _ = strongest(subject.parts, subject.n)
    of_all = np.zeros(subject.n) if known is None else known
    alpha = of_all[rows]
    sizes = SMALLEST + (LARGEST - SMALLEST) * np.sqrt(alpha / max(float(of_all.max()), 1e-300))
    for k, name in enumerate(subject.classes):
        shape, class_ = SHAPES[k % len(SHAPES)], f"mark k{k % len(SHAPES)}"
        chart.draw(shape, class_, [], f"class {name}")
        for look, is_mine in ((class_, alpha == 0), (f"{class_} full", alpha > 0)):
            mine = np.flatnonzero(is_mine & (subject.labels[rows] == k))
            mine = mine[np.argsort(-sizes[mine], kind="stable")]  # small marks stay on top
            chart.marks(x[mine], y[mine], shape, look, sizes[mine])
    if known is not None:
        meaning = "support vector, larger with α" if subject.has_certificate else "a mistake was made here"
        chart.draw("circle", "mark k0 full", [], f"filled: {meaning}")
    wrong = np.flatnonzero(subject.is_wrong[rows])
    chart.marks(x[wrong], y[wrong], "cross", "cross", 4.0, "training error" if len(wrong) else "")
