"""Where F = 0 and F = ±1 run in the square of the page, and which class is predicted where, as outlines to draw."""

from copy import copy
from itertools import combinations
from typing import Any

import numpy as np
from contourpy import contour_generator

from maxmargin.estimators.per_sample import Subject, grid_over
from maxmargin.html_report.charts import rings
from maxmargin.lab.state import HALF
from maxmargin.typing import Floats

GRID = 121
"""Points of the grid along each axis: a step is 1/12 of a unit, about five pixels."""

DIGITS = 3
"""Decimals of a place in the picture: a pixel is about 0.015."""

Outline = list[list[float]]
"""Points (x, y)."""


def grid(resolution: int = GRID) -> tuple[Floats, Floats, Floats]:
    """(x₀, x₁) of a grid over the square, and its points as rows."""
    return grid_over(np.full(2, -HALF), np.full(2, HALF), resolution)


def response(subject: Subject) -> Floats:
    """F on the grid; of more than two classes the lead of each, (k, r, r): it is predicted where its lead is positive."""
    rows = grid()[2]
    if subject.is_binary:
        return np.asarray(subject.estimator.decision_function(rows), dtype=np.float64).reshape(GRID, GRID)
    return leads(subject.estimator, rows).reshape(-1, GRID, GRID)


def leads(model: Any, rows: Floats) -> Floats:
    """Of each class and row, by how much it is ahead; continuous, so that boundaries are smooth.

    One-vs-rest: F_k − max_{l ≠ k} F_l. One-vs-one: the least F against another class; where each class loses once, the first is
    predicted, so that its lead is the others' lack of one.
    """
    count = len(model.classes_)
    if not hasattr(model, "decision_function_shape"):
        F = np.asarray(model.decision_function(rows)).T
        return np.array([F[k] - np.delete(F, k, axis=0).max(axis=0) for k in range(count)])
    pairs = copy(model).set_params(decision_function_shape="ovo").decision_function(rows)
    lead = np.full((count, len(rows)), np.inf)
    for F, (i, j) in zip(np.asarray(pairs).T, combinations(range(count), 2), strict=True):
        lead[i], lead[j] = np.minimum(lead[i], F), np.minimum(lead[j], -F)
    lead[0] = -lead[1:].max(axis=0)
    return lead


def outlines(subject: Subject, values: Floats) -> dict[str, Any]:
    """The boundary, the margin's edges and the band between them, and the region of each class."""
    if not subject.is_binary:
        lines = [line for lead in values for line in level(lead, 0.0)]
        return {"zero": lines, "edges": [], "band": [], "regions": [_above(lead) for lead in values]}
    found: dict[str, Any] = {"zero": level(values, 0.0), "edges": [], "band": [], "regions": [_above(-values), _above(values)]}
    if subject.has_margin:
        found["edges"] = [*level(values, -1.0), *level(values, 1.0)]
        found["band"] = between(values, -1.0, 1.0)
    return found


def _above(values: Floats) -> list[Outline]:
    return between(values, 0.0, max(float(values.max()), 0.0) + 1.0)


def level(values: Floats, height: float) -> list[Outline]:
    """The lines where values on a grid over the square pass a height."""
    return [_rounded(line) for line in _contours(values).lines(height)]


def between(values: Floats, low: float, high: float) -> list[Outline]:
    """The rings, holes included, of where they lie between two heights."""
    return [_rounded(ring) for ring in rings(_contours(values).filled(low, high))]


def _contours(values: Floats) -> Any:
    xx0, xx1, _ = grid(len(values))
    return contour_generator(xx0, xx1, values)


def _rounded(places: Any) -> Outline:
    found: Outline = np.round(places, DIGITS).tolist()
    return found
