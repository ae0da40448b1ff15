"""The proximal point method with semismooth Newton steps, for linear SVMs with many more samples than features.

One outer round moves the dual point α = cθ by a proximal step,

    θ = argmax_θ  D(cθ) − 1/(2σ) Σ c_j (θ_j − θ⁰_j)²

which is the same as a *smooth* problem in the weights w̃ = (w, b):

    min_w̃ ½w̃ᵀΛw̃ + τb + Σ c_j ℓ_σ(z_j),    θ_j = −ℓ_σ'(z_j) = clip(θ⁰_j + σ(r_j − z_j), 0, 1),    z_j = y_j F_j

(Λ the identity with a zero for a free bias). Newton's matrix is  Λ + σ Σ_bent c_j x̃_j x̃_jᵀ  over the *bent* samples, those with
0 < θ < 1: few, and fewer from round to round. With few features it is kept up to date by the samples that turn bent or straight,
so that a Newton step costs one pass over the data and one d × d factorisation; with many its equations are solved roughly, by
conjugate gradients (see `equations`). The search along a step is exact: the slope is piecewise linear.
As σ grows the outer rounds converge faster than linearly (Rockafellar, SIAM J. Control Optim. 1976; Yan & Li, Comput. Optim.
Appl. 2020). The squared hinge is smooth already: its one round has σ = 2, θ⁰ = 0 and no upper bound.

It begins with a random part of the samples: their solution is near that of all, so that the whole is a matter of few steps.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from maxmargin.core import Candidate, Hinge, Problem, SquaredHinge, best_bias, to_candidate
from maxmargin.rounding import UNIT
from maxmargin.solvers.base import DRIVER, Clock, Progress, deferred_interrupt, rounds_to_come
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear.rows import Rows, RowSolver
from maxmargin.solvers.linear.smoothed_hinge import Part, Smoothed, SmoothedSums
from maxmargin.solvers.refine import REFINE, refine
from maxmargin.typing import Floats


class Stage(NamedTuple):
    """A part of a problem: so many samples, at least as many as there are for all of them, and which share of their costs."""

    size: float
    share: float = 1.0


WHOLE = Stage(np.inf)


@dataclass
class _State:
    problem: Problem
    rows: Rows
    smooth: Smoothed
    stages: list["Stage"]  # this one, and those to come
    inner: int = 0  # steps of this round
    best: tuple[Floats, Floats] | None = None  # (w, θ) of the whole problem
    best_gap: float = np.inf
    gaps: list[float] = field(default_factory=list)  # the best after each step on the whole problem

    @property
    def is_part(self) -> bool:
        """Whether this stage is not the whole problem."""
        return len(self.stages) > 1


@dataclass(frozen=True)
class ProximalNewton(RowSolver):
    """Proximal rounds of Newton steps in the weights: many samples, few features, any C, any bias, any tolerance.

    *Use it when* n ≫ d. *Needs* the linear kernel, L2, hinge or squared hinge, finite costs. *Costs* 15 to 150 steps of one pass
    over the data and d³/3; for d > 3000 not d³/3 but 10 to 100 conjugate-gradient rounds over the samples near the margin. Memory
    O(n + d²) beside the data, or a copy of these samples. *Equivalent to* InteriorPoint at its optimum.

    Parameters
    ----------
    seed : int
        Of the part of the samples that it begins with.
    n_threads : int
        Threads for passes over the data; the answer does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import ProximalNewton, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), ProximalNewton(), tol=1e-8)
    >>> np.round(solution.w, 6), round(solution.b, 6)
    (array([2.]), -3.0)
    """

    losses = (Hinge, SquaredHinge)

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """w = 0 on the first part, or the warm start's w and α on the whole."""
        rows, w = Rows.shared_by_halves(problem, self.n_threads), np.zeros(problem.X.shape[1] + 1)
        if warm is not None:
            w[:-1], w[-1] = warm.w, warm.b / (problem.bias.scale or 1.0)
            alpha = warm.beta * problem.y
            theta = np.divide(alpha, problem.cost, out=np.zeros(problem.n), where=problem.cost > 0)
            theta = np.clip(theta, 0.0, 1.0)
            smooth = Smoothed(problem.loss, problem.bias, self._part(problem, rows, WHOLE), w, near_sigma(theta), theta)
            return _State(problem, rows, smooth, [WHOLE])
        if problem.bias.is_free:
            w[-1] = best_bias(problem, np.zeros(problem.n), np.zeros(problem.n)).middle
        stages = stages_of(problem) if rows.n_values > REFINE.small else [WHOLE]
        part = self._part(problem, rows, stages[0])
        smooth = Smoothed(problem.loss, problem.bias, part, w, 1.0, np.full(len(part.y), 0.5))
        smooth.bend_all()
        return _State(problem, rows, smooth, stages)

    def _part(self, problem: Problem, rows: Rows, stage: Stage) -> Part:
        """Some samples: from each class as many as its size asks for, and with their costs raised; or all of them."""
        if stage.size >= problem.n:
            return Part(rows, problem.y, problem.cost, problem.target, problem.total)
        rng, on = np.random.default_rng(self.seed), problem.present
        factor = np.zeros(problem.n)
        for label in (-1.0, 1.0):
            members = on[problem.y[on] == label]
            size = min(len(members), int(max(1, stage.size // 4, stage.size * len(members) // len(on))))
            factor[rng.permutation(members)[:size]] = len(members) / max(size, 1)
        samples = np.flatnonzero(factor)
        target = None if problem.target is None else problem.target[samples]
        cost = stage.share * (factor * problem.cost)[samples]
        return Part(rows.take(samples), problem.y[samples], cost, target, problem.total)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One Newton step, or the passage from the part to the whole."""
        tuning = equations.TUNING
        if state.best is None and not state.is_part:
            _keep_the_best(state)
        with deferred_interrupt() as was_interrupted:
            smooth = state.smooth
            if state.is_part and (smooth.gain <= tuning.rough * smooth.primal or state.inner > tuning.longest):
                self._enter_next(state)
            else:
                state.inner = advance(smooth, state.inner, lambda: was_interrupted() or clock.spent() is not None)
        gap = state.smooth.gap
        if state.is_part:
            return Progress.without_claim(gap, tol)
        _keep_the_best(state)
        to_come = rounds_to_come(state.gaps, max(tol, DRIVER.finest), max(len(state.gaps) // 2, tuning.longest))
        if state.rows.n_values <= REFINE.small and gap > math.sqrt(UNIT):  # steps cost nothing there
            if len(state.gaps) % tuning.longest:
                return Progress.without_claim(gap, tol, to_come=to_come)
            gap = 0.0  # asks for the check: `finish` may find the last digits already
        return Progress(gap, to_come=to_come)

    def _enter_next(self, state: _State) -> None:
        """Take the weights, and what can be known of θ, to the next stage."""
        before, stage = state.stages.pop(0), state.stages[0]
        theta = np.clip(state.smooth.theta, 0.0, state.smooth.top)
        theta = np.where(theta >= 1.0, 1.0, theta * (before.share / stage.share))  # what was at its bound stays there
        part = self._part(state.problem, state.rows, stage)
        centre = theta if before.size == stage.size else np.full(len(part.y), 0.5 * level_of(theta))
        loss, bias = state.problem.loss, state.problem.bias
        state.smooth, state.inner = Smoothed(loss, bias, part, state.smooth.w, near_sigma(theta), centre), 0

    def finish(self, state: _State, tol: float) -> Candidate:
        """The best (w, θ) of the whole problem; on the way there what the present w makes of it."""
        state = replace(state, stages=state.stages.copy())
        while state.is_part:
            self._enter_next(state)
        w, theta = (state.smooth.w, state.smooth.theta) if state.best is None else state.best
        problem = state.problem
        b = problem.bias.scale * float(w[-1])
        candidate = to_candidate(problem, problem.y * problem.cost * theta, w[:-1], b)
        return refine(problem, candidate, tol) if state.rows.n_values <= REFINE.small else candidate


def advance(smooth: SmoothedSums, inner: int, is_over: Callable[[], bool]) -> int:
    """A Newton step, in the next proximal round where this one has had enough; returns the steps of the round so far."""
    tuning, is_hinge = equations.TUNING, smooth.top == 1.0
    if is_hinge and inner and (smooth.apart <= tuning.inexact * smooth.residual or inner >= tuning.longest):
        smooth.next_round(math.sqrt(tuning.growth) if 2 * inner > tuning.longest else tuning.growth)
        inner = 0
    if not smooth.newton_step(is_over):  # not downhill by the linear model that was kept, or nothing left to gain
        smooth.respond()
        if not smooth.newton_step(is_over):
            inner = tuning.longest
    smooth.respond()
    return inner + 1


def _keep_the_best(state: _State) -> None:
    gap = state.smooth.gap
    if gap < state.best_gap:
        state.best, state.best_gap = (state.smooth.w, state.smooth.theta.copy()), gap
    state.gaps.append(state.best_gap)


def stages_of(problem: Problem) -> list[Stage]:
    """Small parts before large ones, and on the smallest the cost in steps."""
    (n, d), on, tuning = (len(problem.present), problem.X.shape[1]), problem.present, equations.TUNING
    size, share, stages = first_size(n, d), 1.0, list[Stage]()
    while 4 * size <= n:
        stages.append(Stage(size))
        size *= 2 * tuning.part
    typical = float(problem.cost[on].mean()) * float(problem.lengths[on].mean()) ** 2
    while stages and share * typical > tuning.easy:
        share /= tuning.cost_step
        stages.insert(0, Stage(stages[0].size, share))
    return [*stages, WHOLE]


def first_size(n: int, d: int) -> int:
    """Samples in the part to begin with, of n with d features."""
    return max(min(n // equations.TUNING.part, equations.TUNING.most), equations.TUNING.part * d)


def near_sigma(theta: Floats) -> float:
    """σ where a solution is near, of which θ are known."""
    return 2.0 * equations.TUNING.growth * level_of(theta)


def level_of(theta: Floats) -> float:
    """The mean θ of the support vectors."""
    used = theta[theta > 0]
    return float(np.minimum(used, 1.0).mean()) if len(used) else 1.0
