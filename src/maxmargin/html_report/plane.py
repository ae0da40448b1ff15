"""The picture of the boundary: in the plane of two features, or projected onto a plane of the feature space."""

from copy import copy
from typing import Any

import numpy as np
import scipy.linalg as la
from contourpy import contour_generator

from maxmargin.core.products import dense_rows
from maxmargin.estimators.per_sample import Anatomy, Subject, grid_over, limits_of, strongest
from maxmargin.html_report.charts import SHAPES, Chart
from maxmargin.typing import Floats, Indices

MOST_SHOWN = 1000
"""Samples in a picture; of more, evenly chosen ones."""

GRID = 140
"""Points of the grid along each axis."""

TINY = 1e-30
MOST_IN_PAIRS = 20
"""Classes, each pair of which has its decision computed at all points of the grid."""

SMALLEST, LARGEST = 3.2, 6.8
"""Radii of the marks: α = 0, and the largest α."""


def boundary(subject: Subject) -> dict[str, Any]:
    """The one picture of the boundary that the model allows, and what its caption needs to say which it is."""
    part = subject.parts[0]
    if subject.X.shape[1] == 2 and not subject.is_precomputed:
        return _over_two_features(subject)
    if subject.is_binary and part.norm > 0:
        return _along_w(subject, part)
    return _over_components(subject)


def evenly(n: int, most: int) -> Indices:
    """At most so many of n row numbers, evenly spaced."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)


def _over_two_features(subject: Subject) -> dict[str, Any]:
    rows = evenly(subject.n, MOST_SHOWN)
    places = dense_rows(subject.X, rows)
    chart = _chart("Decision boundary", places, subject.feature_name(0), subject.feature_name(1))
    low, high = np.transpose([chart.x_range, chart.y_range])
    xs, ys, grid = grid_over(subject.given, low, high, GRID)
    if subject.is_binary:
        F = np.asarray(subject.estimator.decision_function(grid), dtype=np.float64)
        contours = contour_generator(xs, ys, F.reshape(GRID, GRID))
        if subject.has_margin:
            chart.areas(contours.filled(-1.0, 1.0), "band")
            chart.curves([*contours.lines(-1.0), *contours.lines(1.0)], "edge")
        chart.curves(contours.lines(0.0), "zero")
    else:
        classes = subject.estimator.classes_
        winner, ahead = np.searchsorted(classes, subject.estimator.predict(grid)), lead(subject.estimator, grid)
        for k in range(len(classes)):
            contours = contour_generator(xs, ys, np.where(winner == k, ahead, -ahead).reshape(GRID, GRID))
            chart.areas(contours.filled(0.0, 2.0 * ahead.max()), f"region k{k % len(SHAPES)}")
            chart.curves(contours.lines(0.0), "edge")
    return {"chart": _with_samples(chart, subject, rows, places), "kind": "features", "n_shown": len(rows)}


def lead(estimator: Any, grid: Any) -> Floats:
    """How far some points are from where another class is predicted: of more than two classes, the closest decision of a pair.

    It is about 0 at the boundaries, so that level lines find them between the points. Of too many classes it is 1.
    """
    if not hasattr(estimator, "decision_function_shape"):
        first, second = np.sort(estimator.decision_function(grid), axis=1)[:, :-3:-1].T
        return np.asarray(np.maximum(first - second, TINY))
    if len(estimator.classes_) > MOST_IN_PAIRS:
        return np.ones(len(grid))
    in_pairs = copy(estimator)
    in_pairs.decision_function_shape, in_pairs.break_ties = "ovo", False
    return np.asarray(np.maximum(np.abs(in_pairs.decision_function(grid)).min(axis=1), TINY))


def _along_w(subject: Subject, part: Anatomy) -> dict[str, Any]:
    """An orthogonal projection of the feature space: along w exactly, and across it where the samples spread most.

    With K of the shown samples and f = ⟨w, φ⟩, the part orthogonal to w has the Gram matrix K − ffᵀ/‖w‖²; its first principal
    component is read off the leading eigenvector of that matrix, centred. The same for every kernel, precomputed ones too.
    """
    assert part.problem is not None
    assert part.candidate is not None
    own = part.present[evenly(len(part.present), MOST_SHOWN)]
    f = part.F[own] - part.candidate.b
    across = _leading(part.problem.gram(own, own) - np.outer(f, f) / part.norm**2, 1)[:, 0]
    places = np.column_stack([part.F[own] / part.norm, across])
    chart = _chart("Decision boundary", places, "distance to the boundary, F/‖w‖", "first component orthogonal to w")
    half = 1.0 / part.norm
    left, right = np.clip((-half, half), *chart.x_range)
    chart.boxes([(left, chart.y_range[0], right, chart.y_range[1])], "band")
    for x, class_ in ((-half, "edge"), (half, "edge"), (0.0, "zero")):
        chart.vertical(x, class_)
    chart = _with_samples(chart, subject, part.rows[own], places)
    return {"chart": chart, "kind": "along w", "n_shown": len(own), "half": half, "is_linear": part.problem.is_linear}


def _over_components(subject: Subject) -> dict[str, Any]:
    rows = evenly(subject.n, MOST_SHOWN)
    gram = subject.X[np.ix_(rows, rows)] if subject.is_precomputed else subject.X[rows] @ subject.X[rows].T
    places = _leading(dense_rows(gram), 2)
    chart = _chart("Samples", places, "first principal component", "second principal component")
    return {"chart": _with_samples(chart, subject, rows, places), "kind": "components", "n_shown": len(rows)}


def _leading(gram: Floats, count: int) -> Floats:
    """The first principal components of rows with this Gram matrix, as places (m, count); the largest entry is positive."""
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    m = len(gram)
    values, vectors = la.eigh(centred, subset_by_index=[max(m - count, 0), m - 1])
    places = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    is_negative = places[np.abs(places).argmax(axis=0), np.arange(places.shape[1])] < 0
    return np.pad(np.where(is_negative, -places, places), ((0, 0), (0, count - places.shape[1])))


def _chart(title: str, places: Floats, x_label: str, y_label: str) -> Chart:
    """A chart around some places."""
    (left, bottom), (right, top) = np.array(limits_of(places, pad=0.05)).tolist()
    return Chart(title, x_label, y_label, (left, right), (bottom, top), height=440)


def _with_samples(chart: Chart, subject: Subject, rows: Indices, places: Floats) -> Chart:
    """The samples on top: class by shape and colour, support vectors filled, larger α larger, crosses for errors."""
    x, y = places.T
    known, _ = strongest(subject.parts, subject.n)
    of_all = np.zeros(subject.n) if known is None else known
    alpha = of_all[rows]
    sizes = SMALLEST + (LARGEST - SMALLEST) * np.sqrt(alpha / max(float(of_all.max()), 1e-300))
    for k, name in enumerate(subject.classes):
        shape, class_ = SHAPES[k % len(SHAPES)], f"mark k{k % len(SHAPES)}"
        for look, is_mine in ((class_, alpha == 0), (f"{class_} full", alpha > 0)):
            mine = np.flatnonzero(is_mine & (subject.labels[rows] == k))
            mine = mine[np.argsort(-sizes[mine], kind="stable")]  # small marks stay on top
            chart.marks(x[mine], y[mine], shape, look, sizes[mine])
        chart.legend.append((shape, class_, f"class {name}"))
    if known is not None:
        meaning = "support vector, larger with α" if subject.has_certificate else "a mistake was made here"
        chart.legend.append(("circle", "mark k0 full", f"filled: {meaning}"))
    wrong = np.flatnonzero(subject.is_wrong[rows])
    chart.marks(x[wrong], y[wrong], "cross", "cross", 4.0, "training error" if len(wrong) else "")
    return chart
