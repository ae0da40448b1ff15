"""A Newton step on the face: where the samples inside their box go if sample i leaves and all others stay on their bounds.

    K_SS Δ + μ = β_i k_Si,   Σ Δ = β_i   (the second, and μ, where the bias is free)

If no bound is met on the way this is the solution without sample i; else it is a good start. One factorisation serves all
samples. Of a sample inside the box, i ∈ S, the column of the inverse tells: Δ = −β_i (A⁻¹)_{·i} / (A⁻¹)_{ii}.
"""

from collections.abc import Callable

import numpy as np
import scipy.linalg

from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.typing import Floats, Indices

MOST = 2500
"""Samples inside their box up to which the factorisation pays."""

RIDGE = 1e-10
"""Added to the diagonal, as a share of its mean: twins make it singular, and a start need not be exact."""


def inside_their_box(full: Full) -> Indices:
    """The samples with 0 < α < c, and no doubt about it."""
    alpha, cost = np.abs(full.beta), full.problem.cost
    return np.flatnonzero((alpha > 1e-9 * cost) & (alpha < (1 - 1e-9) * cost))


class Face:
    """The samples inside their box, and the factorised equations between them; empty where there are more than `most`."""

    def __init__(self, full: Full, gram: Callable[[Indices, Indices], Floats], most: int = MOST) -> None:
        problem = full.problem
        self._full, self._gram = full, gram
        self.samples = inside_their_box(full)
        if len(self.samples) > most:
            self.samples = self.samples[:0]
        size, border = len(self.samples), int(problem.bias.is_free)
        if size == 0:
            return
        A = np.zeros((size + border, size + border))
        A[:size, :size] = gram(self.samples, self.samples)
        A[np.diag_indices(size)] += RIDGE * float(A.diagonal().mean()) + np.finfo(np.float64).tiny
        if border:
            A[size, :size] = A[:size, size] = 1.0
        self._factors = scipy.linalg.lu_factor(A, overwrite_a=True, check_finite=False)

    def moves(self, samples: Indices) -> Floats:
        """Δ for each of the samples, (len(samples), |S|); no move where the equations have no answer."""
        size = len(self.samples)
        if size == 0:
            return np.zeros((len(samples), 0))
        beta = self._full.beta[samples]
        right = np.ones((len(self._factors[0]), len(samples)))
        right[:size] = self._gram(self.samples, samples)
        place = np.searchsorted(self.samples, samples)
        is_in = self.samples[np.minimum(place, size - 1)] == samples
        right[:, is_in] = 0.0
        right[place[is_in], np.flatnonzero(is_in)] = 1.0
        # A copy of the pivots: LAPACK's wrapper counts them from one and back in place, under the eyes of other threads.
        factors = (self._factors[0], self._factors[1].copy())
        found = scipy.linalg.lu_solve(factors, right, check_finite=False)[:size] * beta
        own = found[place[is_in], np.flatnonzero(is_in)]
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, is_in] *= -beta[is_in] / own
        return np.ascontiguousarray(np.where(np.isfinite(found).all(axis=0), found, 0.0).T)
