"""Newton's equations of a smoothed problem:  (Λ + σ Σ_bent c_j x̃_j x̃_jᵀ) v = g.

Two ways to solve them: by a matrix that is kept up to date and factored (few features), or by products with the bent samples'
rows alone (many). Λ is the identity, with a zero for a free bias.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from maxmargin.solvers.linear.conjugate_gradients import conjugate_gradients
from maxmargin.solvers.linear.rows import Rows, Signed
from maxmargin.typing import Floats, Indices

MOST_FACTORED = 3000
"""Features up to which a d × d matrix is kept, and factored each step."""

PRECISION = 0.3
"""The share of the residual that conjugate gradients may leave: the samples that are bent change with each step anyway."""

MOST_ROUNDS = 400
"""Conjugate-gradient rounds of one solution, at most."""


class Equations(ABC):
    """The matrix over some rows, with a constant feature behind each; `ridge` is the diagonal of Λ."""

    def __init__(self, rows: Rows, cost: Floats, constant: float, ridge: Floats) -> None:
        self.rows, self.cost, self.constant, self.ridge = rows, cost, constant, ridge

    @classmethod
    def over(cls, rows: Rows, cost: Floats, constant: float, ridge: Floats) -> "Equations":
        """By factoring where there are few features."""
        return (Factored if rows.shape[1] <= MOST_FACTORED else Iterated)(rows, cost, constant, ridge)

    @abstractmethod
    def turn(self, half: int, rows: Indices, weights: Floats) -> None:
        """Add Σ weight x̃x̃ᵀ over the listed samples of one half of the rows."""

    @abstractmethod
    def forget(self) -> None:
        """Begin again without any sample."""

    @abstractmethod
    def solve(self, right: Floats, sigma: float, bent: Any, is_over: Callable[[], bool]) -> Floats | None:
        """v, or something near it that leads downhill, as near as can be had before `is_over`; None where there is none."""

    def diagonal(self, sigma: float, n_bent: int) -> Floats:
        """Λ, with something to hold a free bias where no sample does."""
        return held(self.ridge, n_bent, sigma * float(self.cost.mean()))


class Factored(Equations):
    """By Cholesky's factors: d³/3 a solution, memory 2d²; the sums are kept for each half of the rows."""

    def __init__(self, rows: Rows, cost: Floats, constant: float, ridge: Floats) -> None:
        super().__init__(rows, cost, constant, ridge)
        self.gram = np.zeros((2, len(ridge), len(ridge)))

    def turn(self, half: int, rows: Indices, weights: Floats) -> None:
        """Add Σ weight x̃x̃ᵀ over the listed samples of one half of the rows."""
        self.rows.add_squares(rows, weights, self.constant, self.gram[half])

    def forget(self) -> None:
        """Begin again without any sample."""
        self.gram[:] = 0.0

    def solve(self, right: Floats, sigma: float, bent: Any, is_over: Callable[[], bool]) -> Floats | None:
        """v; with a stronger diagonal where the matrix is singular to rounding."""
        return solve_factored(
            self.gram[0] + self.gram[1], sigma, self.diagonal(sigma, int(np.count_nonzero(bent))), right
        )


class Iterated(Equations):
    """By conjugate gradients: two products with the rows of the bent samples a round, memory for a copy of these rows."""

    def turn(self, half: int, rows: Indices, weights: Floats) -> None:
        """Nothing is kept."""

    def forget(self) -> None:
        """Nothing is kept."""

    def solve(self, right: Floats, sigma: float, bent: Any, is_over: Callable[[], bool]) -> Floats | None:
        """Some way towards v."""
        product, squares = self.products(sigma, bent)
        ridge = self.diagonal(sigma, int(np.count_nonzero(bent)))
        return conjugate_gradients(
            lambda v: ridge * v + product(v),
            right,
            ridge + squares,
            precision=PRECISION,
            most_rounds=MOST_ROUNDS,
            is_over=is_over,
        )[0]

    def products(self, sigma: float, bent: Any) -> tuple[Callable[[Floats], Floats], Floats]:
        """(Products with σ Σ_bent c_j x̃_j x̃_jᵀ, its diagonal); each product overwrites the one before."""
        samples, rows = self.rows.gathered(np.flatnonzero(bent))
        weights = sigma * np.where(bent[samples], self.cost[samples], 0.0)
        A, squares = Signed(rows, np.ones(len(samples)), self.constant), np.zeros_like(self.ridge)
        rows.add_column_squares(weights, self.constant, squares)
        return lambda v: A.combine(weights * A.scores(v)), squares


def held(ridge: Floats, n_bent: int, stiffness: float) -> Floats:
    """Λ, with `stiffness` in place of a free bias's zero where no sample is bent; one bent sample makes the matrix definite.

    No less will do: anything added beside bent samples outweighs Λ along directions in which large features balance b.
    """
    return ridge if n_bent else np.asarray(np.where(ridge == 0.0, stiffness, ridge))


def solve_factored(gram: Floats, sigma: float, diagonal: Floats, right: Floats) -> Floats | None:
    """v with (diagonal + σ·gram) v = right, of gram the lower half; a stronger diagonal where that is singular to rounding."""
    for jitter in (0.0, 1e-12, 1e-9, 1e-6):
        H = sigma * gram
        at = np.diag_indices(len(H))
        H[at] = H[at] * (1.0 + jitter) + diagonal
        factor, info = scipy.linalg.lapack.dpotrf(H, lower=1, clean=0, overwrite_a=1)
        if info == 0:
            return np.asarray(scipy.linalg.lapack.dpotrs(factor, right, lower=1)[0])
    return None
