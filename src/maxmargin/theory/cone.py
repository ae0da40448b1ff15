"""Is a vector a combination of others with coefficients ≥ 0? The coefficients, or a direction that proves that it is not.

    find x ≥ 0 with Σ x_j a_j = b,      or d with ⟨d, a_j⟩ ≤ 0 for all j and ⟨d, b⟩ > 0      (Farkas, 1902)

The first phase of the simplex method in rational arithmetic, with Bland's rule, so that it cannot cycle.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

Vector = tuple[Fraction, ...]


class Coefficients(NamedTuple):
    """x ≥ 0 with Σ x_j a_j = b."""

    x: Vector


class Separator(NamedTuple):
    """d with ⟨d, a_j⟩ ≤ 0 for all j, and ⟨d, b⟩ > 0."""

    d: Vector


def inner(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """⟨u, v⟩."""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def in_cone(columns: Sequence[Vector], b: Vector) -> Coefficients | Separator:
    """Either of the two; exactly one exists. A tableau of len(b) rows, and as many pivots as the problem is hard."""
    n_rows, n = len(b), len(columns)
    signs = [-1 if value < 0 else 1 for value in b]
    rows = [
        [signs[i] * column[i] for column in columns] + [Fraction(int(i == k)) for k in range(n_rows)] + [signs[i] * b[i]]
        for i in range(n_rows)
    ]
    basis = [n + i for i in range(n_rows)]
    # the sum of what is missing, in terms of the columns: its entries are −⟨d, a_j⟩, with the sign of each row
    costs = [-sum((row[j] for row in rows), Fraction(0)) for j in range(n)] + [Fraction(0)] * n_rows
    costs.append(-sum((row[-1] for row in rows), Fraction(0)))
    while (enters := next((j for j in range(n) if costs[j] < 0), None)) is not None:
        ratios = [(row[-1] / row[enters], basis[i], i) for i, row in enumerate(rows) if row[enters] > 0]
        _, _, leaves = min(ratios)
        pivot = rows[leaves][enters]
        rows[leaves] = top = [value / pivot for value in rows[leaves]]
        for i in range(n_rows):
            if i != leaves and rows[i][enters]:
                factor = rows[i][enters]
                rows[i] = [value - factor * t for value, t in zip(rows[i], top, strict=True)]
        factor = costs[enters]
        costs = [value - factor * t for value, t in zip(costs, top, strict=True)]
        basis[leaves] = enters
    if costs[-1] == 0:
        values = dict(zip(basis, (row[-1] for row in rows), strict=True))
        return Coefficients(tuple(values.get(j, Fraction(0)) for j in range(n)))
    return Separator(tuple(signs[i] * (1 - costs[n + i]) for i in range(n_rows)))
