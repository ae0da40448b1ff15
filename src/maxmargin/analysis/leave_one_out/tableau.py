"""Where the others go if sample i leaves: exact, by pivoting on equations that all samples share.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  lo ≤ β ≤ hi,   g = Kβ − y  (and + b, with Σβ = 0, where the bias is free)

The samples inside their box, F, and those near enough to the margin to change sides, N, make one tableau. Solved for β_F and g_N,

    [Δβ_F]   [ P   −V ] [Δg_F]
    [Δg_N] = [ Vᵀ   S ] [Δβ_N],     P = K_FF⁻¹,  V = P K_FN,  S = K_NN − K_NF V,

so that the tableau, made once, tells what every other split does (`_loops.leave_one_out`). The bias is an entry of F that has no
box. What moves beyond the tableau shows in the gap, which is summed over all samples afterwards, and can be added.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg

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


def sides_of(alpha: Floats, slack: Floats, squares: Floats, cost: Floats, y: Floats) -> Floats:
    """Where each sample is at the optimum: 0 inside its box, −1 and 1 at the lower and the upper bound of β.

    By both of its conditions: α + m/k ≤ 0 at zero, ≥ c at its cost, else inside.
    """
    with np.errstate(over="ignore"):
        t = alpha + slack / np.maximum(squares, np.finfo(np.float64).tiny)
    return np.where(t <= 0, -y, np.where(t >= cost, y, 0.0))


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
        self.samples, self._place = np.empty(0, dtype=np.intp), np.full(full.problem.n, -1)
        problem, slack = full.problem, full.slack
        sides = sides_of(np.abs(full.beta), slack, full.squares, problem.cost, problem.y)
        by_distance = np.argsort(np.abs(slack), kind="stable")
        by_distance = by_distance[problem.cost[by_distance] > 0]
        is_inside = sides[by_distance] == 0
        # Where a free bias has nobody inside to hold it, the nearest sample begins there.
        inside = np.sort(by_distance[is_inside]) if is_inside.any() else by_distance[: self._border]
        others = by_distance[(np.abs(slack[by_distance]) < near) | (full.beta[by_distance] != 0.0)]
        self._n_inside = self._border + len(inside)
        if len(inside) + len(others) == 0 or not self._room() >= len(inside):
            return
        products.join(inside)
        mean = float(full.squares[inside if len(inside) else others].mean())
        # As Σβ = 0 where the bias is free, a constant changes nothing there, and no row is zero any more.
        self._constant, self._ridge = mean * self._border, TUNING.ridge * mean + np.finfo(np.float64).tiny
        K = products.gram(inside) + self._constant
        K[np.diag_indices(len(K))] += self._ridge
        self._Q = _bordered(_inverse(K)) if self._border else _inverse(K)
        if np.isfinite(self._Q).all():
            self._take(inside)
            self.widen(others)

    def widen(self, more: Indices) -> bool:
        """Let more samples take part, the first of them where there is no room for all; O(|F|² · len(more)). True: some do."""
        more = more[self._place[more] < 0][: max(self._room() - len(self.samples), 0)]
        n, old = self._n_inside, len(self._Q)
        self._products.join(more)
        self._take(more)
        Q, K = np.empty((old + len(more), old + len(more))), np.ones((old + len(more), len(more)))
        Q[:old, :old] = self._Q
        new = Q[:, old:]

        def fill_inside(begin: int, end: int) -> None:
            K[self._border :, begin:end] = self._products.gram(more[begin:end]) + self._constant
            new[:n, begin:end] = Q[:n, :n] @ K[:n, begin:end]
            Q[old + begin : old + end, :n] = -new[:n, begin:end].T

        def fill_others(begin: int, end: int) -> None:
            new[n:, begin:end] = K[n:, begin:end] + Q[n:, :n] @ K[:n, begin:end]

        for task in (fill_inside, fill_others):
            in_pieces(task, len(more), self._n_threads, least=64)
        Q[old:, n:old] = new[n:old].T
        Q[old:, old:][np.diag_indices(len(more))] += self._ridge
        self._Q = Q
        return len(more) > 0

    def _take(self, more: Indices) -> None:
        """These samples come after the others."""
        self._place[more] = self._border + len(self.samples) + np.arange(len(more))
        self.samples = np.concatenate((self.samples, more))
        upper = (self._full.problem.cost * self._full.problem.y)[np.newaxis, self.samples]
        self._lo = self._with_bias(np.minimum(upper, 0.0), -np.inf)[0]
        self._hi = self._with_bias(np.maximum(upper, 0.0), np.inf)[0]

    def _room(self) -> int:
        """How many samples may take part: 4 matrices of their size, and what their products hold."""
        each = self._products.bytes_each
        return int((np.sqrt(each**2 + 128.0 * self._max_bytes) - each) / 64.0) - 1

    def _with_bias(self, values: Any, bias: Any) -> Any:
        """The values of samples, a row a job, and before them that of a free bias."""
        return np.insert(values, [0] * self._border, np.reshape(bias, (-1, 1)), axis=1)

    def without(self, samples: Indices, beta: Floats, g: Floats, b: Floats, total: Floats) -> Pivoted:
        """The solution without each of the given samples, from a point near by: one for each job, or the same for all.

        beta, g : of the tableau's samples, g = f + b − y; b, total : the bias and Σβ over all samples. A sample that takes no
        part has left already.
        """
        from maxmargin._loops.leave_one_out import pivot_each

        found, is_settled = np.empty((len(samples), len(self._Q))), np.empty(len(samples), dtype=bool)
        # One after the other, k changes cost k⁴/12 multiplications: no more than to make the tableau, m³/3.
        most = int((4.0 * len(self._Q) ** 3) ** 0.25) + 1
        start = self._consistent(beta, g, b, total)
        pivot_each(
            self._Q, self._n_inside, self._place[samples], *start, self._lo, self._hi, NOTHING, most, found, is_settled
        )  # fmt: skip
        return Pivoted(found[:, self._border :], is_settled)

    def _consistent(self, beta: Floats, g: Floats, b: Floats, total: Floats) -> tuple[Floats, Floats, Floats]:
        """(β, g, sides) at which the equations hold, g = 0 inside and the others at their bounds, from a point near by."""
        at, n, problem = self.samples, self._n_inside, self._full.problem
        y = problem.y[at]
        sides = sides_of(beta * y, -y * g, self._full.squares[at], problem.cost[at], y)
        if self._border:
            sides[(sides != 0.0).all(axis=1), 0] = 0.0
        beta, g, sides = self._with_bias(beta, b), self._with_bias(g, total), self._with_bias(sides, 0.0)
        bounds = np.where(sides < 0.0, self._lo, np.where(sides > 0.0, self._hi, beta))[:, n:]
        moves, left_over = bounds - beta[:, n:], g[:, :n].copy()
        moved = np.flatnonzero(moves.any(axis=0))
        response = moves[:, moved] @ self._Q[n + moved] - left_over @ self._Q[:n]
        beta[:, :n] += response[:, :n]
        g[:, n:] += response[:, n:]
        beta[:, n:], g[:, :n] = bounds, 0.0
        return beta, g, sides


def _inverse(K: Floats) -> Floats:
    """The inverse of a symmetric positive definite matrix, which is overwritten; NaN where it is none."""
    if not len(K):  # LAPACK refuses an empty matrix, and says so on stdout
        return K
    factor, failed = scipy.linalg.lapack.dpotrf(K.T, overwrite_a=1)
    upper = scipy.linalg.lapack.dpotri(factor, overwrite_c=1)[0]
    return np.full_like(K, np.nan) if failed else upper + np.triu(upper, 1).T


def _bordered(P: Floats) -> Floats:
    """The inverse of [[0, 1ᵀ], [1, K]] from P = K⁻¹."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a matrix that is singular to rounding
        p = P.sum(axis=1, keepdims=True)
        share = p / p.sum()
        return np.block([[-1.0 / p.sum(), share.T], [share, P - share @ p.T]])
