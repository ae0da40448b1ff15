"""The picture of the boundary: in the plane of two features, or in a plane of the feature space, which is then said."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from contourpy import contour_generator

from maxmargin.estimators.per_sample import Anatomy, strongest
from maxmargin.html_report.subject import Subject
from maxmargin.html_report.svg import N_MARKS, SHAPES, Chart, Figure
from maxmargin.html_report.words import number
from maxmargin.typing import Floats, Indices

MOST_SHOWN = 1000
"""Samples in a picture; of more, evenly chosen ones."""

GRID = 140
TINY = 1e-30
MOST_IN_PAIRS = 20
"""Classes, each pair of which has its decision computed at all points of the grid."""

SMALLEST, LARGEST = 3.2, 6.8
"""Radii of the marks: α = 0, and the largest α."""


@dataclass(frozen=True, eq=False)
class Scatter:
    """Samples in a plane: their row numbers, their places, and what the two axes are."""

    rows: Indices
    places: Floats
    x_label: str
    y_label: str


def boundary_figure(subject: Subject) -> Figure:
    """The one picture of the boundary that the model allows."""
    shown = evenly(subject.n, MOST_SHOWN)
    part = subject.parts[0]
    if subject.X.shape[1] == 2 and not subject.is_precomputed:
        return _of_two_features(subject, shown)
    if subject.is_binary and part.problem is not None and part.norm > 0:
        return _of_feature_space(subject, part)
    return _of_components(subject, shown)


def evenly(n: int, most: int) -> Indices:
    """At most so many of n row numbers, evenly spaced."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.intp)


def _of_two_features(subject: Subject, shown: Indices) -> Figure:
    X = subject.X.toarray() if sp.issparse(subject.X) else subject.X
    names = subject.feature_name(0), subject.feature_name(1)
    scatter = Scatter(shown, np.asarray(X[shown], dtype=np.float64), *names)
    chart = _chart(scatter, "Decision boundary", "Samples, the boundary and its margin over the two features.")
    xs, ys = np.linspace(*chart.x_range, GRID), np.linspace(*chart.y_range, GRID)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(xs, ys)]).astype(subject.X.dtype)
    estimator = subject.estimator
    columns = getattr(subject.given, "columns", None)
    if columns is not None:
        grid = type(subject.given)({name: grid[:, k] for k, name in enumerate(columns)})
    if subject.is_binary:
        F = np.asarray(estimator.decision_function(grid), dtype=np.float64).reshape(GRID, GRID)
        contours = contour_generator(xs, ys, F)
        words = "The line is F = 0."
        if not hasattr(estimator, "n_updates_"):  # a perceptron has no margin to show
            chart.areas(contours.filled(-1.0, 1.0), "band")
            for level in (-1.0, 1.0):
                chart.curves(contours.lines(level), "edge")
            words = "The thick line is F = 0, the shaded band between the thin ones the margin, −1 ≤ F ≤ 1."
        chart.curves(contours.lines(0.0), "zero")
    else:
        winner, ahead = np.searchsorted(estimator.classes_, estimator.predict(grid)), lead(estimator, grid)
        for k in range(len(subject.classes)):
            contours = contour_generator(xs, ys, np.where(winner == k, ahead, -ahead).reshape(GRID, GRID))
            chart.areas(contours.filled(0.0, 2.0 * ahead.max()), f"region k{k % N_MARKS}")
            chart.curves(contours.lines(0.0), "edge")
        words = "The shades are the regions in which each class is predicted."
    return _finish(subject, chart, scatter, words)


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


def _of_feature_space(subject: Subject, part: Anatomy) -> Figure:
    """An orthogonal projection of the feature space: along w exactly, and across it where the samples spread most.

    With K of the shown samples and f = ⟨w, φ⟩, the part orthogonal to w has the Gram matrix K − ffᵀ/‖w‖²; its first principal
    component is read off the leading eigenvector of that matrix, centred. The same for every kernel, precomputed ones too.
    """
    assert part.problem is not None
    assert part.candidate is not None
    own = part.present[evenly(len(part.present), MOST_SHOWN)]
    f = part.F[own] - part.candidate.b
    G = part.problem.gram(own, own) - np.outer(f, f) / part.norm**2
    across = _leading(G, 1)[:, 0]
    scatter = Scatter(
        part.rows[own],
        np.column_stack([part.F[own] / part.norm, across]),
        "distance to the boundary, F/‖w‖",
        "first component orthogonal to w",
    )
    chart = _chart(
        scatter, "Decision boundary", "Samples by their distance to the boundary and one orthogonal component."
    )
    half, low, high = 1.0 / part.norm, *chart.y_range
    left, right = max(-half, chart.x_range[0]), min(half, chart.x_range[1])
    if left < right:
        chart.boxes([(left, low, right, high)], "band")
    for x, class_ in ((-half, "edge"), (half, "edge"), (0.0, "zero")):
        if chart.x_range[0] <= x <= chart.x_range[1]:
            chart.vertical(x, class_)
    space = "the space of the features" if part.problem.is_linear else "the kernel's feature space"
    words = (
        f"A projection of {space} onto a plane: horizontally the signed distance to the boundary (thick), with the "
        f"margin ±1/‖w‖ = ±{number(half)} (shaded); vertically the first principal component of what is orthogonal to w."
    )
    return _finish(subject, chart, scatter, words)


def _of_components(subject: Subject, shown: Indices) -> Figure:
    rows = subject.X[shown]
    if subject.is_precomputed:
        gram = np.asarray(subject.X[np.ix_(shown, shown)], dtype=np.float64)
        space = "the kernel's feature space"
    else:
        product = rows @ rows.T
        gram = np.asarray(product.toarray() if sp.issparse(product) else product, dtype=np.float64)
        space = "the features"
    scatter = Scatter(shown, _leading(gram, 2), "first principal component", "second principal component")
    chart = _chart(scatter, "Samples", "Samples over their first two principal components.")
    words = (
        f"A projection of {space} onto the first two principal components of the samples that are shown. The boundary "
        "does not project to a line, so that none is drawn."
    )
    return _finish(subject, chart, scatter, words)


def _leading(gram: Floats, count: int) -> Floats:
    """The first principal components of rows with this Gram matrix, as places (m, count); the largest entry is positive."""
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    m = len(gram)
    values, vectors = la.eigh(centred, subset_by_index=[max(m - count, 0), m - 1])
    places = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    signs = np.sign(places[np.abs(places).argmax(axis=0), np.arange(places.shape[1])])
    places = places * np.where(signs == 0, 1.0, signs)
    return np.pad(places, ((0, 0), (0, count - places.shape[1])))


def _chart(scatter: Scatter, title: str, description: str) -> Chart:
    low, high = scatter.places.min(axis=0), scatter.places.max(axis=0)
    span = np.where(high - low > 1e-12 * np.maximum(np.abs(high), 1.0), high - low, 2.0)
    middle = 0.5 * (low + high)
    low, high = middle - 0.55 * span, middle + 0.55 * span
    return Chart(title, description, scatter.x_label, scatter.y_label, (low[0], high[0]), (low[1], high[1]), height=400)


def _finish(subject: Subject, chart: Chart, scatter: Scatter, words: str) -> Figure:
    """Put the samples on top: class by shape and colour, support vectors filled, larger α larger, crosses for errors."""
    alpha, _ = strongest(subject.parts, subject.n)
    sizes = np.full(subject.n, SMALLEST)
    if alpha is not None:
        sizes = SMALLEST + (LARGEST - SMALLEST) * np.sqrt(alpha / max(float(alpha.max()), 1e-300))
    rows, entries = scatter.rows, []
    x, y = scatter.places[:, 0], scatter.places[:, 1]
    for k, name in enumerate(subject.classes):
        shape, colour = SHAPES[k % N_MARKS], f"k{k % N_MARKS}"
        own = subject.labels[rows] == k
        for is_support in (False, True):
            has = np.zeros(len(rows), dtype=bool) if alpha is None else alpha[rows] > 0
            mine = np.flatnonzero(own & (has == is_support))
            mine = mine[np.argsort(-sizes[rows[mine]], kind="stable")]
            class_ = f"mark {colour}{' full' if is_support else ''}"
            chart.marks(x[mine], y[mine], shape, class_, sizes[rows[mine]])
        entries.append((shape, f"mark {colour}", f"class {name}"))
    if alpha is not None:
        entries.append(("circle", "mark k0 full", "filled: support vector, larger with α" if subject.has_certificate
                        else "filled: a mistake was made here"))  # fmt: skip
    wrong = np.flatnonzero(subject.is_wrong[rows])
    chart.marks(x[wrong], y[wrong], "cross", "cross", 4.0)
    if len(wrong):
        entries.append(("cross", "cross", "training error"))
    fewer = (
        f" {number(len(rows))} of {number(subject.n)} samples are shown, evenly chosen."
        if len(rows) < subject.n
        else ""
    )
    return Figure(chart, entries, words + fewer)
