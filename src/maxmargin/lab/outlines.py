"""Where F = 0 and F = ±1 run in the square of the page, and which class is predicted where, as outlines to draw."""

from typing import Any

import numpy as np
from contourpy import contour_generator
from scipy.ndimage import gaussian_filter

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
    """F on the grid; of more than two classes the number of the predicted one."""
    assert subject.plane is not None
    return subject.plane.response(np.full(2, -HALF), np.full(2, HALF), GRID)[2]


def outlines(subject: Subject, values: Floats) -> dict[str, Any]:
    """The boundary, the margin's edges and the band between them, and the region of each class."""
    count = len(subject.classes)
    if count > 2:
        shares = [gaussian_filter((values == k).astype(np.float64), 1.0, mode="nearest") for k in range(count)]
        lines = [line for share in shares for line in level(share, 0.5)]
        return {"zero": lines, "edges": [], "band": [], "regions": [between(share, 0.5, 2.0) for share in shares]}
    least, most = float(values.min()) - 1.0, float(values.max()) + 1.0
    found = {"zero": level(values, 0.0), "edges": [], "band": []}
    found["regions"] = [between(values, min(least, -1.0), 0.0), between(values, 0.0, max(most, 1.0))]
    if subject.has_margin:
        found["edges"] = [*level(values, -1.0), *level(values, 1.0)]
        found["band"] = between(values, -1.0, 1.0)
    return found


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
