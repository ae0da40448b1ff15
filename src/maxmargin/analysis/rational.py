"""Arithmetic without rounding: floats are rational numbers, and these functions treat them so."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from maxmargin.typing import Floats


def exact_score(w: Floats, b: float, x: Floats) -> Fraction:
    """⟨w, x⟩ + b without rounding."""
    used = np.flatnonzero((w != 0) & (x != 0))
    return sum((Fraction(float(w[k])) * Fraction(float(x[k])) for k in used), Fraction(float(b)))


def solve_exactly(A: Floats, rhs: Sequence[int], guess: Floats) -> list[Fraction] | None:
    """A rational p with A p = rhs, exactly; None where there is none.

    Where the solution is not unique the undetermined entries take the values of `guess`. Fraction-free elimination (Bareiss,
    1968): O(rows · columns²) products of integers that grow with the rank, so it is meant for up to about a hundred columns.
    """
    n_columns = A.shape[1]
    rows = [_integers(A[i], rhs[i]) for i in range(A.shape[0]) if np.any(A[i]) or rhs[i]]
    pivots: list[int] = []
    previous = 1
    for column in range(n_columns):
        rank = len(pivots)
        chosen = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if chosen is None:
            continue
        rows[rank], rows[chosen] = rows[chosen], rows[rank]
        top = rows[rank]
        pivot = top[column]
        for i in range(rank + 1, len(rows)):
            row = rows[i]
            factor = row[column]
            rows[i] = [(pivot * a - factor * t) // previous for a, t in zip(row, top, strict=True)]
        pivots.append(column)
        previous = pivot
    if any(row[n_columns] for row in rows[len(pivots) :]):
        return None
    solution = [Fraction(float(value)) for value in guess]
    for row, column in zip(reversed(rows[: len(pivots)]), reversed(pivots), strict=True):
        known = sum((row[k] * solution[k] for k in range(column + 1, n_columns) if row[k]), Fraction(0))
        solution[column] = (row[n_columns] - known) / row[column]
    return solution


def _integers(row: Floats, right: int) -> list[int]:
    """The equation row · p = right times the power of two that makes all of its numbers whole."""
    ratios = [float(value).as_integer_ratio() for value in row] + [(right, 1)]
    common = max(denominator for _, denominator in ratios)
    return [numerator * (common // denominator) for numerator, denominator in ratios]
