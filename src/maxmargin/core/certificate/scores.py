"""The scores of a candidate with a bound of their errors, as exact as a certificate needs them.

    f_j = ⟨w, φ(x_j)⟩,     m_j = r_j − y_j(f_j + b)        |computed − exact| ≤ error, in the worst case

The gap is a sum over samples, and with the hinge the residual

    (c − α)[m]₊ + α[−m]₊

is 0 whatever f is, as long as α = 0 and m < 0, or α = c and m > 0: most samples. So float32 is often enough, and it is never
believed beyond its bound. The residual at the worst m within the bound is what the certificate adds up. Where that costs more
than a tenth of the gap that is asked for, or blurs the objective by more than that gap, the samples that cost most are computed
again: first in float64, then by differences of rows (RBF) or in twice the working precision (linear). What is left after that is
the precision of the arithmetic.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import products
from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge, Loss
from maxmargin.core.problem import Problem
from maxmargin.errors import NotSupportedError
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, row_width
from maxmargin.rounding import SMALLEST, UNIT, gamma, length_above
from maxmargin.typing import Flags, Floats, Indices, Matrix

MUCH_WORK, VALUE_WORK = 2e8, 16.0
"""Products of two numbers up to which float64 is used at once (0.1 s); products that a kernel value costs beside its features."""

FINEST = 1e-10
"""Relative gap below which nothing is computed more exactly, however small `tol` is."""

TRIED = 64
"""Samples tried to estimate, within 6 %, what share float32 leaves undecided."""

GAP_SHARE = 0.1
"""The share of the gap asked for that rounding may cost before more is computed exactly."""


Finer = Callable[[Indices], "Scores"]
"""Computes some samples again, more exactly."""


@dataclass(frozen=True)
class Scores:
    """f_j of each sample, its slack m_j = r_j − y_j(f_j + b), and bounds of their errors."""

    values: Floats
    error: Floats
    slack: Floats
    slack_error: Floats

    @classmethod
    def of(cls, values: Floats, error: Floats, y: Floats, b: Any, target: Floats | float = 1.0) -> "Scores":
        """With the slacks that follow from the scores: two more roundings."""
        decision = values + b
        slack = target - y * decision
        return cls(values, error, slack, _two_roundings(error, decision, slack))

    def put(self, at: Indices, other: "Scores") -> None:
        """Take others at some places: only while they are being made."""
        self.values[at], self.error[at] = other.values, other.error
        self.slack[at], self.slack_error[at] = other.slack, other.slack_error


def _two_roundings(error: Floats, decision: Floats, slack: Floats) -> Floats:
    return np.asarray((error + UNIT * (np.abs(decision) + np.abs(slack))) * (1.0 + 8.0 * UNIT))


def scores(problem: Problem, candidate: Candidate, tol: float = 0.0, n_threads: int = 1) -> Scores:
    """f_j and m_j for each sample, with bounds that cost at most a tenth of `tol` where that can be had.

    Cost: O(nnz), or n × (support vectors) kernel values; more for the samples that are computed again. The same bits for any
    number of threads.
    """
    ways: LinearScores | _Kernel
    if problem.is_linear:
        table = Table(problem.X, problem.y, problem.lengths, problem.entries, problem.rows, problem.target)
        ways = LinearScores(table, candidate.w, problem.offset(candidate.b))
    else:
        ways = _Kernel(problem, candidate, n_threads)
    found = ways.first()
    for refine in ways.finer():
        worth = _worth_more(problem, candidate, found, tol)
        again = np.flatnonzero(worth if problem.period == problem.n else worth | np.roll(worth, problem.period))
        if len(again) == 0:
            break
        found.put(again, refine(again))
    return found


def scored(problem: Problem, candidate: Candidate, tol: float = 0.0, n_threads: int = 1) -> Candidate:
    """The candidate with its `scores`, so that nobody computes them again."""
    found = replace(candidate)
    object.__setattr__(found, "scores", scores(problem, candidate, tol, n_threads))
    return found


def _worth_more(problem: Problem, candidate: Candidate, found: Scores, tol: float) -> Flags:
    """The samples whose errors cost so much of the gap, or blur the objective so much, that they are to be computed again."""
    if _is_fine_enough(problem, candidate, found, tol):
        return np.zeros(problem.n, dtype=bool)
    alpha = np.maximum(candidate.beta * problem.y, 0.0)
    if problem.is_hard:
        size = 0.5 * abs(float(candidate.w @ (candidate.w if problem.is_linear else found.values)))
        charges = Charges.of_hard_margin(found, alpha, size)
    else:
        charges = Charges.of(problem.loss, found, np.minimum(alpha, problem.loss.upper(problem.cost)), problem.cost)
        with np.errstate(over="ignore"):  # far from the optimum, of costs near the end of float64's range
            size = float(problem.cost @ problem.loss.value(1.0 - found.slack))
        if problem.is_linear:
            size += problem.penalty.value(candidate.w)
        else:
            size += 0.5 * abs(float(candidate.w @ found.values))
            charges = charges._replace(blur=charges.blur + np.abs(candidate.w) * found.error)
    if problem.is_linear:
        return charges.beyond(limits(charges.sums, size, problem.n, tol)) & (problem.cost > 0)
    out = np.zeros(problem.n, dtype=bool)
    for charge, allowed in zip(charges, allowances(size, tol), strict=True):
        out[_largest(np.where(problem.cost > 0, charge, 0.0), allowed)] = True
    return out


def _is_fine_enough(problem: Problem, candidate: Candidate, found: Scores, tol: float) -> bool:
    """Whether none need be computed again, by a coarse bound: the hinge's charges are at most 2c times the error of the slack."""
    if problem.is_hard or not isinstance(problem.loss, Hinge):
        return False
    most = 2.0 * float(problem.cost @ found.slack_error)
    if not problem.is_linear:
        most += float(np.abs(candidate.w) @ found.error)
    return bool(most <= allowances(float(problem.cost @ np.maximum(found.slack, 0.0)), tol)[0])


def _largest(charges: Floats, allowed: float) -> Indices:
    """The largest charges, so many that the others sum up to half of what is allowed; none where all of them are within it."""
    if charges.sum() <= allowed:
        return np.empty(0, dtype=np.intp)
    order = np.argsort(charges)
    rest = int(np.searchsorted(np.cumsum(charges[order]), 0.5 * allowed, side="right"))
    return order[rest:]


class Charges(NamedTuple):
    """What the errors of the slacks cost of the gap, and by how much they blur the objective, for each sample."""

    worth: Floats
    blur: Floats

    @classmethod
    def of(cls, loss: Loss, found: Scores, alpha: Floats, cost: Floats) -> "Charges":
        """For a soft margin, α in its box."""
        m, error = found.slack, found.slack_error
        with np.errstate(invalid="ignore", over="ignore"):
            return cls(
                loss.residual_above(m, error, alpha, cost) - loss.residual(m, alpha, cost),
                cost * (loss.value(1.0 - m - error) - loss.value(1.0 - m + error)),
            )

    @classmethod
    def of_hard_margin(cls, found: Scores, alpha: Floats, size: float) -> "Charges":
        """For the hard margin, where everything is divided by the margin of the closest sample; `size` is the objective."""
        m, error = found.slack, found.slack_error
        with np.errstate(invalid="ignore", over="ignore"):
            may_be_closest = m + error >= (m - error).max()
            return cls(2.0 * error * (alpha + np.where(may_be_closest, 2.0 * size, 0.0)), np.zeros(len(m)))

    @property
    def sums(self) -> Floats:
        """The sums of `worth` and of `blur` over all samples."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.array([self.worth.sum(), self.blur.sum()])

    def beyond(self, most: Floats) -> Flags:
        """The samples that exceed either of the two `limits`."""
        return np.asarray(~((self.worth <= most[0]) & (self.blur <= most[1])))


def allowances(size: float, tol: float) -> Floats:
    """What the `Charges` of all samples may sum up to, for an objective of this size."""
    return np.array([GAP_SHARE, 1.0]) * max(tol, FINEST) * size


def limits(sums: Floats, size: float, n: int, tol: float) -> Floats:
    """The most that one sample's `Charges` may be, given their sums over all n samples: +∞ where those are small enough.

    For linear problems, whose samples may be on many machines; kernel values cost more, and the largest are found by a sort.
    """
    allowed = allowances(size, tol)
    return np.where(sums <= allowed, np.inf, 0.5 * allowed / max(n, 1))


class Table(NamedTuple):
    """Some samples of a linear problem: their rows of X as they are, labels, ‖x_j‖ from above, products in ⟨w, x_j⟩."""

    X: Matrix
    y: Floats
    lengths: Floats
    entries: Floats
    rows: Indices | None = None
    target: Floats | None = None


class LinearScores:
    """⟨w, x⟩ by one product with the data, then in twice the working precision."""

    def __init__(self, table: Table, w: Floats, b: Any) -> None:
        self.table, self.w, self.b = table, w, b
        self.size = length_above(w)

    def first(self) -> Scores:
        """Of all samples, by one product with the data."""
        X, y, lengths, terms, rows, target = self.table
        error = products.product_errors(float(terms.max(initial=0.0)), lengths, self.size)  # one γ is enough here
        return Scores.of(products.scores(X, self.w, rows), error, y, self.b, 1.0 if target is None else target)

    def finer(self) -> Iterator[Finer]:
        """What can be done about some of them; nothing where each has a bias of its own."""
        if np.ndim(self.b) == 0:
            yield self.twice

    def twice(self, again: Indices) -> Scores:
        """Of some samples, in twice the working precision."""
        table, w, b = self.table, self.w, self.b
        y, terms = table.y[again], table.entries[again]
        target = np.ones(len(again)) if table.target is None else table.target[again]
        m = products.slacks(table.X, again if table.rows is None else table.rows[again], w, b, y, target)
        bulk = table.lengths[again] * self.size + abs(b) + np.abs(target)
        error = 2.0 * UNIT * np.abs(m) + 2.0 * gamma(terms + 3) ** 2 * bulk + (8.0 * terms + 8.0) * SMALLEST
        error = np.where(np.isnan(m), np.inf, error)
        f = y * (target - m) - b
        f_error = error + 4.0 * UNIT * (np.abs(m) + np.abs(f) + abs(b) + np.abs(target))
        return Scores(np.nan_to_num(f), f_error, np.nan_to_num(m), error * (1.0 + 8.0 * UNIT))


def scores_of_each(X: Matrix, W: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """⟨w, x⟩ of each row x, for several weights at once, the rows of W; and bounds of the errors: two arrays (n, k)."""
    terms, sizes = products.entries(X), np.array([length_above(w) for w in W])
    errors = [products.product_errors(terms, lengths, size) for size in sizes.tolist()]
    return products.scores(X, W.T), np.array(errors).T


class _Kernel:
    """Σ w_i k(x_i, x) in float32 or float64, then in float64, then by differences."""

    def __init__(self, problem: Problem, candidate: Candidate, n_threads: int) -> None:
        self.problem, self.candidate, self.n_threads = problem, candidate, n_threads
        used = np.flatnonzero(candidate.w)
        self.expansion = problem.expansion(used, candidate.w[used])
        work = problem.n * len(used) * (row_width(problem.X) + VALUE_WORK)
        may_be_single = isinstance(problem.loss, Hinge) and not problem.is_hard and self.expansion.is_single
        self.dtype = FLOAT32 if work > MUCH_WORK and may_be_single else FLOAT64

    def first(self) -> Scores:
        """The support vectors in float64, as they make up the objective; the others in float32 where that saves time."""
        if self.dtype == FLOAT64:
            return self._some(None, FLOAT64)
        n, period = self.problem.n, self.problem.period
        own = np.flatnonzero(self.candidate.w) % period
        is_other = np.ones(period, dtype=bool)
        is_other[own] = False
        others = np.flatnonzero(is_other)
        f, error = np.empty(period), np.empty(period)
        bounded = self.expansion.at_own_rows(self.n_threads)
        if bounded is None:
            f[own], error[own] = self._sums(own, FLOAT64)
        else:
            f[own], error[own] = bounded.sums[0, 0], bounded.error[0]
        f[others], error[others] = self._sums(others, FLOAT32 if self._saves_time(others) else FLOAT64)
        return self._slacks(np.tile(f, n // period), np.tile(error, n // period), None)

    def _saves_time(self, others: Indices) -> bool:
        """Whether float32, at half the price, tells enough of half of the samples, by the look of some of them."""
        if len(others) == 0:
            return False
        some = others[:: -(-len(others) // TRIED)]
        found = self._some(some, FLOAT32)
        may_be_inside, seems_inside = found.slack + found.slack_error > 0, found.slack > 0
        return float(np.mean(may_be_inside)) - float(np.mean(seems_inside)) <= 0.5

    def finer(self) -> Iterator[Finer]:
        if self.dtype == FLOAT32:
            yield lambda again: self._some(again, FLOAT64)
        if self.expansion.has_fine:
            yield lambda again: self._some(again, FLOAT64, is_fine=True)

    def _some(self, at: Indices | None, dtype: Any, is_fine: bool = False) -> Scores:
        """The scores of some samples, or of all; a row that stands twice is computed once."""
        problem = self.problem
        if problem.period == problem.n:
            return self._slacks(*self._sums(at, dtype, is_fine), at)
        rows, place = np.unique((np.arange(problem.n) if at is None else at) % problem.period, return_inverse=True)
        f, error = self._sums(rows, dtype, is_fine)
        return self._slacks(f[place], error[place], at)

    def _sums(self, at: Indices | None, dtype: Any, is_fine: bool = False) -> tuple[Floats, Floats]:
        """f of some samples, or of all, piece by piece; at once where their float32 rows are ready and suit them all."""
        problem, n_threads = self.problem, self.n_threads
        count = problem.n if at is None else len(at)
        packed = problem.packed if dtype == FLOAT32 else None
        if packed is not None:
            with contextlib.suppress(NotSupportedError):
                bounded = self.expansion.bounded(packed if at is None else packed[at], dtype, n_threads)
                return bounded.sums[0, 0], bounded.error[0]
        f, error = np.empty(count), np.empty(count)
        for where, rows in problem.pieces(at):
            expansion = self.expansion
            bounded = expansion.fine(rows, n_threads) if is_fine else expansion.bounded(rows, dtype, n_threads)
            f[where], error[where] = bounded.sums[0, 0], bounded.error[0]
        return f, error

    def _slacks(self, f: Floats, error: Floats, at: Indices | None) -> Scores:
        """The scores of these samples, or of all, with their slacks."""
        on = slice(None) if at is None else at
        target = self.problem.target
        b = self.problem.offset(self.candidate.b, on)
        return Scores.of(f, error, self.problem.y[on], b, 1.0 if target is None else target[on])
