"""Leaving samples out on the equations of the full solution: pivots, the scores of all samples, and one look at the gap."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.analysis.leave_one_out.full import TUNING, Full
from maxmargin.analysis.leave_one_out.tableau import Tableau
from maxmargin.core import Hinge, products
from maxmargin.kernel_matrix.tiles import prepared
from maxmargin.kernels.tiles import FLOAT64, TILE_ROWS, cut, squared_norms
from maxmargin.rounding import UNIT, gamma
from maxmargin.threads import together
from maxmargin.typing import Flags, Floats, Indices


class Goal(NamedTuple):
    """When an interval is good enough: at a certain sign, at this width, or where only rounding is left of its gap."""

    at_sign: bool
    width: float = 0.0
    at_rounding: bool = False


def is_known(lower: Floats, upper: Floats, goal: Goal) -> Flags:
    """Where the sign is certain, if that is enough, or the interval narrow."""
    return (goal.at_sign & ((lower > 0) | (upper <= 0))) | (upper - lower <= goal.width)


class Ends(NamedTuple):
    """What is known of the left-out decisions of some samples; exhausted: at least half of the gap is rounding.

    Then a better β would tell no more.
    """

    lower: Floats
    upper: Floats
    is_exhausted: Flags

    @classmethod
    def unknown(cls, count: int) -> "Ends":
        """Of so many samples before anything is known."""
        return cls(np.full(count, -np.inf), np.full(count, np.inf), np.zeros(count, dtype=bool))


Scores: TypeAlias = tuple[Floats, Floats, Floats]
"""What moves of β add to the scores, (jobs, n), drifts and floors: sample j of a job errs by drift · length_j + floor at most."""


class LinearRows(NamedTuple):
    """Some rows of X in float64, their lengths from above, and what their parts of a sum w = Σ β_j x_j err by at most."""

    X: Any
    lengths: Floats
    slips: Floats


class LinearProducts:
    """Inner products of the rows of a linear problem, sparse or dense; sums of moves go through Xᵀ."""

    bytes_each: int = 0  # the rows of samples that joined are copied, and few against the tableau

    def __init__(self, full: Full) -> None:
        self._problem, self._constant, self._lengths = full.problem, full.problem.bias.scale**2, full.lengths
        self._terms = float(full.problem.entries.max(initial=0.0))
        self._joined = np.empty(0, dtype=np.intp)

    def join(self, samples: Indices) -> None:
        """Keep their rows."""
        self._joined = np.concatenate((self._joined, samples))
        self._rows = self.rows_of(self._joined)
        if sp.issparse(self._rows.X):
            counts = np.bincount(self._rows.X.indices, minlength=self._rows.X.shape[1])
            is_frequent = counts > TUNING.frequent * len(self._joined)
            self._frequent, self._rare = np.flatnonzero(is_frequent), np.flatnonzero(~is_frequent)
            self._parts = self._rows.X[:, self._frequent].toarray(), self._rows.X[:, self._rare]

    def rows_of(self, samples: Indices) -> LinearRows:
        """Their rows: entry k of a sum errs by γ of the number of rows that have it, and each part by ‖γ ∘ x‖."""
        X, d = self._some(samples), self._problem.X.shape[1]
        terms = np.bincount(X.indices, minlength=d) if sp.issparse(X) else np.full(d, len(samples))
        squares = (X.multiply(X) if sp.issparse(X) else X * X) @ gamma(terms + 9.0) ** 2
        slips = np.asarray(1.01 * np.sqrt(squares + d * np.finfo(np.float64).tiny))
        return LinearRows(X, self._lengths[samples], slips)

    def _some(self, samples: Indices) -> Any:
        rows = self._problem.X[self._problem.row(samples)].astype(np.float64, copy=False)
        return sp.csr_array(rows) if sp.issparse(rows) else rows

    def gram(self, samples: Indices) -> Floats:
        """K between the samples that joined and some of them."""
        some = self._some(samples)
        if not sp.issparse(some):
            return np.asarray(self._rows.X @ some.T + self._constant)
        # The columns that many rows have go through BLAS, which is faster than counting them one by one.
        frequent, rare = self._parts
        out = frequent @ some[:, self._frequent].toarray().T + self._constant
        out += (rare @ some[:, self._rare].T).toarray()
        return np.asarray(out)

    def scores(self, moves: Floats, own: Floats, samples: Indices) -> Scores:
        """Of moves of the samples that joined, and `own` of those that did not, one a job: two products with X."""
        at, rows, size = np.flatnonzero(own), self._rows, np.abs(moves)
        w, more = rows.X.T @ moves.T, self._some(samples[at])
        if sp.issparse(more):
            columns, entries = np.repeat(at, np.diff(more.indptr)), np.repeat(own[at], np.diff(more.indptr))
            w[more.indices, columns] += more.data * entries
        else:
            w[:, at] += more.T * own[at]
        # w errs by its slip, its product with x_j by γ(terms)‖w‖‖x_j‖, and the last sums round
        slope = gamma(self._terms + 8)
        drifts = size @ (rows.slips + slope * rows.lengths)
        drifts[at] += np.abs(own[at]) * (slope + 4.0 * UNIT) * self._lengths[samples[at]]
        values = products.scores(self._problem.X, w, self._problem.rows).T
        if not self._constant:
            return values, 1.01 * drifts, np.zeros(len(own))
        # Sums of √n sums of √n terms, in any order, err by γ(2√n), where one sum of n errs by γ(n).
        step = math.isqrt(moves.shape[1]) + 1
        totals = np.add.reduceat(moves, np.arange(0, moves.shape[1], step), axis=1).sum(axis=1) + own
        floors = 1.01 * gamma(2 * step + 10) * self._constant * (size.sum(axis=1) + np.abs(own))
        return values + self._constant * totals[:, np.newaxis], 1.01 * drifts, floors


class GramRows(NamedTuple):
    """K[i, :] for some samples i, a bound of the errors of each row's entries, and one of their sizes."""

    values: Floats
    error: Floats
    largest: Floats


class KernelProducts:
    """Rows of the Gram matrix in memory: those of the samples that joined, against all samples."""

    def __init__(self, full: Full, n_threads: int) -> None:
        self._problem, self._n_threads = full.problem, n_threads
        self._columns = full.problem.expansion(np.arange(full.problem.n), np.ones(full.problem.n))
        self._rows = self.rows_of(np.empty(0, dtype=np.intp))
        self.bytes_each = 16 * full.problem.n  # two copies while more join

    def join(self, samples: Indices) -> None:
        """Make their rows."""
        more = self.rows_of(samples, self._n_threads)
        self._rows = GramRows(*(np.concatenate(pair) for pair in zip(self._rows, more, strict=True)))

    def gram(self, samples: Indices) -> Floats:
        """K between the samples that joined and some of them."""
        return self._rows.values[:, samples]

    def scores(self, moves: Floats, own: Floats, samples: Indices) -> Scores:
        """Of moves of the samples that joined, and `own` of those that did not, one a job."""
        at, rows, slope = np.flatnonzero(own), self._rows, 2.0 * gamma(moves.shape[1] + 10)
        more, values = self.rows_of(samples[at]), moves @ rows.values
        values[at] += own[at, np.newaxis] * more.values
        floors = np.abs(moves) @ (rows.error + slope * rows.largest)
        floors[at] += np.abs(own[at]) * (more.error + slope * more.largest)
        return values, np.zeros(len(moves)), 1.01 * floors

    def rows_of(self, samples: Indices, n_threads: int = 1) -> GramRows:
        """k(x_i, x_j) of samples i and all j, which are the columns, plus the constant of a penalised bias."""
        problem, columns = self._problem, self._columns
        values, (error, largest) = np.empty((len(samples), problem.n)), np.zeros((2, len(samples)))
        kernel, constant, tiles = problem.kernel, problem.bias.scale**2, columns.tiles(FLOAT64)

        def fill_rows(start: int) -> None:
            at = slice(start, start + TILE_ROWS)
            rows = problem.X[problem.row(samples[at])]
            rows = products.dense_rows(rows) if columns.becomes_dense(rows) else rows
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                left = prepared(kernel, rows, FLOAT64, columns.centre)
                for first, last, right in tiles:
                    block, slip = np.empty((rows.shape[0], last - first)), np.zeros(rows.shape[0])
                    if not kernel.join(left, right, block):
                        kernel.fill_differences(rows, cut(columns.Z, first, last), block)
                        slip = kernel.difference_error(rows.shape[1], 1.0, np.abs(block).max(axis=1), 1)
                    elif kernel.sees_values_only:  # else the values are the definition
                        longest = _longest(right)
                        slip = kernel.error(left, right, slice(longest, longest + 1), np.ones(1), None, 1)
                    values[at, first:last] = block + constant if constant else block
                    sizes = np.abs(block).max(axis=1) + constant
                    error[at] = np.maximum(error[at], (slip + 4.0 * UNIT * (sizes if constant else 0.0)) * 1.01)
                    largest[at] = np.maximum(largest[at], sizes * 1.01)

        together([partial(fill_rows, start) for start in range(0, len(samples), TILE_ROWS)], n_threads)
        return GramRows(values, error, largest)


Products: TypeAlias = LinearProducts | KernelProducts


class Equations:
    """Leaves samples out by pivots on a shared tableau; the gap of what they find, over all samples, is the proof.

    Samples that should have moved and are not in the tableau are marked, and join it on request.
    """

    batch: int = 32  # whatever the number of threads: bits depend on it

    def __init__(self, full: Full, max_bytes: int, n_threads: int = 1, near: float = TUNING.near) -> None:
        self.full = full
        self.products = LinearProducts(full) if full.problem.is_linear else KernelProducts(full, n_threads)
        self.tableau = Tableau(full, self.products, max_bytes, n_threads, near)
        self.is_beyond = np.zeros(full.problem.n, dtype=bool)
        self._g = full.f - full.problem.y
        # f is that of the stored w, and g that of w(β)
        self._error = (full.error + full.apart * full.lengths) * (1.0 + 8.0 * UNIT) + 2.0 * UNIT * np.abs(self._g)

    @staticmethod
    def suits(full: Full) -> bool:
        """Whether the loss is the hinge, its costs are finite, and the kernel may be one."""
        problem = full.problem
        return isinstance(problem.loss, Hinge) and not problem.is_hard and problem.kernel.psd is not False

    def widen(self) -> bool:
        """Let the marked samples join the tableau; False where there are none, or no room for any."""
        more, self.is_beyond[:] = np.flatnonzero(self.is_beyond), False
        return len(more) > 0 and self.tableau.widen(more)

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Ends:
        """What is known of each of the samples; nothing without equations."""
        from maxmargin._loops.leave_one_out import look_each

        full, problem, movers = self.full, self.full.problem, self.tableau.samples
        ends = Ends.unknown(len(samples))
        brackets, gaps, biases = brackets.copy(), np.full(len(samples), np.inf), np.full(len(samples), full.b)
        beta, g = (np.repeat(array[np.newaxis], len(samples), axis=0) for array in (full.beta, self._g))
        drifts, floors = np.zeros((2, len(samples)))
        seen, parts = np.empty((len(samples), 5)), np.empty_like(g)

        # Those that leave without having joined take their share of β along.
        own = np.where(np.isin(samples, movers), 0.0, -full.beta[samples])
        away = np.flatnonzero(own)
        beta[away, samples[away]] = 0.0
        jobs = np.arange(len(samples) if len(movers) else 0)
        starts = jobs if len(away) else jobs[:1]
        near_g = g[np.ix_(starts, movers)]
        if len(jobs) and len(away):
            near_g[away] += own[away, np.newaxis] * self.products.gram(samples[away]).T
        while len(jobs) and not stop():
            b = biases[starts]
            found, is_settled = self.tableau.without(
                samples[jobs], beta[np.ix_(starts, movers)], near_g + b[:, np.newaxis], b, beta[starts].sum(axis=1)
            )
            self.is_beyond[samples[jobs[~is_settled]]] = True
            jobs = jobs[is_settled]
            place = np.ix_(jobs, movers)
            added = self.products.scores(found[is_settled] - beta[place], own[jobs], samples[jobs])
            at = slice(None) if len(jobs) == len(samples) else jobs  # copies nothing
            for mine, its in zip((g, drifts, floors), added, strict=True):
                mine[at] += its
            floors[at] += 4.0 * UNIT * np.abs(g[at]).max(axis=1, initial=0.0)  # of this sum
            own[jobs] = 0.0
            beta[place] = found[is_settled]
            look_each(
                jobs, samples, g, self._error, drifts, floors, beta, brackets, problem.y, problem.cost, full.lengths,
                *full.slope, problem.bias.is_free, seen, parts,
            )  # fmt: skip
            lower, upper, gap, biases[jobs], plain = seen[jobs].T
            ends.lower[jobs], ends.upper[jobs] = np.fmax(ends.lower[jobs], lower), np.fmin(ends.upper[jobs], upper)
            ends.is_exhausted[jobs] = gap >= 2.0 * plain  # a better β would tell no more
            is_open = ~ends.is_exhausted[jobs] & ~is_known(ends.lower[jobs], ends.upper[jobs], goal)
            jobs, gap = jobs[is_open], gap[is_open]
            self.is_beyond |= (problem.n * parts[jobs] > gap[:, np.newaxis]).any(axis=0)
            # Pivots mend what the equations' own samples add to the gap; those beyond have to join first.
            goes_on = (parts[np.ix_(jobs, movers)].sum(axis=1) > 0.5 * gap) & (gap < 0.5 * gaps[jobs])
            gaps[jobs] = gap
            jobs = starts = jobs[goes_on]
            near_g = g[np.ix_(starts, movers)]
        return ends


def _longest(rows: Any) -> int:
    """The row for which the error of a kernel value is largest; the RBF kernel's prepared rows know their squares."""
    return int(np.argmax(rows.squares if hasattr(rows, "squares") else squared_norms(rows, FLOAT64)))
