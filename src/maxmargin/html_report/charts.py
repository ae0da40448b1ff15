"""The charts of a report: margins, gap, features, leave-one-out verdicts."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from maxmargin.analysis.margin_histogram import margin_histogram
from maxmargin.core import Trace
from maxmargin.core.certificate.groups import INSIDE, ON, OUTSIDE
from maxmargin.estimators import LeaveOneOut
from maxmargin.estimators.per_sample import Anatomy
from maxmargin.html_report.svg import Chart, Figure
from maxmargin.html_report.words import number
from maxmargin.typing import Floats

MOST_VERDICTS = 1500
Zones: TypeAlias = list[tuple[Any, str, str]]
"""Which samples, how they are drawn, and the words for them."""


def margins_figure(part: Anatomy, first_words: str) -> Figure:
    """The histogram of yF of one problem's samples, counted as the certificate counts them where there is one.

    Its caption begins with `first_words`.
    """
    margins = part.margins
    found = margin_histogram(margins[part.present])
    zones = [(found.counts_of(margins[chosen]), class_, words) for chosen, class_, words in _zones(part) if len(chosen)]
    total = sum(counts for counts, _, _ in zones)
    entries = [("box", class_, f"{words} ({number(counts.sum())})") for counts, class_, words in zones]
    chart = Chart(
        f"Margins, {part.name}",
        f"Histogram of y F: {', '.join(words for _, _, words in entries)}.",
        "margin y F",
        "samples",
        (float(found.edges[0]), float(found.edges[-1])),
        (0.0, 1.06 * float(np.max(total))),
        height=280,
    )
    below = np.zeros(len(found.edges) - 1)
    for counts, class_, _ in zones:
        boxes = [(found.edges[k], below[k], found.edges[k + 1], below[k] + counts[k]) for k in np.flatnonzero(counts)]
        chart.boxes(boxes, class_)
        below = below + counts
    chart.vertical(0.0, "zero")
    chart.vertical(1.0, "edge")
    who = (
        "1 sample further out stands" if found.n_beyond == 1 else f"{number(found.n_beyond)} samples further out stand"
    )
    beyond = f" {who} in the outermost bars." if found.n_beyond else ""
    words = "The thick line is the boundary, yF = 0; the thin one the margin, yF = 1."
    return Figure(chart, entries, first_words + words + beyond)


def _zones(part: Anatomy) -> Zones:
    """By the groups of complementary slackness, as the certificate counts; by yF where there is no dual variable."""
    groups, present = part.groups, part.present
    if groups is None:
        z = part.margins[present]
        return [
            (present[z <= 0], "bar z0", "wrong: yF ≤ 0"),
            (present[(z > 0) & (z < 1)], "bar z1", "inside the margin"),
            (present[z >= 1], "bar z2", "on or outside it"),
        ]
    return [
        (part.outliers, "bar z0", "outliers of the ramp, left out"),
        (np.flatnonzero(groups == INSIDE), "bar z1", "inside it or wrong"),
        (np.flatnonzero(groups == ON), "bar z3", "on it"),
        (np.flatnonzero(groups == OUTSIDE), "bar z2", "outside the margin"),
    ]


def gap_figure(traces: Sequence[Trace], names: Sequence[str], worst: int, tol: float | None) -> Figure:
    """The certified gaps of each problem against time, the largest in front."""
    points = [[(p.seconds, p.relative_gap) for p in trace if np.isfinite(p.relative_gap)] for trace in traces]
    positive = [gap for trace in points for _, gap in trace if gap > 0]
    has_zero = any(gap <= 0 for trace in points for _, gap in trace)
    floor = 1e-17 if has_zero else max(min([*positive, *([tol] if tol else [])], default=1e-16), 1e-17)
    longest = max((seconds for trace in points for seconds, _ in trace), default=0.0) or 1.0
    top = max([*positive, *([tol] if tol else [])], default=1.0)
    chart = Chart(
        "Relative duality gap against time",
        f"The gap falls to {number(points[worst][-1][1], 2)}." if points[worst] else "No finite gap was proved.",
        "seconds",
        "relative gap",
        (0.0, 1.03 * longest),
        (10.0 ** np.floor(np.log10(floor) - 0.5), 10.0 ** np.ceil(np.log10(top) + 0.05)),
        log_y=True,
        height=280,
    )
    for k in sorted(range(len(points)), key=lambda k: k == worst):
        xs = [seconds for seconds, _ in points[k]]
        ys = [max(gap, chart.y_range[0]) for _, gap in points[k]]
        others = "" if k == worst else " others"
        if len(xs) > 1:
            chart.line(xs, ys, f"trace{others}")
        chart.marks(xs, ys, "circle", f"dot{others}", 2.2 if others else 3.5)
    shape, class_ = ("line", "trace") if max(map(len, points)) > 1 else ("circle", "dot")
    entries = [(shape, class_, "relative gap" if len(points) == 1 else f"the largest: {names[worst]}")]
    if len(points) > 1:
        entries.append((shape, f"{class_} others", f"the {len(points) - 1} other problems"))
    if tol:
        chart.horizontal(tol, "tol")
        entries.append(("line", "tol", f"tol = {number(tol)}"))
    return Figure(chart, entries, "Each point is P − D, recomputed from the data.")


def features_figure(names: Sequence[str], effects: Floats, part: Anatomy) -> Figure:
    """Bars of signed effects, the largest on top."""
    count = len(names)
    reach = 1.08 * float(np.abs(effects).max(initial=0.0)) or 1.0
    short = [name if len(name) <= 24 else name[:23] + "…" for name in names]
    chart = Chart(
        "Strongest features",
        "Bars of the change of F for one standard deviation of each feature: " + ", ".join(short[:5]) + ", …",
        "change of F for one standard deviation",
        "",
        (-reach, reach),
        (count - 0.4, -0.6),
        height=70 + 20 * count,
        left=196,
        y_names=short,
    )
    for sign, class_ in ((1, "bar z2"), (-1, "bar z1")):
        boxes = [
            (min(value, 0.0), k + 0.36, max(value, 0.0), k - 0.36)
            for k, value in enumerate(effects)
            if value * sign > 0
        ]
        chart.boxes(boxes, class_)
    chart.vertical(0.0, "edge")
    return Figure(chart, [], f"Right: speaks for {part.positive}. Left: speaks for {part.negative}.")


def verdicts_figure(result: LeaveOneOut, is_error: Any) -> Figure:
    """α against ξ of each sample of a leave-one-out result, with the lemma's line."""
    estimate = result.xi_alpha
    assert not isinstance(estimate, tuple)
    alpha, xi = np.asarray(estimate.alpha), np.asarray(estimate.xi)
    most = float(alpha.max()) or 1.0
    chart = Chart(
        "Leave-one-out verdicts",
        "Dual variable against slack of each sample, and the line of the lemma.",
        "slack ξ",
        "dual variable α",
        (-0.04, max(1.3, 1.05 * float(xi.max()))),
        (-0.04 * most, 1.08 * most),
        height=320,
    )
    if estimate.radius2 > 0:
        top = min(1.0 / (2.0 * estimate.radius2), chart.y_range[1])
        chart.line([1.0 - 2.0 * estimate.radius2 * top, 1.0], [top, 0.0], "edge")
    chart.vertical(1.0, "tol")
    names = np.array([how.name for how in result.settled_by])
    step = -(-len(xi) // MOST_VERDICTS)
    entries = []
    for k, name in enumerate(dict.fromkeys(names.tolist())):
        if name == "ABSENT":
            continue
        mine = np.flatnonzero(names == name)
        shape = ("circle", "square", "diamond", "triangle", "down")[k % 5]
        chart.marks(xi[mine][::step], alpha[mine][::step], shape, f"mark full k{k % 8}", 3.6)
        entries.append((shape, f"mark full k{k % 8}", f"{name.replace('_', ' ').lower()} ({number(len(mine))})"))
    wrong = np.flatnonzero(is_error)
    chart.marks(xi[wrong][::step], alpha[wrong][::step], "circle", "ring", 6.5)
    entries += [
        ("circle", "ring", f"leave-one-out error ({number(len(wrong))})"),
        ("line", "edge", "2αR² + ξ = 1: the lemma"),
    ]
    fewer = f" One of {step} samples is drawn." if step > 1 else ""
    return Figure(
        chart,
        entries,
        "Right of the dotted line, ξ = 1, a sample is a training error and so a leave-one-out error." + fewer,
    )
