"""Quadratic functions in rational arithmetic: values, gradients, convexity, and the least value."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.theory.cone import Vector, inner


class Minimum(NamedTuple):
    """The least value of a function, −∞ if there is none, and a point where it is taken (None then)."""

    value: Fraction | float
    x: Vector | None


@dataclass(frozen=True)
class Quadratic:
    """f(x) = ½xᵀAx + ⟨b, x⟩ + c, with rational numbers; floats are taken as the rational numbers that they are.

    Parameters
    ----------
    A : matrix (d, d)
        Symmetric.
    b : vector (d,)
    c : number, default 0

    Examples
    --------
    >>> from maxmargin.theory import Quadratic
    >>> f = Quadratic([[2, 0], [0, 0]], [0, 1], 3)
    >>> print(f.value([1, 2]), [str(v) for v in f.gradient([1, 2])], f.is_convex, f.minimum().value)
    6 ['2', '1'] True -inf
    >>> Quadratic.square(1).value([3])
    Fraction(9, 1)
    """

    A: Any
    b: Any
    c: Any = 0

    def __post_init__(self) -> None:
        try:
            A, b = [rational_vector(row) for row in self.A], rational_vector(self.b)
            c = rational_vector([self.c])[0]
        except TypeError:
            A, b, c = [], (), Fraction(0)
        is_square = len(A) == len(b) > 0 and all(len(row) == len(b) for row in A)
        if not is_square or any(A[i][j] != A[j][i] for i in range(len(b)) for j in range(i)):
            raise InvalidInputError("A quadratic function needs a symmetric matrix A (d, d), a vector b (d,) and a number c.")
        for name, value in (("A", tuple(A)), ("b", b), ("c", c)):
            object.__setattr__(self, name, value)

    @classmethod
    def affine(cls, b: Any, c: Any = 0) -> "Quadratic":
        """⟨b, x⟩ + c."""
        return cls([[0] * len(b)] * len(b), b, c)

    @classmethod
    def square(cls, d: int, scale: Any = 1) -> "Quadratic":
        """scale · ‖x‖² of d variables."""
        return cls([[2 * Fraction(scale) * int(i == j) for j in range(d)] for i in range(d)], [0] * d)

    @property
    def d(self) -> int:
        """The number of variables."""
        return len(self.b)

    @property
    def is_affine(self) -> bool:
        """Whether A = 0."""
        return not any(any(row) for row in self.A)

    @property
    def is_convex(self) -> bool:
        """Whether A is positive semi-definite: elimination with a positive pivot as long as there is one. O(d³)."""
        rows, left = [list(row) for row in self.A], set(range(self.d))
        while left:
            k = max(left, key=lambda i: rows[i][i])
            if rows[k][k] <= 0:  # what is left must then be zero
                return all(rows[i][j] == 0 for i in left for j in left)
            left.remove(k)
            for i in left:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [value - factor * top for value, top in zip(rows[i], rows[k], strict=True)]
        return True

    def value(self, x: Any) -> Fraction:
        """f(x), exactly."""
        x = self.point(x)
        return inner(self._times(x), x) / 2 + inner(self.b, x) + self.c  # type: ignore[no-any-return]

    def gradient(self, x: Any) -> Vector:
        """Ax + b, exactly."""
        return tuple(a + b for a, b in zip(self._times(self.point(x)), self.b, strict=True))

    def minimum(self) -> Minimum:
        """Its least value over all x, and where: −∞ unless A is positive semi-definite and Ax = −b has a solution."""
        x = solve_fractions(self.A, [-value for value in self.b]) if self.is_convex else None
        return Minimum(-math.inf, None) if x is None else Minimum(self.value(x), x)

    def point(self, x: Any) -> Vector:
        """x as d rational numbers."""
        point = rational_vector(x)
        if len(point) != self.d:
            raise InvalidInputError(f"x has {len(point)} entries where {self.d} are wanted.")
        return point

    def _times(self, x: Vector) -> Vector:
        return tuple(inner(row, x) for row in self.A)

    @staticmethod
    def combination(weights: Sequence[Fraction], functions: "Sequence[Quadratic]") -> "Quadratic":
        """Σ weight · function."""
        d, pairs = functions[0].d, list(zip(weights, functions, strict=True))
        A = [[sum((v * f.A[i][j] for v, f in pairs), Fraction(0)) for j in range(d)] for i in range(d)]
        b = [sum((v * f.b[i] for v, f in pairs), Fraction(0)) for i in range(d)]
        return Quadratic(A, b, sum((v * f.c for v, f in pairs), Fraction(0)))


def rational_vector(values: Any) -> Vector:
    """Numbers as fractions: integers, floats (exactly), numpy's, fractions; nothing infinite."""
    numbers = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        return tuple(Fraction(value) for value in numbers)
    except (ValueError, OverflowError):
        raise InvalidInputError(f"{values!r} where finite numbers are wanted.") from None


def solve_fractions(A: Sequence[Sequence[Fraction]], rhs: Sequence[Fraction]) -> Vector | None:
    """An x with Ax = rhs, zero where it is not determined; None if there is none. Gauss and Jordan, O(d³)."""
    rows = [[*row, right] for row, right in zip(A, rhs, strict=True)]
    n_columns = len(rows[0]) - 1
    pivots: list[int] = []
    for column in range(n_columns):
        rank = len(pivots)
        chosen = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if chosen is None:
            continue
        rows[rank], rows[chosen] = rows[chosen], rows[rank]
        rows[rank] = top = [value / rows[rank][column] for value in rows[rank]]
        for i in range(len(rows)):
            if i != rank and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [value - factor * t for value, t in zip(rows[i], top, strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    x = [Fraction(0)] * n_columns
    for row, column in zip(rows, pivots, strict=False):
        x[column] = row[-1]
    return tuple(x)
