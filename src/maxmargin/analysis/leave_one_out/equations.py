"""Leaving samples out on the equations of the full solution: pivots, the scores of all samples, and one look at the gap."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin._loops.leave_one_out.fields import BIAS, EXHAUSTED, GAP, LOWER, N_BOUNDS, UPPER
from maxmargin.analysis.leave_one_out.full import TUNING, Full
from maxmargin.analysis.leave_one_out.tableau import Tableau
from maxmargin.core import Hinge, Problem, products
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernel_matrix.tiles import fill, prepared
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


class Scores(NamedTuple):
    """What moves of β add to the scores, (jobs, n); sample j of a job errs by at most drift · length_j + floor."""

    values: Floats
    drifts: Floats
    floors: Floats


class Leavers(NamedTuple):
    """Samples that leave without having joined: the jobs, their samples, what β they take along, and their rows."""

    jobs: Indices
    samples: Indices
    shares: Floats
    rows: Any


class LinearProducts:
    """Inner products of the rows of a linear problem, sparse or dense; sums of moves go through Xᵀ."""

    def __init__(self, full: Full) -> None:
        self._problem, self._constant, self._lengths = full.problem, full.problem.bias.scale**2, full.lengths
        self._terms = float(full.problem.entries.max(initial=0.0))
        self._joined = np.empty(0, dtype=np.intp)

    def bytes_for(self, size: int) -> int:
        """The rows of samples that joined are copied; they are few against the tableau."""
        return 0

    def join(self, samples: Indices) -> None:
        """Keep their rows."""
        self._joined = np.concatenate((self._joined, samples))
        self._rows, d = self.rows_of(self._joined), self._problem.X.shape[1]
        is_sparse = sp.issparse(self._rows)
        terms = np.bincount(self._rows.indices, minlength=d) if is_sparse else np.full(d, len(self._joined))
        self._slip2 = gamma(terms + 9.0) ** 2
        self._slips = self._slips_of(self._rows)

    def _slips_of(self, rows: Any) -> Floats:
        """‖γ ∘ x‖ of each row: its part of w errs by this at most, as entry k is a sum over the rows that have it."""
        squares = rows.multiply(rows) if sp.issparse(rows) else rows * rows
        vanished = rows.shape[1] * np.finfo(np.float64).tiny
        return np.asarray(1.01 * np.sqrt(squares @ self._slip2 + vanished))

    def gram(self, i: Indices, j: Indices) -> Floats:
        """K[i, j]."""
        return self._dense(self.rows_of(i) @ self.rows_of(j).T)

    def rows_of(self, samples: Indices) -> Any:
        """Their rows of X in float64."""
        rows = self._problem.X[self._problem.row(samples)].astype(np.float64, copy=False)
        return sp.csr_array(rows) if sp.issparse(rows) else rows

    def between(self, rows: Any) -> Floats:
        """⟨row, x_j⟩ for some rows and the samples j that joined."""
        return self._dense(self._rows @ rows.T).T

    def _dense(self, product: Any) -> Floats:
        return np.asarray(product.toarray() if sp.issparse(product) else product) + self._constant

    def scores(self, moves: Floats, leavers: Leavers | None = None) -> Scores:
        """Of the samples that joined, and of those that leave: two products with X."""
        V = self._rows.T @ moves.T
        sums, size = moves.sum(axis=1), np.abs(moves)
        lengths, slips, mass = size @ self._lengths[self._joined], size @ self._slips, size.sum(axis=1)
        if leavers is not None and len(leavers.jobs):
            rows = leavers.rows
            entries = sp.coo_array(rows)
            np.add.at(V, (entries.col, leavers.jobs[entries.row]), entries.data * leavers.shares[entries.row])
            size = np.abs(leavers.shares)
            sums[leavers.jobs] += leavers.shares
            lengths[leavers.jobs] += self._lengths[leavers.samples] * size
            slips[leavers.jobs] += self._slips_of(rows) * size
            mass[leavers.jobs] += size
        # w errs by its slip, its product with x_j by γ(terms)‖w‖‖x_j‖, and the last sums round
        drifts = 1.01 * (slips + gamma(self._terms + 8) * lengths)
        floors = 1.01 * gamma(moves.shape[1] + 9) * self._constant * mass
        values = products.scores(self._problem.X, V, self._problem.rows).T + self._constant * sums[:, np.newaxis]
        return Scores(np.ascontiguousarray(values), drifts, floors)


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
        self._slot = np.full(full.problem.n, -1)
        self._joined = np.empty(0, dtype=np.intp)
        self._rows = self._made(self._joined, n_threads)

    def bytes_for(self, size: int) -> int:
        """Two copies while more join."""
        return 2 * 8 * self._problem.n * size

    def join(self, samples: Indices) -> None:
        """Make their rows."""
        self._slot[samples] = len(self._joined) + np.arange(len(samples))
        self._joined = np.concatenate((self._joined, samples))
        more = self._made(samples, self._n_threads)
        self._rows = GramRows(*(np.concatenate(pair) for pair in zip(self._rows, more, strict=True)))

    def gram(self, i: Indices, j: Indices) -> Floats:
        """K[i, j]."""
        return np.asarray(self._rows.values[self._slot[i]][:, j])

    def rows_of(self, samples: Indices) -> GramRows:
        """Their rows, made for the moment."""
        return self._made(samples, 1)

    def _made(self, samples: Indices, n_threads: int) -> GramRows:
        return gram_rows(self._problem, self._columns, samples, n_threads)

    def between(self, rows: GramRows) -> Floats:
        """Their entries for the samples that joined."""
        return rows.values[:, self._joined]

    def scores(self, moves: Floats, leavers: Leavers | None = None) -> Scores:
        """Of the samples that joined, and of those that leave."""
        units = 2.0 * gamma(moves.shape[1] + 9)
        values = moves @ self._rows.values
        floors = np.abs(moves) @ (self._rows.error + units * self._rows.largest)
        if leavers is not None:
            rows = leavers.rows
            values[leavers.jobs] += leavers.shares[:, np.newaxis] * rows.values
            floors[leavers.jobs] += np.abs(leavers.shares) * (rows.error + units * rows.largest)
        return Scores(values, np.zeros(len(moves)), 1.01 * floors)


Products: TypeAlias = LinearProducts | KernelProducts


class Equations:
    """Leaves samples out by pivots on a shared tableau; the gap of what they find, over all samples, is the proof.

    Samples that should have moved and are not in the tableau are marked, and join it on request.
    """

    batch: int = 32  # whatever the number of threads: bits depend on it

    def __init__(self, full: Full, max_bytes: int, n_threads: int = 1, near: float = TUNING.sure_within) -> None:
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

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Floats:
        """What is known of each of the samples, as `open_bounds`; nothing without equations."""
        from maxmargin._loops.leave_one_out.look import look_each

        full, problem, movers = self.full, self.full.problem, self.tableau.samples
        bounds, brackets = open_bounds(len(samples)), brackets.copy()
        if not len(movers):
            return bounds
        at = np.flatnonzero(~np.isin(samples, movers) & (full.beta[samples] != 0.0))
        leavers = Leavers(at, samples[at], -full.beta[samples[at]], self.products.rows_of(samples[at]))
        shifts = np.zeros((len(samples), len(movers) + 1))
        shifts[at, :-1] = leavers.shares[:, np.newaxis] * self.products.between(leavers.rows)
        shifts[at, -1] = leavers.shares
        found, is_settled = self.tableau.without(samples, shifts)
        self.is_beyond[samples[~is_settled]] = True
        g, drifts, floors = self.products.scores(found - full.beta[movers], leavers)
        g += self._g
        floors += 4.0 * UNIT * np.abs(g).max(axis=1)
        beta = np.repeat(full.beta[np.newaxis], len(samples), axis=0)
        beta[:, movers] = found
        beta[np.arange(len(samples)), samples] = 0.0
        jobs, last = np.flatnonzero(is_settled), np.full(len(samples), np.inf)
        while len(jobs) and not stop():
            look_each(
                g, self._error, drifts, floors, full.lengths, problem.y, problem.cost, full.slope.weights, beta,
                problem.bias.is_free, samples, jobs, brackets, full.slope.least, full.slope.most, bounds,
            )  # fmt: skip
            is_done = is_known(bounds[jobs, LOWER], bounds[jobs, UPPER], goal) | (bounds[jobs, EXHAUSTED] > 0)
            jobs = jobs[~is_done]
            gaps, b = bounds[jobs, GAP], bounds[jobs, BIAS]
            F, alpha = g[jobs] + b[:, np.newaxis], beta[jobs] * problem.y
            shares = np.where(F * problem.y < 0.0, problem.cost - alpha, alpha) * np.abs(F)  # of the gap
            shares[np.arange(len(jobs)), samples[jobs]] = 0.0
            self.is_beyond |= (problem.n * shares > gaps[:, np.newaxis]).any(axis=0)
            # Pivots mend what the equations' own samples add to the gap; those beyond have to join first.
            goes_on = (shares[:, movers].sum(axis=1) > 0.5 * gaps) & (gaps < 0.5 * last[jobs])
            last[jobs], jobs = gaps, jobs[goes_on]
            if len(jobs):
                mine, own = np.ix_(jobs, movers), F[goes_on][:, movers]
                found, is_settled = self.tableau.again(
                    samples[jobs], beta[mine], own, b[goes_on], beta[jobs].sum(axis=1)
                )
                more = self.products.scores(found - beta[mine])
                g[jobs] += more.values
                drifts[jobs] += more.drifts
                floors[jobs] += more.floors + 4.0 * UNIT * np.abs(g[jobs]).max(axis=1)
                beta[mine], jobs = found, jobs[is_settled]
        return bounds


def open_bounds(count: int) -> Floats:
    """What is known of so many samples before anything is: the bounds of the compiled loops."""
    bounds = np.zeros((count, N_BOUNDS))
    bounds[:, 0], bounds[:, 1] = -np.inf, np.inf
    return bounds


def gram_rows(problem: Problem, columns: Expansion, samples: Indices, n_threads: int) -> GramRows:
    """k(x_i, x_j) of samples i and all j, which are the columns, plus the constant of a penalised bias."""
    values, error, largest = np.empty((len(samples), problem.n)), np.zeros(len(samples)), np.zeros(len(samples))
    kernel, constant = problem.kernel, problem.bias.scale**2
    tiles = columns.tiles(FLOAT64)

    def fill_rows(start: int) -> None:
        at = slice(start, start + TILE_ROWS)
        rows = problem.X[problem.row(samples[at])]
        rows = products.dense_rows(rows) if columns.becomes_dense(rows) else rows
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            left = prepared(kernel, rows, FLOAT64, columns.centre)
            for first, last, right in tiles:
                block, slip = np.empty((rows.shape[0], last - first)), np.zeros(rows.shape[0])
                if not fill(kernel, left, right, block):
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


def _longest(rows: Any) -> int:
    """The row for which the error of a kernel value is largest; the RBF kernel's prepared rows know their squares."""
    return int(np.argmax(rows.squares if hasattr(rows, "squares") else squared_norms(rows, FLOAT64)))
