"""Column and constraint generation for the L1 penalty with the hinge.

    primal   min ‖w‖₁ + Σ c_j ξ_j    s.t.  y_j(⟨w, x_j⟩ + b) + ξ_j ≥ 1,  ξ ≥ 0
    dual     max Σα                  s.t.  ‖Σ α_j y_j x_j‖_∞ ≤ 1,  0 ≤ α ≤ c,  Σ α_j y_j = 0 where the bias is free

Few features have a weight and few samples lie on the margin (as many, in a corner of the polyhedron). A round solves the
program on the columns and rows that may matter, with the samples clearly inside the margin as a linear term and those clearly
outside left out; then one pass over the data finds the rows on the wrong side of that guess and the columns with |Σ α_j y_j
x_jk| > 1, which join. Both sets only grow, so that it ends, at the latest with the whole program.

Where a program has no answer, or the programs have cost as much as an interior point of the whole problem would, that is taken
instead. If its answer is not good enough yet, it says which rows and columns to go on with. Where HiGHS fails again, it is given
all rows, and asked in other ways.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core import L1, Candidate, Hinge, Problem
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.l1.columns import Columns, candidate_of
from maxmargin.solvers.l1.highs import OTHERS, USUAL, Corner, Way, solve_small_program
from maxmargin.solvers.l1.interior_point import L1Interior
from maxmargin.solvers.l1.simplex_tableau import Tableau
from maxmargin.solvers.l1.tuning import TUNING
from maxmargin.solvers.refine import straighten_dual
from maxmargin.typing import Floats, Indices


@dataclass
class _State:
    problem: Problem
    columns: Columns
    y: Floats
    cost: Floats
    chosen: Indices  # columns
    is_open: Any  # rows of the program
    is_inside: Any  # rows whose loss is taken to be linear
    m: Floats  # 1 − y F at the last weights
    w: Floats
    alpha: Floats
    reach: float = np.inf  # of the weights, in the columns' units
    tableau: Tableau | None = None  # from a warm start, while it leads on
    work: float = 0.0  # of the programs so far, in entries
    most_work: float = np.inf  # of the programs before the interior point
    goes_inside: bool = False  # the interior point is the way
    interior: L1Interior | None = None
    ways: tuple[Way, ...] = (USUAL, *OTHERS)  # that HiGHS has not failed on
    is_whole: bool = False  # all rows are open, without a reach
    primal: float = np.inf
    dual: float = 0.0

    @property
    def gap(self) -> float:
        """The relative gap of the best weights and the best dual point."""
        if not np.isfinite(self.primal):
            return 1.0
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


@dataclass(frozen=True)
class LinearProgram(Solver):
    """L1 penalty and hinge, exactly: small linear programs around the features and samples that matter.

    *Use it when* you want the corner itself: exact zeros, ten digits. *Needs* the linear kernel, L1, hinge, finite costs. *Costs*
    one pass over the data and one linear program a round (about as many rows and columns as there are support vectors and
    features with a weight), some three to ten rounds; memory: a copy of the data by columns. *Equivalent to* PrimalCD at its
    optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core import L1, Problem
    >>> from maxmargin.solvers import LinearProgram, solve
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0), penalty=L1()), LinearProgram(), tol=1e-9)
    >>> np.round(solution.w, 9) + 0.0, round(solution.b, 9)
    (array([2., 0.]), -3.0)
    """

    losses, penalty, margin = (Hinge,), L1, "soft"

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """All rows and the steepest columns, or what a warm start says."""
        on = problem.present
        columns, y, cost = Columns.of(problem), problem.y[on], problem.cost[on]
        n, d = len(on), len(columns.price)
        state = _State(
            problem, columns, y, cost, np.arange(0), np.ones(n, bool), np.zeros(n, bool), np.ones(n), np.zeros(d), cost
        )
        state.most_work = L1Interior.work(columns, n)
        if warm is None:
            state.chosen = _with_bias(_most(columns.shares(columns.sums(cost * y)), 4 * TUNING.joining), problem)
            return state
        self._begin(state, columns.weights(warm), np.clip(warm.beta[on] * y, 0.0, cost))
        return state

    @staticmethod
    def _begin(state: _State, w: Floats, alpha: Floats) -> None:
        """Take in the rows and columns that weights, with that of the bias behind them, and a dual point say."""
        problem, columns, y, cost = state.problem, state.columns, state.y, state.cost
        shares = columns.shares(columns.sums(alpha * y))
        state.m = 1.0 - y * columns.scores(w)
        is_between = (alpha > 0.0) & (alpha < cost)
        state.is_open = is_between | (np.abs(state.m) <= 1.0 - TUNING.near)
        state.is_inside = ~state.is_open & (state.m > 0.0)
        state.reach = 2.0 * max(1.0, float(np.abs(w * columns.units).max()))
        is_near = (w != 0.0) | (shares >= TUNING.near)
        state.chosen = _with_bias(np.flatnonzero(is_near) if is_near.any() else _most(shares, 1), problem)
        state.tableau = Tableau.near(columns, y, state.chosen, np.flatnonzero(state.is_open), w, is_between)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One program, one pass over the data, and what joins after it; or one step of the interior point."""
        if state.goes_inside:
            return self._inside(state, tol)
        rows = np.flatnonzero(state.is_open)
        A = state.columns.take(state.chosen)
        corner = self._corner(state, A, rows, clock)
        if corner.was_stopped:
            return Progress(state.gap)
        state.work += corner.work
        if corner.has_failed:
            return self._another_way(state)
        has_joined = self._look(state, corner, A @ corner.w, rows)
        if corner.is_at_reach and not has_joined:
            state.reach *= 2.0
            return Progress.without_claim(state.gap, tol)
        if state.tableau is not None and not has_joined and state.gap > tol:
            state.tableau = None
            return Progress(state.gap)
        if not has_joined:  # the best by HiGHS's tolerances, which need not be good enough
            return self._another_way(state)._replace(candidate=self.finish(state, tol))
        if state.work > state.most_work:
            return self._another_way(state)
        return Progress(state.gap)

    def _another_way(self, state: _State) -> Progress:
        """The interior point, then all rows, then what else HiGHS can be asked; the end where nothing is left."""
        if np.isfinite(state.most_work):
            state.goes_inside, state.most_work = True, np.inf  # once
        elif not state.is_whole:
            state.is_open[:], state.is_inside[:], state.reach, state.is_whole = True, False, np.inf, True
            state.tableau = None
        else:
            state.ways = state.ways[1:]
        return Progress(state.gap, is_final=len(state.ways) == 0)

    def _inside(self, state: _State, tol: float) -> Progress:
        """One step; where the gap has ceased to fall, the programs go on from there."""
        if state.interior is None:
            state.interior = L1Interior.of(state.columns, state.y, state.cost, is_hinge=True)
        interior = state.interior
        interior.step()
        if interior.bare.value < state.primal:
            state.primal, state.w = interior.bare.value, interior.w
        if interior.dual.value > state.dual:
            state.dual, state.alpha = interior.dual.value, interior.alpha(tol)
        if not interior.has_stalled and (state.gap <= tol or interior.gap > TUNING.close):
            return Progress(state.gap)
        left_behind = candidate_of(state.problem, interior.full_w, interior.alpha(tol))
        self._begin(state, *interior.guess())
        state.goes_inside, state.interior = False, None
        return Progress(state.gap, candidate=left_behind)

    @staticmethod
    def _corner(state: _State, A: Any, rows: Indices, clock: Clock) -> Corner:
        """The lowest corner of the program: by the tableau, or by HiGHS where there is none or it gives up."""
        chosen, columns = state.chosen, state.columns
        push = columns.sums(np.where(state.is_inside, state.cost * state.y, 0.0))
        if state.tableau is not None:
            state.tableau.extend(chosen, rows)
            corner = state.tableau.lowest(state.cost, push, clock, state.most_work - state.work)
            if corner is not None:
                return corner
            state.tableau = None
        return solve_small_program(
            A[rows],
            state.y[rows],
            state.cost[rows],
            columns.price[chosen],
            push[chosen],
            columns.units[chosen] if state.ways[0] is USUAL else columns.sizes()[chosen],
            state.reach,
            clock,
            state.ways[0],
            state.most_work - state.work,
        )

    @staticmethod
    def _look(state: _State, corner: Corner, scores: Floats, rows: Indices) -> bool:
        """Keep what is better than before; take in the rows and columns that the program missed. False: none."""
        columns, cost = state.columns, state.cost
        w = np.zeros(len(columns.price))
        w[state.chosen] = corner.w
        state.m = 1.0 - state.y * scores
        alpha = np.where(state.is_inside, cost, 0.0)
        alpha[rows] = np.minimum(corner.alpha, cost[rows])
        sums = columns.sums(alpha * state.y)
        shares = columns.shares(sums)
        primal = float(columns.price @ np.abs(w) + cost @ np.maximum(state.m, 0.0))
        dual = float(alpha.sum()) / columns.stretch_in_data(sums)
        if primal < state.primal:
            state.primal, state.w = primal, w
        if dual >= state.dual and not corner.is_at_reach:  # there the multipliers of the reach are missing
            state.dual, state.alpha = dual, alpha
        noticed = 10.0 * TUNING.accuracy
        wrong = (state.is_inside & (state.m < -noticed)) | (~state.is_inside & ~state.is_open & (state.m > noticed))
        at = np.flatnonzero(wrong)
        _open(state, at[_most(np.abs(state.m[at]), max(4 * TUNING.joining, len(rows) // 2))])
        shares[state.chosen] = 0.0
        steep = np.flatnonzero(shares > 1.0 + noticed)
        steep = steep[_most(shares[steep], max(TUNING.joining, len(state.chosen) // 2))]
        state.chosen = np.union1d(state.chosen, steep)
        return len(at) > 0 or len(steep) > 0

    def finish(self, state: _State, tol: float) -> Candidate:
        """The best weights with the best dual point."""
        return straighten_dual(state.problem, candidate_of(state.problem, state.w, state.alpha), tol)


def _with_bias(columns: Indices, problem: Problem) -> Indices:
    """These columns, and that of a free bias behind them."""
    return np.union1d(columns, [problem.X.shape[1]]) if problem.bias.is_free else columns


def _most(values: Floats, most: int) -> Indices:
    """Where the so many largest values stand, in order of their places."""
    return np.sort(np.argsort(-values, kind="stable")[:most])


def _open(state: _State, rows: Indices) -> None:
    state.is_open[rows] = True
    state.is_inside[rows] = False
