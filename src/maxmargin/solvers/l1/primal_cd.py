"""Coordinate descent in the weights, for the L1 penalty.

    min_w  ‖w‖₁ + Σ c_j ℓ(y_j(⟨w, x_j⟩ + b)),     ℓ the hinge or its square

Squared hinge: the CDN method of Yuan, Chang, Hsieh & Lin (JMLR 2010), with Newton steps on the weights that are not zero; where
both have cost as much as an interior point of the whole problem, or crawl, that makes a new beginning. Hinge: a few rounds of the
proximal method of multipliers, whose smoothed problems are of the same kind; they tell roughly which features and samples matter,
and `LinearProgram` finds the corner that these make.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.core import L1, Candidate, Hinge, Problem, SquaredHinge
from maxmargin.solvers.base import Clock, Progress, Solver, deferred_interrupt
from maxmargin.solvers.l1.columns import Columns, candidate_of
from maxmargin.solvers.l1.interior_point import L1Interior
from maxmargin.solvers.l1.smoothed_hinge import SmoothedL1
from maxmargin.solvers.l1.tuning import TUNING
from maxmargin.solvers.refine import straighten_dual
from maxmargin.typing import Floats


@dataclass
class _State:
    problem: Problem
    smoothed: SmoothedL1
    rounds: int = 0
    least_gap: float = np.inf
    last_progress: int = 0
    work: float = 0.0  # of the rounds so far, in entries
    most_work: float = np.inf  # of the rounds before the interior point
    interior: L1Interior | None = None  # while it is the way


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
    >>> import numpy as np
    >>> from maxmargin.core import L1, Problem, SquaredHinge
    >>> from maxmargin.solvers import PrimalCD, solve
    >>> X, y = np.array([[1.0, 0.5], [-1.0, 0.5]]), np.array([1.0, -1.0])
    >>> solution = solve(Problem(X, y, np.full(2, 2.0), loss=SquaredHinge(), penalty=L1()), PrimalCD(), tol=1e-9)
    >>> np.round(solution.w, 6)
    array([0.875, 0.   ])
    """

    seed: int = 0
    losses, penalty, margin = (Hinge, SquaredHinge), L1, "soft"
    leads_on: ClassVar[bool] = True  # its weights tell which columns matter

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """w = 0, or the warm start's; for the hinge with its θ."""
        on = problem.present
        columns, y, cost = Columns.of(problem), problem.y[on], problem.cost[on]
        is_hinge = isinstance(problem.loss, Hinge)
        w, centre = np.zeros(len(columns.price)), np.zeros(len(on))
        if warm is not None:
            w = columns.weights(warm).copy()
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
        return _State(problem, smoothed, most_work=L1Interior.work(columns, len(on)))

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One round: the columns that matter, sweeps over them, and the gap of the whole."""
        if state.interior is not None:
            return self._inside(state, state.interior, tol)
        smoothed, is_hinge = state.smoothed, isinstance(state.problem.loss, Hinge)
        with deferred_interrupt():
            if state.rounds == 0:
                smoothed.choose(smoothed.slopes())
            sweeps = 2 * TUNING.sweeps if is_hinge else TUNING.sweeps
            for _ in range(sweeps):
                smoothed.sweep()
            state.work += smoothed.sweep_work * sweeps
            for _ in range(0 if is_hinge else TUNING.newton_steps):
                state.work += smoothed.newton_work
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
                smoothed.sigma *= TUNING.growth
        if is_hinge and state.rounds >= TUNING.rounds:
            return Progress(gap, is_final=True)
        if state.rounds - state.last_progress > TUNING.patience or (gap > tol and state.work > state.most_work):
            if not np.isfinite(state.most_work):
                return Progress(gap, is_final=True)
            left_behind = _present(state, tol)
            state.interior = L1Interior.of(smoothed.columns, smoothed.y, smoothed.cost, is_hinge)
            state.most_work = np.inf  # once
            return Progress(gap, candidate=left_behind)
        return Progress(gap)

    def _inside(self, state: _State, interior: L1Interior, tol: float) -> Progress:
        """One step of the interior point; where the gap has ceased to fall, the rounds go on from there."""
        interior.step()
        if not interior.has_stalled and (interior.gap <= tol or interior.gap > TUNING.close):
            return Progress(interior.gap)
        smoothed = state.smoothed
        left_behind = candidate_of(state.problem, interior.full_w, interior.alpha(tol))
        smoothed.w = interior.guess()[0]
        smoothed.z = smoothed.y * smoothed.columns.scores(smoothed.w)
        smoothed.choose(smoothed.slopes())
        state.interior, state.last_progress, state.least_gap = None, state.rounds, np.inf
        return Progress.without_claim(interior.gap, tol)._replace(candidate=left_behind)

    def finish(self, state: _State, tol: float) -> Candidate:
        """The present weights, and θ as the dual point."""
        present = _present(state, tol)
        return present if isinstance(state.problem.loss, Hinge) else straighten_dual(state.problem, present, tol)


def _present(state: _State, tol: float) -> Candidate:
    """The candidate as it is."""
    if state.interior is not None:
        return candidate_of(state.problem, state.interior.w, state.interior.alpha(tol))
    smoothed = state.smoothed
    return candidate_of(state.problem, smoothed.w, smoothed.cost * smoothed.theta)


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
