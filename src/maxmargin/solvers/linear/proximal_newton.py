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

It begins with a random part of the samples, and with a part of the cost where C is large: their solutions are near the next
one, so that the whole is a matter of few steps.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from maxmargin.core.bias import best_bias
from maxmargin.core.candidate import Candidate, to_candidate
from maxmargin.core.losses import Hinge, SquaredHinge
from maxmargin.core.problem import Problem
from maxmargin.core.workspace import Workspace
from maxmargin.rounding import UNIT
from maxmargin.solvers.base import DRIVER, Clock, Progress, deferred_interrupt, rounds_to_come
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear.rows import Rows, RowSolver
from maxmargin.solvers.linear.smoothed_hinge import Part, Smoothed, SmoothedSums
from maxmargin.solvers.refine import REFINE, refine
from maxmargin.typing import Floats


class _Stage(NamedTuple):
    """A part of the problem: how many samples (None: all), and which share of the cost."""

    n_samples: int | None
    share: float


@dataclass
class _State:
    problem: Problem
    rows: Rows
    stages: list[_Stage]  # still to come
    stage: _Stage
    smooth: Smoothed
    inner: int = 0  # steps of this round
    best: tuple[Floats, Floats] | None = None  # (w, θ) of the whole problem
    best_gap: float = np.inf
    gaps: list[float] = field(default_factory=list)  # the best after each step on the whole problem


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
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), ProximalNewton(), tol=1e-8)
    >>> np.round(solution.w, 6), round(solution.b, 6)
    (array([2.]), -3.0)
    """

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if problem.loss.has_quadratic_dual and not isinstance(problem.loss, Hinge | SquaredHinge):
            return f"ProximalNewton smooths the hinge and the squared hinge, got {problem.loss!r}. Use DualCD()."
        return super().accepts(problem)

    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> _State:
        """w = 0 on the first part, or the warm start's w and α on the whole."""
        rows = Rows.of(problem, self.n_threads)
        n, d = rows.shape
        w = np.zeros(d + 1)
        if warm is not None:
            w[:d], w[d] = warm.w, warm.b / (problem.bias.scale or 1.0)
            alpha = warm.beta * problem.y
            theta = np.clip(np.divide(alpha, problem.cost, out=np.zeros(n), where=problem.cost > 0), 0.0, 1.0)
            whole = Part(rows, problem.y, problem.cost, problem.target, problem.total)
            smooth = Smoothed(problem.loss, problem.bias, whole, w, near_sigma(theta), theta)
            return _State(problem, rows, [], _Stage(None, 1.0), smooth)
        if problem.bias.is_free:
            w[d] = best_bias(problem, np.zeros(n), np.zeros(n)).middle
        first, *stages = _plan(problem, rows)
        part = self._part(problem, rows, first)
        smooth = Smoothed(problem.loss, problem.bias, part, w, 1.0, np.full(len(part.y), 0.5))
        smooth.bend_all()
        return _State(problem, rows, stages, first, smooth)

    def _part(self, problem: Problem, rows: Rows, stage: _Stage) -> Part:
        """The samples of a stage: from each class as many of its samples as its size asks for, and with their costs raised."""
        if stage.n_samples is None:
            return Part(rows, problem.y, stage.share * problem.cost, problem.target, problem.total)
        rng = np.random.default_rng(self.seed)
        on = problem.present
        chosen, raised = [], []
        for label in (-1.0, 1.0):
            members = on[problem.y[on] == label]
            if not len(members):
                continue
            size = min(len(members), max(1, stage.n_samples // 4, stage.n_samples * len(members) // len(on)))
            chosen.append(rng.permutation(members)[:size])
            raised.append(np.full(size, len(members) / size))
        samples, factor = np.concatenate(chosen), np.concatenate(raised)
        order = np.argsort(samples)
        samples, factor = samples[order], factor[order]
        cost = stage.share * factor * problem.cost[samples]
        target = None if problem.target is None else problem.target[samples]
        return Part(rows.take(samples), problem.y[samples], cost, target, problem.total)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One Newton step, or the passage to the next stage."""
        if state.best is None and not state.stages:
            _keep_the_best(state)
        with deferred_interrupt() as was_interrupted:
            self._advance(state, lambda: was_interrupted() or clock.spent() is not None)
        gap = state.smooth.gap
        if state.stages:
            return Progress.without_claim(gap, tol)
        _keep_the_best(state)
        to_come = rounds_to_come(
            state.gaps, max(tol, DRIVER.finest), max(len(state.gaps) // 2, equations.TUNING.longest)
        )
        if state.rows.n_values <= REFINE.small and gap > math.sqrt(UNIT):  # steps cost nothing there
            if len(state.gaps) % equations.TUNING.longest:
                return Progress.without_claim(gap, tol, to_come=to_come)
            gap = 0.0  # asks for the check: `finish` may find the last digits already
        return Progress(gap, to_come=to_come)

    def _advance(self, state: _State, is_over: Callable[[], bool]) -> None:
        smooth = state.smooth
        if state.stages and (
            smooth.gain <= equations.TUNING.rough * smooth.primal or state.inner > equations.TUNING.longest
        ):
            self._enter_next(state)
            return
        state.inner = advance(smooth, state.inner, is_over)

    def _enter_next(self, state: _State) -> None:
        """Take the weights, and what can be known of θ, to the next stage."""
        before, stage, w = state.stage, state.stages.pop(0), state.smooth.w
        theta = np.clip(state.smooth.theta, 0.0, state.smooth.top)
        theta = np.where(theta >= 1.0, 1.0, theta * (before.share / stage.share))  # what was at its bound stays there
        part = self._part(state.problem, state.rows, stage)
        is_same = before.n_samples == stage.n_samples
        centre = theta if is_same else np.full(len(part.y), 0.5 * level_of(theta))
        state.smooth = Smoothed(state.problem.loss, state.problem.bias, part, w, near_sigma(theta), centre)
        state.stage, state.inner = stage, 0

    def finish(self, state: _State, tol: float) -> Candidate:
        """The best (w, θ) of the whole problem; on the way there what the present w makes of it."""
        if state.stages:
            state = replace(state, stages=state.stages.copy())
            while state.stages:
                self._enter_next(state)
        w, theta = (state.smooth.w, state.smooth.theta) if state.best is None else state.best
        problem = state.problem
        b = problem.bias.scale * float(w[-1])
        candidate = to_candidate(problem, problem.y * problem.cost * theta, w[:-1], b)
        return refine(problem, candidate) if state.rows.n_values <= REFINE.small else candidate


def advance(smooth: SmoothedSums, inner: int, is_over: Callable[[], bool]) -> int:
    """A Newton step, in the next proximal round where this one has had enough; returns the steps of the round so far."""
    tuning, is_hinge = equations.TUNING, smooth.top == 1.0
    if is_hinge and inner and (smooth.apart <= tuning.inexact * smooth.residual or inner >= tuning.longest):
        smooth.next_round(tuning.growth)
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


def _plan(problem: Problem, rows: Rows) -> list[_Stage]:
    """Small parts before large ones, and on the smallest the cost in steps."""
    on = problem.present
    typical = float(problem.cost[on].mean()) * (float(problem.squares[on].mean()) + problem.bias.scale**2)
    shares = cost_shares(typical) if problem.total == 0.0 else [1.0]  # with less cost β may not sum up to the total
    sizes: list[int | None] = []
    size = first_size(rows.shape[1])
    while 4 * size <= len(on):
        sizes.append(size)
        size *= equations.TUNING.part
    sizes.append(None)
    return [_Stage(sizes[0], share) for share in shares] + [_Stage(size, 1.0) for size in sizes[1:]]


def first_size(d: int) -> int:
    """Samples in the part to begin with, of those with d features."""
    return max(equations.TUNING.first_samples, equations.TUNING.part * d)


def cost_shares(typical: float) -> list[float]:
    """The shares of the cost to count one after the other, the last of them 1, given c‖x‖² of a typical sample.

    Examples
    --------
    >>> cost_shares(10.0), cost_shares(1e4)
    ([1.0], [0.01, 1.0])
    """
    shares = [1.0]
    while shares[0] * typical > equations.TUNING.cost_step:
        shares.insert(0, shares[0] / equations.TUNING.cost_step)
    return shares


def near_sigma(theta: Floats) -> float:
    """σ where a solution is near, of which θ are known."""
    return 2.0 * equations.TUNING.growth * level_of(theta)


def level_of(theta: Floats) -> float:
    """The mean θ of the support vectors."""
    used = theta[theta > 0]
    return float(np.minimum(used, 1.0).mean()) if len(used) else 1.0
