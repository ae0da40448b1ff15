"""Where the others go if sample i leaves: exact, by pivoting on equations that all samples share.

The samples inside their box and those near enough to the margin to change sides make one tableau (`_loops.pivoting`). What moves
beyond it shows in the gap, which is summed over all samples afterwards, and can be added.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg

from maxmargin._loops.leave_one_out.fields import HIGH, INSIDE, LOW
from maxmargin.analysis.leave_one_out.full import TUNING, Full
from maxmargin.threads import in_pieces
from maxmargin.typing import Flags, Floats, Indices

if TYPE_CHECKING:
    from maxmargin.analysis.leave_one_out.equations import Products

NOTHING = float(np.sqrt(np.finfo(np.float64).eps))
"""Distance from a bound or from the margin that counts as none."""


class Pivoted(NamedTuple):
    """β of a tableau's samples, a row a job, and whether the pivots of the job have ended there."""

    beta: Floats
    is_settled: Flags


def sides_of(alpha: Floats, slack: Floats, squares: Floats, cost: Floats, y: Floats) -> Indices:
    """Where each sample is at the optimum, by both of its conditions: α + m/k ≤ 0 at zero, ≥ c at its cost, else inside."""
    with np.errstate(over="ignore"):
        t = alpha + slack / np.maximum(squares, np.finfo(np.float64).tiny)
    at_zero, at_cost = np.where(y > 0, LOW, HIGH), np.where(y > 0, HIGH, LOW)
    return np.where(t <= 0, at_zero, np.where(t >= cost, at_cost, INSIDE))


class Tableau:
    """The samples that may change sides and the equations between them; empty where these are too many or have no answer.

    Parameters
    ----------
    full : Full
        The problem on all samples.
    products : LinearProducts or KernelProducts
        Inner products of its samples, with the constant of a penalised bias.
    max_bytes : int
        What it may take, the matrices included from which it is made.
    n_threads : int
        For the products.
    near : float
        The distance from the margin up to which a sample without a share takes part from the start.

    Attributes
    ----------
    samples : int array
        The samples that take part: those inside their box first. In the matrices a free bias comes before them.

    Notes
    -----
    Cost: |F|³ + 2|F|²|N| + |F||N|² multiplications once, then for each sample (rounds) × (changes) × |samples|.
    """

    def __init__(self, full: Full, products: "Products", max_bytes: int, n_threads: int = 1, near: float = TUNING.near) -> None:
        self._full, self._products, self._n_threads, self._max_bytes = full, products, n_threads, max_bytes
        self._border = int(full.problem.bias.is_free)
        self.samples = np.empty(0, dtype=np.intp)
        problem, slack = full.problem, full.slack
        sides = sides_of(np.abs(full.beta), slack, full.squares, problem.cost, problem.y)
        by_distance = np.argsort(np.abs(slack), kind="stable")
        by_distance = by_distance[problem.cost[by_distance] > 0]
        is_inside = sides[by_distance] == INSIDE
        # Where a free bias has nobody inside to hold it, the nearest sample begins there.
        inside = np.sort(by_distance[is_inside]) if is_inside.any() else by_distance[: self._border]
        others = by_distance[(np.abs(slack[by_distance]) < near) | (full.beta[by_distance] != 0.0)]
        self._n_inside = self._border + len(inside)
        if len(inside) + len(others) == 0 or not self._room() >= len(inside):
            return
        products.join(inside)
        K = products.gram(inside, inside)
        mean = float(K.diagonal().mean()) if len(inside) else float(full.squares[others].mean())
        # As Σβ = 0 where the bias is free, a constant changes nothing there, and no row is zero any more.
        self._constant, self._ridge = mean * self._border, TUNING.ridge * mean + np.finfo(np.float64).tiny
        K += self._constant
        K[np.diag_indices(len(K))] += self._ridge
        self._Q = _bordered(_inverse(K)) if self._border else _inverse(K)
        if np.isfinite(self._Q).all():
            self.samples = inside
            self.widen(others)

    def widen(self, more: Indices) -> bool:
        """Let more samples take part, the first of them where there is no room for all; O(|F|² · len(more)). True: some do."""
        more = more[~np.isin(more, self.samples)][: max(self._room() - len(self.samples), 0)]
        n, old = self._n_inside, len(self._Q)
        self.samples = np.concatenate((self.samples, more))
        self._products.join(more)
        Q, K = np.empty((old + len(more), old + len(more))), np.ones((old + len(more), len(more)))
        Q[:old, :old] = self._Q
        new = Q[:, old:]

        def fill_inside(begin: int, end: int) -> None:
            K[self._border :, begin:end] = self._products.gram(self.samples, more[begin:end]) + self._constant
            new[:n, begin:end] = Q[:n, :n] @ K[:n, begin:end]
            Q[old + begin : old + end, :n] = new[:n, begin:end].T

        def fill_others(begin: int, end: int) -> None:
            new[n:, begin:end] = K[n:, begin:end] - Q[n:, :n] @ K[:n, begin:end]

        for task in (fill_inside, fill_others):
            in_pieces(task, len(more), self._n_threads, least=64)
        Q[old:, n:old] = new[n:old].T
        Q[old:, old:][np.diag_indices(len(more))] += self._ridge
        self._Q = Q
        self._begin()
        return len(more) > 0

    def _room(self) -> int:
        """How many samples may take part: 4 matrices of their size, and what their products hold."""
        each = self._products.bytes_each
        return int((np.sqrt(each**2 + 128.0 * self._max_bytes) - each) / 64.0) - 1

    def _begin(self) -> None:
        """Where every job starts: the full solution, moved to where the equations hold."""
        full, at = self._full, self.samples
        upper = (full.problem.cost * full.problem.y)[at]
        self._lo = self._with_bias(np.minimum(upper, 0.0)[np.newaxis], -np.inf)[0]
        self._hi = self._with_bias(np.maximum(upper, 0.0)[np.newaxis], np.inf)[0]
        g, b, total = (full.f + full.b - full.problem.y)[at], np.array([full.b]), np.array([full.beta.sum()])
        self._start = self._consistent(full.beta[np.newaxis, at], g[np.newaxis], b, total)
        self._pivot(np.array([-1]), *self._start)

    def _with_bias(self, values: Any, bias: Any) -> Any:
        """The values of samples, a row a job, and before them that of a free bias."""
        return np.insert(values, [0] * self._border, np.reshape(bias, (-1, 1)), axis=1)

    def _consistent(self, beta: Floats, g: Floats, b: Floats, total: Floats) -> tuple[Floats, Floats, Indices]:
        """(β, g, sides) at which the equations hold, g = 0 inside and the others at their bounds, from a point near by.

        b, total : of each job, the bias and Σβ over all samples, where the bias is free.
        """
        at, n, problem = self.samples, self._n_inside, self._full.problem
        y = problem.y[at]
        sides = sides_of(beta * y, -y * g, self._full.squares[at], problem.cost[at], y)
        sides[:, 0] = np.where((sides == INSIDE).any(axis=1) | (self._border == 0), sides[:, 0], INSIDE)
        beta, g, sides = self._with_bias(beta, b), self._with_bias(g, total), self._with_bias(sides, INSIDE)
        bounds = np.where(sides == LOW, self._lo, np.where(sides == HIGH, self._hi, beta))[:, n:]
        moves, left_over = bounds - beta[:, n:], g[:, :n].copy()
        beta[:, :n] -= left_over @ self._Q[:n, :n] + moves @ self._Q[n:, :n]
        g[:, n:] += moves @ self._Q[n:, n:] - left_over @ self._Q[:n, n:]
        beta[:, n:], g[:, :n] = bounds, 0.0
        return beta, g, sides

    def _pivot(self, jobs: Indices, beta: Floats, g: Floats, sides: Indices) -> Pivoted:
        from maxmargin._loops.leave_one_out.pivoting import leave_out_each

        found, is_settled = np.empty((len(jobs), len(self._Q))), np.empty(len(jobs), dtype=bool)
        # One after the other, k changes cost k⁴/12 multiplications: no more than to make the tableau, m³/3.
        most = int((4.0 * len(self._Q) ** 3) ** 0.25) + 1
        leave_out_each(self._Q, self._n_inside, beta, g, self._lo, self._hi, sides, jobs, NOTHING, most, found, is_settled)
        return Pivoted(found[:, self._border :], is_settled)

    def _jobs(self, samples: Indices) -> Indices:
        """The places of samples in the tableau; −1 for one that does not take part."""
        order = np.argsort(self.samples)
        at = order[np.minimum(np.searchsorted(self.samples, samples, sorter=order), len(order) - 1)]
        return np.where(self.samples[at] == samples, at + self._border, -1)

    def without(self, samples: Indices, shifts: Floats) -> Pivoted:
        """The solution without each of the given samples.

        shifts : what leaves g with a sample that takes no part, and with it its share of Σβ last; zeros for the others.
        """
        beta, g = (np.repeat(array, len(samples), axis=0) for array in self._start[:2])
        sides = np.repeat(self._start[2], len(samples), axis=0)
        away = np.flatnonzero(shifts.any(axis=1))
        if len(away):
            n = self._n_inside
            more = self._with_bias(shifts[away, :-1], shifts[away, -1])
            beta[away, :n] -= more[:, :n] @ self._Q[:n, :n]
            g[away, n:] += more[:, n:] - more[:, :n] @ self._Q[:n, n:]
        return self._pivot(self._jobs(samples), beta, g, sides)

    def again(self, samples: Indices, beta: Floats, g: Floats, b: Floats, total: Floats) -> Pivoted:
        """The same from where the last pivots led, and its exact g = f + b − y: what the ridge and rounding left is mended."""
        return self._pivot(self._jobs(samples), *self._consistent(beta, g, b, total))


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
    """The inverse of [[0, 1ᵀ], [1, K]] from P = K⁻¹."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a matrix that is singular to rounding
        p = P.sum(axis=1)
        total = float(p.sum())
    out = np.empty((len(P) + 1, len(P) + 1))
    out[1:, 1:] = P - np.outer(p / total, p)
    out[0, 1:] = out[1:, 0] = p / total
    out[0, 0] = -1.0 / total
    return out
