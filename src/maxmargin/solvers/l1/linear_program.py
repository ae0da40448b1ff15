"""Column and constraint generation for the L1 penalty with the hinge.

    primal   min Σ_k price_k |w_k| + Σ c_j ξ_j    s.t.  A w + ξ ≥ 1,  ξ ≥ 0
    dual     max Σα                               s.t.  |u_k| ≤ price_k,  u = Aᵀα,  0 ≤ α ≤ c

Few features have a weight and few samples lie on the margin (as many, in a corner of the polyhedron). A round solves the
program on the columns and rows that may matter, with the samples clearly inside the margin as a linear term and those clearly
outside left out; then one pass over the data finds the rows on the wrong side of that guess and the columns with |u_k| > price_k,
which join. Both sets only grow, so that it ends, at the latest with the whole program.

Where a program has no answer, or the programs have cost as much as an interior point of the whole problem would, that is taken
instead. If its answer is not good enough yet, it says which rows and columns to go on with. Where HiGHS fails again, it is given
all rows, and then its own settings.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge
from maxmargin.core.penalties import L1
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.highs import PROGRAMS, Corner, solve_small_program
from maxmargin.solvers.l1.interior_point import L1Interior
from maxmargin.solvers.l1.simplex_tableau import Tableau
from maxmargin.solvers.refine import straighten_dual
from maxmargin.typing import Floats, Indices


@dataclass
class _State:
    problem: Problem
    columns: Columns
    chosen: Indices  # columns
    is_open: Any  # rows of the program
    is_inside: Any  # rows whose loss is taken to be linear
    w: Floats
    alpha: Floats
    most_work: float  # of the programs before the interior point, in entries
    work: float = 0.0  # of the programs so far
    reach: float = np.inf  # of the weights
    tableau: Tableau | None = None  # from a warm start, while it leads on
    interior: L1Interior | None = None  # while it is the way
    last_tries: int = 0  # with all rows open, without a reach
    primal: float = np.inf
    dual: float = 0.0

    @property
    def gap(self) -> float:
        """The relative gap of the best weights and the best dual point."""
        if not np.isfinite(self.primal):
            return 1.0
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0

    def begin(self, w: Floats, alpha: Floats) -> None:
        """Take in the rows and columns that weights and a dual point say."""
        columns, m = self.columns, 1.0 - self.columns.scores(w)
        shares, is_between = columns.shares(columns.sums(alpha)), (alpha > 0.0) & (alpha < columns.cost)
        self.is_open = is_between | (np.abs(m) <= PROGRAMS.near_margin)
        self.is_inside = ~self.is_open & (m > 0.0)
        self.reach = 2.0 * max(1.0, float(np.abs(w).max()))
        is_near = (w != 0.0) | (shares >= PROGRAMS.near_price)
        self.choose(np.flatnonzero(is_near) if is_near.any() else _most(shares, 1))
        self.tableau = Tableau.near(columns, self.chosen, np.flatnonzero(self.is_open), w, is_between)

    def choose(self, chosen: Indices) -> None:
        """Work with these columns, and with that of a free bias."""
        self.chosen = np.union1d(chosen, len(self.columns.price) - 1) if self.columns.is_free else chosen

    def keep(self, w: Floats, primal: float, alpha: Floats, dual: float) -> None:
        """Keep what is better than before."""
        if primal < self.primal:
            self.primal, self.w = primal, w
        if dual >= self.dual:
            self.dual, self.alpha = dual, alpha


@dataclass(frozen=True)
class LinearProgram(Solver):
    """L1 penalty and hinge, exactly: small linear programs around the features and samples that matter.

    *Use it when* you want the corner itself: exact zeros, ten digits. *Needs* the linear kernel, L1, hinge, finite costs. *Costs*
    one pass over the data and one linear program a round (about as many rows and columns as there are support vectors and
    features with a weight), some three to ten rounds; memory: a copy of the data by columns. *Equivalent to* PrimalCD at its
    optimum.

    Examples
    --------
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0), penalty=L1()), LinearProgram(), tol=1e-9)
    >>> np.round(solution.w, 9) + 0.0, round(solution.b, 9)
    (array([2., 0.]), -3.0)
    """

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if not isinstance(problem.penalty, L1) or not isinstance(problem.loss, Hinge):
            return f"LinearProgram solves the hinge with the L1 penalty, got {problem.loss!r} and {problem.penalty!r}."
        if problem.is_hard:
            return (
                "LinearProgram needs finite costs. A large one has the same answer where the classes can be separated."
            )
        return None

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """All rows and the steepest columns, or what a warm start says."""
        columns = Columns.of(problem)
        n, w = len(columns.cost), np.zeros(len(columns.price))
        is_open, is_inside = np.ones(n, bool), np.zeros(n, bool)
        state = _State(problem, columns, np.arange(0), is_open, is_inside, w, columns.cost, L1Interior.work(columns))
        if warm is None:
            state.choose(_most(columns.shares(columns.sums(columns.cost)), PROGRAMS.first_columns))
        else:
            state.begin(*columns.start(problem, warm))
        return state

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One program, one pass over the data, and what joins after it; or one step of the interior point."""
        if state.interior is not None:
            return self._inside(state, state.interior, tol)
        corner = self._corner(state, clock)
        if corner.was_stopped:
            return Progress(state.gap)
        state.work += corner.work
        if corner.has_failed:
            return self._another_way(state)
        has_joined = self._look(state, corner, tol)
        if corner.is_at_reach and not has_joined:
            state.reach *= 2.0
            return Progress.without_claim(state.gap, tol)
        if state.tableau is not None and not has_joined and state.gap > tol:
            state.tableau = None
            return Progress(state.gap)
        if not has_joined or state.work > state.most_work:  # the best by HiGHS's tolerances need not be good enough
            return self._another_way(state)
        return Progress(state.gap)

    def _another_way(self, state: _State) -> Progress:
        """The interior point, then all rows, then HiGHS's own settings; the end where nothing is left."""
        if np.isfinite(state.most_work):
            state.interior, state.most_work = L1Interior.of(state.columns), np.inf  # once
            return Progress(state.gap)
        state.last_tries += 1
        state.is_open[:], state.is_inside[:], state.reach, state.tableau = True, False, np.inf, None
        return Progress(state.gap, is_final=state.last_tries > 2)

    def _inside(self, state: _State, interior: L1Interior, tol: float) -> Progress:
        """One step; where the gap has ceased to fall, the programs go on from there."""
        interior.step(tol)
        state.keep(interior.w, interior.primal, interior.alpha, interior.dual)
        if not interior.has_ended(tol):
            return Progress(state.gap)
        state.begin(*interior.guess())
        state.interior = None
        return Progress(state.gap, candidate=state.columns.candidate(state.problem, interior.w, interior.alpha))

    @staticmethod
    def _corner(state: _State, clock: Clock) -> Corner:
        """The lowest corner of the program: by the tableau, or by HiGHS where there is none or it gives up."""
        chosen, columns, rows = state.chosen, state.columns, np.flatnonzero(state.is_open)
        push = columns.sums(np.where(state.is_inside, columns.cost, 0.0))
        if state.tableau is not None:
            state.tableau.extend(chosen, rows)
            corner = state.tableau.lowest(push, clock)
            if corner is not None:
                return corner
            state.tableau = None
        program = columns.take(chosen)[rows], columns.cost[rows], columns.price[chosen], push[chosen]
        most_work, is_usual = state.most_work - state.work, state.last_tries < 2
        return solve_small_program(*program, state.reach, clock, most_work, is_usual)

    @staticmethod
    def _look(state: _State, corner: Corner, tol: float) -> bool:
        """Keep what is better than before; take in the rows and columns that the program missed. False: none."""
        columns, cost, rows = state.columns, state.columns.cost, np.flatnonzero(state.is_open)
        w, alpha = np.zeros(len(columns.price)), np.where(state.is_inside, cost, 0.0)
        w[state.chosen], alpha[rows] = corner.w, np.minimum(corner.alpha, cost[rows])
        z, u = columns.scores(w), columns.sums(alpha)
        # at the reach its multipliers are missing
        state.keep(w, columns.primal(w, z), alpha, -np.inf if corner.is_at_reach else columns.dual(alpha, u))
        m, shares = 1.0 - z, columns.shares(u)
        wrong = np.where(state.is_inside, -m, m)
        at = np.flatnonzero((wrong > PROGRAMS.noticed) & ~state.is_open)
        at = at[_most(np.abs(m[at]), max(PROGRAMS.first_columns, len(rows) // 2))]
        state.is_open[at], state.is_inside[at] = True, False
        shares[state.chosen] = 0.0
        steep = np.flatnonzero(shares > 1.0 + PROGRAMS.noticed)
        steep = steep[_most(shares[steep], max(PROGRAMS.first_columns // 4, len(state.chosen) // 2))]
        state.chosen = np.union1d(state.chosen, steep)
        has_joined = len(at) + len(steep) > 0
        if not has_joined and state.tableau is None and state.gap > tol:
            _mend(state, w, alpha)
        return has_joined

    def finish(self, state: _State, tol: float) -> Candidate:
        """The best weights with the best dual point."""
        found = state.columns.candidate(state.problem, state.w, state.alpha)
        return straighten_dual(state.problem, found, tol)


def _mend(state: _State, w: Floats, alpha: Floats) -> None:
    """Mend the dual point of a corner: its weights have u_k = ±price_k, by the α between their bounds."""
    columns = state.columns
    used = np.flatnonzero((w != 0.0) | (columns.price == 0.0))
    between = np.flatnonzero((alpha > 0.0) & (alpha < columns.cost))
    if len(used) * len(between) > 0:
        misses = (columns.price * np.sign(w) - columns.sums(alpha))[used]
        alpha = alpha.copy()
        alpha[between] += np.linalg.lstsq(columns.block(between, used).T, misses, rcond=None)[0]
        alpha = np.clip(alpha, 0.0, columns.cost)
        state.keep(w, np.inf, alpha, columns.dual(alpha, columns.sums(alpha)))


def _most(values: Floats, most: int) -> Indices:
    """Where the so many largest values stand, in order of their places."""
    return np.sort(np.argsort(-values, kind="stable")[:most])
