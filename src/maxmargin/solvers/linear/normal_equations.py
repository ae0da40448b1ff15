"""Newton's equations of a smoothed problem:  (Λ + σ Σ_bent c_j x̃_j x̃_jᵀ) v = g.

Two ways to solve them: by a matrix that is kept up to date and factored (few features), or by products with the bent samples'
rows alone (many). Λ is the identity, with a zero for a free bias.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from maxmargin.solvers.linear.rows import Rows, Signed, conjugate_gradients
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True)
class ProximalNewtonTuning:
    """Numbers set by hand for `ProximalNewton`; compared on a9a, ijcnn1, covtype, w8a, phishing and magic."""

    factored: int = 3000
    """Features up to which a d × d matrix is kept, and factored each step: 72 MB, and 9e9 operations."""

    inexact: float = 0.1
    """Share that an inner iteration may leave: conjugate gradients of the residual, the search along a step of the slope, the
    steps of a round of the gap. The samples that are bent change with each step anyway."""

    part: int = 8
    """Share of the samples to begin with: one of so many. It has at least so many samples for each feature, and the next one has
    twice so many times more."""

    most: int = 4000
    """Samples to begin with, at most, unless the features ask for more; covtype takes a quarter longer without."""

    rough: float = 1e-2
    """Share of its objective below which the promise of a step ends a part."""

    easy: float = 30.0
    """c‖x‖² of a typical sample up to which the whole cost counts at once on that part; mushrooms with C = 100 takes a fifth
    longer with ∞, with a free bias half as long again."""

    cost_step: float = 100.0
    """Factor from one cost to the next."""

    growth: float = 4.0
    """How many times larger σ is from round to round, or its root after a round of many steps; where a solution is near σ begins
    at twice as much. 1/σ is the width of the smoothed corner, in units of the margin."""

    longest: int = 25
    """Newton steps of a round, at most."""


TUNING = ProximalNewtonTuning()


class Equations(ABC):
    """The matrix over some rows, with a constant feature behind each; `ridge` is the diagonal of Λ."""

    def __init__(self, rows: Rows, cost: Floats, constant: float, ridge: Floats) -> None:
        self.rows, self.cost, self.constant, self.ridge = rows, cost, constant, ridge

    @abstractmethod
    def solve(self, right: Floats, sigma: float, bent: Any, is_over: Callable[[], bool]) -> Floats | None:
        """v, or something near it that leads downhill, as near as can be had before `is_over`; None where there is none."""

    def turn(self, rows: Indices, weights: Floats) -> None:  # noqa: B027
        """Add Σ weight x̃x̃ᵀ over the listed samples, where that is kept."""

    def forget(self) -> None:  # noqa: B027
        """Begin again without any sample."""

    def diagonal(self, sigma: float, n_bent: int) -> Floats:
        """Λ, with something to hold a free bias where no sample does."""
        return held(self.ridge, n_bent, sigma * float(self.cost.mean()))


class Factored(Equations):
    """By Cholesky's factors: d³/3 a solution, memory 2d²."""

    def __init__(self, rows: Rows, cost: Floats, constant: float, ridge: Floats) -> None:
        super().__init__(rows, cost, constant, ridge)
        self.gram = np.zeros((len(ridge), len(ridge)))

    def turn(self, rows: Indices, weights: Floats) -> None:
        """Add Σ weight x̃x̃ᵀ over the listed samples."""
        self.rows.add_squares(rows, weights, self.constant, self.gram)

    def forget(self) -> None:
        """Begin again without any sample."""
        self.gram[:] = 0.0

    def solve(self, right: Floats, sigma: float, bent: Any, is_over: Callable[[], bool]) -> Floats | None:
        """v; with a stronger diagonal where the matrix is singular to rounding."""
        return solve_factored(self.gram, sigma, self.diagonal(sigma, int(np.count_nonzero(bent))), right)


class Iterated(Equations):
    """By conjugate gradients: two products with the rows of the bent samples a round, memory for a copy of these rows."""

    def solve(self, right: Floats, sigma: float, bent: Any, is_over: Callable[[], bool]) -> Floats | None:
        """Some way towards v."""
        product, squares = self.products(sigma, bent)
        return solve_iterated(product, squares, self.diagonal(sigma, int(np.count_nonzero(bent))), right, is_over)

    def products(self, sigma: float, bent: Any) -> tuple[Callable[[Floats], Floats], Floats]:
        """(Products with σ Σ_bent c_j x̃_j x̃_jᵀ, its diagonal); each product overwrites the one before."""
        samples, rows = self.rows.gathered(np.flatnonzero(bent))
        weights = sigma * np.where(bent[samples], self.cost[samples], 0.0)
        diagonal, everybody, step = np.zeros_like(self.ridge), np.arange(len(samples)), rows.least_rows()
        for start in range(0, len(samples), step):
            block = rows.take(everybody[start : start + step])
            squared = replace(block, arrays=(*block.arrays[:-1], np.square(block.arrays[-1], dtype=np.float64)))
            squared.add(everybody[: block.shape[0]], weights[start : start + step], self.constant**2, diagonal)
        A = Signed(rows, np.ones(len(samples)), self.constant)
        return lambda v: A.combine(weights * A.scores(v)), diagonal


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


def solve_iterated(
    product: Callable[[Floats], Floats], squares: Floats, diagonal: Floats, right: Floats, is_over: Callable[[], bool]
) -> Floats:
    """Some way towards v with diagonal · v + product(v) = right; `squares` is the diagonal of what `product` multiplies with."""
    return conjugate_gradients(
        lambda v: diagonal * v + product(v), right, diagonal + squares, precision=TUNING.inexact, is_over=is_over
    )[0]
