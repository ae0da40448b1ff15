"""The charts of a report: margins, gap, features, leave-one-out verdicts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.analysis.margin_histogram import margin_histogram
from maxmargin.core import Trace
from maxmargin.core.certificate.parts import INSIDE, ON, OUTSIDE
from maxmargin.estimators import LeaveOneOut
from maxmargin.estimators.per_sample import Anatomy
from maxmargin.html_report.svg import SHAPES, Chart
from maxmargin.html_report.words import number
from maxmargin.typing import Floats

MOST_VERDICTS = 1500
FLOOR = 1e-17
"""A gap of 0 is drawn here: a logarithm has no place for it."""


def margins_chart(part: Anatomy) -> tuple[Chart, int]:
    """The histogram of yF of one problem's samples, and how many samples further out stand in the outermost bars."""
    margins = part.margins
    found = margin_histogram(margins[part.present])
    edges, below = found.edges, np.zeros(len(found.edges) - 1)
    zones = [(found.counts_of(margins[chosen]), class_, words) for class_, words, chosen in _zones(part) if len(chosen)]
    top = 1.06 * float(np.max(sum(counts for counts, _, _ in zones)))
    chart = Chart(f"Margins, {part.name}", "margin y F", "samples", (float(edges[0]), float(edges[-1])), (0.0, top))
    for counts, class_, words in zones:
        bars = zip(edges[:-1], below, edges[1:], below + counts, strict=True)
        chart.boxes(bars, f"bar {class_}", f"{words} ({number(counts.sum())})")
        below = below + counts
    chart.vertical(0.0, "zero")
    chart.vertical(1.0, "edge")
    return chart, found.n_beyond


def _zones(part: Anatomy) -> list[tuple[str, str, Any]]:
    """By the groups of complementary slackness, as the certificate counts; by yF where there is no dual variable."""
    groups, present = part.groups, part.present
    if groups is None:
        z = part.margins[present]
        return [
            ("z0", "wrong: yF ≤ 0", present[z <= 0]),
            ("z1", "inside the margin", present[(z > 0) & (z < 1)]),
            ("z2", "on or outside it", present[z >= 1]),
        ]
    return [
        ("z0", "outliers of the ramp, left out", part.outliers),
        ("z1", "inside it or wrong", np.flatnonzero(groups == INSIDE)),
        ("z3", "on it", np.flatnonzero(groups == ON)),
        ("z2", "outside the margin", np.flatnonzero(groups == OUTSIDE)),
    ]


def gap_chart(traces: Sequence[Trace], names: Sequence[str], worst: int, tol: float | None) -> Chart | None:
    """The certified gaps of each problem against time, the largest in front; None where each was certified once."""
    if max(map(len, traces)) < 2:
        return None
    points = []
    for trace in traces:
        own = np.array([(point.seconds, point.relative_gap) for point in trace]).reshape(-1, 2)
        points.append(own[np.isfinite(own[:, 1])])
        points[-1][:, 1] = np.log10(np.maximum(points[-1][:, 1], FLOOR))
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
