"""Coordinate descent in the weights, for the L1 penalty.

    min_w  ‖w‖₁ + Σ c_j ℓ(y_j(⟨w, x_j⟩ + b)),     ℓ the hinge or its square

Squared hinge: the CDN method of Yuan, Chang, Hsieh & Lin (JMLR 2010), with Newton steps on the weights that are not zero; where
both crawl, an interior point on the columns in use makes a new beginning. Hinge: a
few rounds of the proximal method of multipliers, whose smoothed problems are of the same kind; they tell roughly which features
and samples matter, and `LinearProgram` finds the corner that these make.
"""

from dataclasses import dataclass

import numpy as np

from maxmargin.core.bias import best_bias
from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge, SquaredHinge
from maxmargin.core.penalties import L1
from maxmargin.core.problem import Problem
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.columns import Columns
from maxmargin.solvers.interrupts import deferred_interrupt
from maxmargin.solvers.l1_cone import solve_cone
from maxmargin.solvers.l1_smoothed import SmoothedL1
from maxmargin.solvers.linear_program import LinearProgram
from maxmargin.solvers.relay import Successor
from maxmargin.typing import Floats

ROUNDS, GROWTH = 12, 1.2
"""Of the hinge: smoothed problems before the linear programs, each sharper by this factor than the last."""

SWEEPS, SHARP_SWEEPS = 3, 6
"""A round visits the chosen columns so many times; more where no Newton steps follow: the hinge."""

NEWTON_STEPS = 4
"""At most so many after the sweeps of a round: squared hinge only, where enough samples bend."""

PATIENCE = 20
"""Rounds in which the gap must fall by a tenth; else an interior point makes a new beginning, and twice that is the end."""


@dataclass
class _State:
    problem: Problem
    smoothed: SmoothedL1
    rounds: int = 0
    least_gap: float = np.inf
    last_progress: int = 0
    renewals: int = 0
    successor: Successor | None = None


@dataclass(frozen=True)
class PrimalCD(Solver):
    """Coordinate descent in the weights: the L1 penalty on data of any size.

    *Use it when* the penalty is L1. *Needs* the linear kernel, L1, hinge or squared hinge, finite costs. *Costs* O(non-zeros of
    the columns in use) a sweep and one pass over the data a round, ten to a hundred rounds; memory: a copy of the data by
    columns. With the hinge it hands over to LinearProgram. *Equivalent to* LinearProgram at its optimum.

    Parameters
    ----------
    seed : int
        Of the visiting order.

    Examples
    --------
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[1.0, 0.5], [-1.0, 0.5]]), np.array([1.0, -1.0])
    >>> solution = solve(Problem(X, y, np.full(2, 2.0), loss=SquaredHinge(), penalty=L1()), PrimalCD(), tol=1e-9)
    >>> np.round(solution.w, 6)
    array([0.875, 0.   ])
    """

    seed: int = 0

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if not isinstance(problem.penalty, L1) or not isinstance(problem.loss, Hinge | SquaredHinge):
            return f"PrimalCD solves the hinge and the squared hinge with L1, got {problem.loss!r} and {problem.penalty!r}."
        if problem.is_hard:
            return "PrimalCD needs finite costs. A large one has the same answer where the classes can be separated."
        return None

    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> _State:
        """w = 0, or the warm start's; for the hinge with its θ."""
        on = problem.present
        columns, y, cost = Columns.of(problem), problem.y[on], problem.cost[on]
        is_hinge = isinstance(problem.loss, Hinge)
        w, centre = np.zeros(len(columns.price)), np.zeros(len(on))
        if warm is not None:
            w[: len(warm.w)] = warm.w
            if problem.bias.kind != "none":
                w[-1] = warm.b
            centre = np.clip(warm.beta[on] * y / cost, 0.0, 1.0) if is_hinge else centre
        smoothed = SmoothedL1(
            columns,
            y,
            cost,
            top=1.0 if is_hinge else np.inf,
            sigma=1.0 if is_hinge else 2.0,
            centre=centre,
            w=w,
            z=y * columns.scores(w),
            square=columns.squares(cost),
            rng=np.random.default_rng(self.seed),
        )
        return _State(problem, smoothed)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One round: the columns that matter, sweeps over them, and the gap of the whole."""
        if state.successor is not None:
            return state.successor.step(tol, clock)
        smoothed, is_hinge = state.smoothed, isinstance(state.problem.loss, Hinge)
        with deferred_interrupt():
            if state.rounds == 0:
                smoothed.choose(smoothed.slopes())
            for _ in range(SHARP_SWEEPS if is_hinge else SWEEPS):
                smoothed.sweep()
            for _ in range(0 if is_hinge else NEWTON_STEPS):
                if not smoothed.newton_step():
                    break
            u = smoothed.slopes()
            gap = _gap(state, u)
            smoothed.choose(u)
            state.rounds += 1
            if gap < 0.9 * state.least_gap:
                state.least_gap, state.last_progress = gap, state.rounds
            if is_hinge and gap > tol:
                smoothed.centre = smoothed.theta
                smoothed.sigma *= GROWTH
        if is_hinge and state.rounds >= ROUNDS and gap > tol:
            left_behind = self.finish(state, tol)
            state.successor = Successor.of(state.problem, (LinearProgram(),), left_behind)
            return Progress(gap, candidate=left_behind)
        if gap > tol and state.rounds - state.last_progress > PATIENCE:
            return self._renew(state, gap, tol, clock)
        return Progress(gap)

    def _renew(self, state: _State, gap: float, tol: float, clock: Clock) -> Progress:
        """Begin again at the answer of an interior point on the visited columns, twice at most."""
        left_behind = self.finish(state, tol)
        if state.renewals == 2:
            return Progress(gap, is_final=True)
        smoothed = state.smoothed
        smoothed.w = solve_cone(smoothed, clock)
        smoothed.z = smoothed.y * smoothed.columns.scores(smoothed.w)
        state.renewals, state.last_progress, state.least_gap = state.renewals + 1, state.rounds, np.inf
        return Progress(gap, candidate=left_behind)

    def finish(self, state: _State, tol: float) -> Candidate:
        """The present weights, and θ as the dual point."""
        if state.successor is not None:
            return state.successor.finish(tol)
        problem, smoothed = state.problem, state.smoothed
        beta = np.zeros(problem.n)
        beta[problem.present] = smoothed.cost * smoothed.theta * smoothed.y
        w = smoothed.w[: problem.X.shape[1]].copy()
        if problem.bias.kind == "penalized":
            return Candidate(w, float(smoothed.w[-1]), beta)
        b = best_bias(problem, beta, problem.decision(w)).middle if problem.bias.is_free else 0.0
        return Candidate(w, b, beta)


def _gap(state: _State, u: Floats) -> float:
    """The relative gap of w and θ, θ scaled into the dual's cube; the imbalance of a free bias is taken off. `u`: the slopes."""
    problem, smoothed = state.problem, state.smoothed
    alpha, price = smoothed.cost * smoothed.theta, smoothed.columns.price
    t = 1.0 / smoothed.columns.stretch(u)
    imbalance = float(np.abs(u[price == 0]).sum())
    losses: Floats = problem.loss.value(smoothed.z)
    primal = float(price @ np.abs(smoothed.w) + smoothed.cost @ losses)
    dual = t * float(alpha.sum()) - float(problem.loss.dual_penalty(t * alpha, smoothed.cost).sum()) - imbalance
    return (primal - dual) / max(primal, np.finfo(float).tiny)
