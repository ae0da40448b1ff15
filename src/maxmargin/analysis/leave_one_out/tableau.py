"""Where the others go if sample i leaves: exact, by pivoting on equations that all samples share.

The samples inside their box and those near enough to a bound to change sides make one tableau (`_loops.pivoting`). Whoever moves
beyond it shows in the gap, which is summed over all samples afterwards, and can be added.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from maxmargin._loops.leave_one_out.fields import HIGH, INSIDE, LOW
from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.threads import together
from maxmargin.typing import Floats, Indices

MOST = 2500
"""Samples inside their box up to which their equations are solved."""

NEAR = 0.05
"""Samples outside the margin are in the tableau from the start if they are this close to it."""

RIDGE = 1e-7
"""Added to the diagonal, as a share of its mean, for the sake of twins and of data with few features. It weighs moves away from
the full solution, not β itself, so that it costs about RIDGE · ‖Δβ‖² of the gap."""

SLACK, ROUNDS, STEPS, CHANGES = 1e-9, 20, 200, 300
"""What counts as on the bound; the rounds of many changes and of one; how many samples may change sides."""

PARTS = 2
"""The products are made in so many pieces, whatever the number of threads: their bits depend on it."""


def likely_sides(full: Full) -> Indices:
    """Where each sample is at the optimum, by both of its conditions: α + m/k ≤ 0 at zero, ≥ c at its cost, else inside."""
    problem = full.problem
    m = 1.0 - problem.y * (full.f + full.b)
    with np.errstate(over="ignore"):
        t = np.abs(full.beta) + m / np.maximum(full.squares, np.finfo(np.float64).tiny)
    is_positive = problem.y > 0
    at_zero, at_cost = np.where(is_positive, LOW, HIGH), np.where(is_positive, HIGH, LOW)
    return np.where(t <= 0, at_zero, np.where(t >= problem.cost, at_cost, INSIDE))


def may_move(full: Full, near: float) -> Indices:
    """The samples inside their box, the others that have a share, and those closer to the margin than `near`: nearest first."""
    problem, inside = full.problem, likely_sides(full) == INSIDE
    m = 1.0 - problem.y * (full.f + full.b)
    rest = np.flatnonzero(~inside & ((full.beta != 0.0) | ((m > -near) & (problem.cost > 0))))
    distance = np.where(full.beta[rest] != 0.0, 0.0, -m[rest])
    return np.concatenate((np.flatnonzero(inside), rest[np.argsort(distance, kind="stable")]))


class Tableau:
    """The samples that may change sides and the equations between them; empty where these are too many or have no answer.

    Parameters
    ----------
    full : Full
        The problem on all samples.
    gram : callable
        (rows, columns) → their Gram matrix, with the constant of a penalised bias.
    max_bytes : int
        What it may take, the matrices included from which it is made.
    n_threads : int
        For the products.

    Attributes
    ----------
    samples : int array
        Who takes part: `may_move(full, NEAR)` in some order, and those added since; or nobody.

    Notes
    -----
    Cost: |F|³ + 2|F|²|N| + |F||N|² multiplications once, then for each sample (rounds) × (changes) × |samples|.
    """

    def __init__(
        self, full: Full, gram: Callable[[Indices, Indices], Floats], max_bytes: int, n_threads: int = 1
    ) -> None:
        self._full, self._n_threads, self._max_bytes = full, n_threads, max_bytes
        self._border = int(full.problem.bias.is_free)
        self.samples = np.empty(0, dtype=np.intp)
        everyone = may_move(full, NEAR)
        inside = everyone[: np.count_nonzero(likely_sides(full) == INSIDE)]
        self._size, self._n_inside = len(inside), len(inside) + self._border
        is_solvable = self._border <= len(inside) <= MOST and len(everyone) > 0
        if not is_solvable or not self._fits(len(everyone) + 1):
            return
        K = gram(inside, inside)
        mean = float(K.diagonal().mean()) if len(inside) else float(full.squares[everyone].mean())
        # As Σβ = 0 where the bias is free, a constant changes nothing there, and no row is zero any more.
        self._gram, self._constant, self._ridge = gram, mean * self._border, RIDGE * mean + np.finfo(np.float64).tiny
        K += self._constant
        K[np.diag_indices(len(K))] += self._ridge
        self._Q = _bordered(_inverse(K)) if self._border else _inverse(K)
        if np.isfinite(self._Q).all():
            self.samples = inside
            self.widen(everyone[len(inside) :])

    def widen(self, more: Indices) -> None:
        """Let more samples take part, if there is room for them; O(|F|² · len(more))."""
        more = np.setdiff1d(more, self.samples)
        if not self._fits(len(self._Q) + len(more)):
            return
        n, old = self._n_inside, len(self._Q)
        Q = np.empty((old + len(more), old + len(more)))
        Q[:old, :old] = self._Q
        right = np.ones((n, len(more)))
        right[: self._size] = self._gram(self.samples[: self._size], more) + self._constant

        def share(part: Indices) -> None:
            Q[:n, old + part] = V = Q[:n, :n] @ right[:, part]
            Q[old + part, :n] = V.T
            S = self._gram(self.samples[self._size :], more[part]) + self._constant - Q[n:old, :n] @ right[:, part]
            Q[n:old, old + part], Q[old + part, n:old] = S, S.T
            Q[old:, old + part] = self._gram(more, more[part]) + self._constant - right.T @ V
            Q[old + part, old + part] += self._ridge

        parts = [part for part in np.array_split(np.arange(len(more)), PARTS) if len(part)]
        together([partial(share, part) for part in parts], self._n_threads)
        self._Q, self.samples = Q, np.concatenate((self.samples, more))
        self._settle()

    def _fits(self, size: int) -> bool:
        return 4 * 8 * size**2 <= self._max_bytes

    def _settle(self) -> None:
        """The full solution, moved to where the equations hold: g = 0 inside, the others on their bounds."""
        full, n, everyone = self._full, self._n_inside, np.arange(len(self.samples))
        self._place = everyone + self._border * (everyone >= self._size)
        upper = (full.problem.cost * full.problem.y)[self.samples]
        self._lo, self._hi = self._spread(np.minimum(upper, 0.0), -np.inf), self._spread(np.maximum(upper, 0.0), np.inf)
        self._sides = self._spread(likely_sides(full)[self.samples], INSIDE)
        self._beta = self._spread(full.beta[self.samples], full.b)
        self._g = self._spread((full.f + full.b - full.problem.y)[self.samples], float(full.beta.sum()))
        bounds = np.where(self._sides == LOW, self._lo, self._hi)[n:]
        moves, left_over = bounds - self._beta[n:], self._g[:n]
        self._beta[:n] -= self._Q[:n, :n] @ left_over + self._Q[:n, n:] @ moves
        self._g[n:] += self._Q[n:, n:] @ moves - self._Q[n:, :n] @ left_over
        self._beta[n:], self._g[:n] = bounds, 0.0
        self._pivot(np.array([-1]))

    def _spread(self, values: Any, bias: float) -> Any:
        """One value a sample, and one for the bias, in the order of the tableau."""
        out = np.full(len(self._Q), bias, dtype=values.dtype)
        out[self._place] = values
        return out

    def _pivot(self, jobs: Indices) -> Floats:
        from maxmargin._loops.leave_one_out.pivoting import leave_out_each

        found = np.empty((len(jobs), len(self._Q)))
        leave_out_each(
            self._Q, self._n_inside, self._beta, self._g, self._lo, self._hi, self._sides, jobs, SLACK, ROUNDS,
            STEPS, CHANGES, found,
        )  # fmt: skip
        return found

    def without(self, samples: Indices) -> Floats:
        """β of `self.samples` in the solution without each of the given ones, (len(samples), len(self.samples))."""
        if not len(self.samples):
            return np.empty((len(samples), 0))
        order = np.argsort(self.samples)
        at = order[np.minimum(np.searchsorted(self.samples, samples, sorter=order), len(order) - 1)]
        return self._pivot(np.where(self.samples[at] == samples, self._place[at], -1))[:, self._place]


def _inverse(K: Floats) -> Floats:
    """The inverse of a symmetric positive definite matrix, which is overwritten; NaN where it is none."""
    if not len(K):  # LAPACK refuses an empty matrix, and says so on stdout
        return K
    factor, failed = scipy.linalg.lapack.dpotrf(K.T, overwrite_a=1)
    if failed:
        return np.full_like(K, np.nan)
    upper, _ = scipy.linalg.lapack.dpotri(factor, overwrite_c=1)
    P = upper + upper.T
    P[np.diag_indices(len(P))] *= 0.5
    return np.asarray(P)


def _bordered(P: Floats) -> Floats:
    """The inverse of [[K, 1], [1ᵀ, 0]] from P = K⁻¹."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a matrix that is singular to rounding
        p = P.sum(axis=1)
        total = float(p.sum())
    out = np.empty((len(P) + 1, len(P) + 1))
    out[:-1, :-1] = P - np.outer(p / total, p)
    out[-1, :-1] = out[:-1, -1] = p / total
    out[-1, -1] = -1.0 / total
    return out
