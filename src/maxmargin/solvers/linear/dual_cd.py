"""Dual coordinate descent for linear SVMs.

    min_β  ½‖Xᵀβ‖² − tᵀβ    s.t.  lo ≤ β ≤ hi,   and Σβ = τ where the bias is free

Algorithm 1 of Hsieh et al. (ICML 2008) with their shrinking rule; chunks of neighbouring samples come in a random order, the
samples of a chunk as they lie in memory. A free bias is handled by the method of multipliers: a constant feature s and an offset
b₀, moved by b₀ ← b₀ + s²(Σβ − τ) after each sweep, so that Σβ = τ in the limit.

Where sweeps only polish, the samples strictly inside their box are moved together now and then (see `face`). Twins of both
classes and their like are what sweeps crawl along: each moves the pair by 1/‖x‖² at most, and it has to go as far as C. How many
sweeps are still to come is reported, so that another solver can go on where that is many.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from maxmargin.core.bias import best_bias
from maxmargin.core.candidate import Candidate, make_feasible, to_candidate
from maxmargin.core.problem import Problem
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress
from maxmargin.solvers.interrupts import deferred_interrupt
from maxmargin.solvers.linear.face import Face
from maxmargin.solvers.linear.rows import Rows, RowSolver
from maxmargin.solvers.refine import SMALL, refine
from maxmargin.solvers.stall import FINEST, rounds_to_come
from maxmargin.typing import Floats, Indices

MULTIPLIER = 0.25
"""The constant feature of a free bias, as a share of a sample's length: 0.1 to 0.5 cost no more sweeps than no bias does; with 1
or more the sweeps multiply, as the constant then couples all samples."""

FIELDS = HIGHEST, LOWEST, RESIDUAL, N_ACTIVE, GAIN = tuple(range(5))
"""What a sweep reports, by position."""

CHUNK_VALUES, CHUNK_ROWS = 3000, 20
"""Samples that are visited as they lie in memory: so many stored values, but no more rows. The chunks come in random order."""

CLAIM = 0.75
"""A sweep sees each sample before it moves it, so what it counts is about 4/3 of the gap that it leaves."""

FIRST_FACE = 12
"""Sweeps before the first step on a face."""

PACE = 5
"""Sweeps over which their pace is measured."""

FACE_PAUSE, LONGEST_PAUSE = 5, 320
"""Sweeps from one such step to the next: at least, and at most."""

CHEAPEST_FACE = 4.0
"""What a step on a face costs, in sweeps, at least."""

EAGER = 0.2
"""A sample is shrunk when its gradient holds it on its bound by more than this share of the last sweep's largest violation."""

FULL_EVERY = 40
"""Sweeps after which all samples are visited again, shrunk or not."""


@dataclass
class Active:
    """The samples in visiting order; the first `count` are not shrunk."""

    samples: Indices
    seed: Any
    count: int
    order: Indices
    visits: Indices
    thresholds: Floats
    report: Floats
    chunk: int

    @classmethod
    def of(cls, samples: Indices, seed: int, chunk: int) -> "Active":
        """All samples."""
        n = len(samples)
        state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        order, visits = np.empty(n, np.int64), np.empty(n, np.int64)
        new = cls(samples, state, n, order, visits, np.empty(2), np.zeros(len(FIELDS)), chunk)
        new.unshrink()
        return new

    @property
    def is_full(self) -> bool:
        """Whether no sample is shrunk."""
        return self.count == len(self.samples)

    def unshrink(self) -> None:
        """Let all samples be visited again."""
        self.count = len(self.samples)
        self.order[:] = self.samples
        self.thresholds[:] = np.inf, -np.inf

    def learn(self) -> None:
        """Take the thresholds of the next sweep from the report of this one."""
        self.count = int(self.report[N_ACTIVE])
        self.thresholds[0] = EAGER * self.report[HIGHEST] if self.report[HIGHEST] > 0 else np.inf
        self.thresholds[1] = EAGER * self.report[LOWEST] if self.report[LOWEST] < 0 else -np.inf


@dataclass
class _State:
    problem: Problem
    rows: Rows
    target: Floats
    upper: Floats
    delta: Floats
    square: Floats
    alpha: Floats
    w: Floats
    s: float
    active: Active
    face: Face
    b0: float = 0.0
    dual: float = 0.0
    missing: list[float] = field(default_factory=list)
    sweeps: int = 0
    next_face: int = FIRST_FACE
    next_claim: int = 16
    face_cost: float = 40.0
    seconds: float = 0.0  # of all sweeps
    face_pause: int = FACE_PAUSE


@dataclass(frozen=True)
class DualCD(RowSolver):
    """Dual coordinate descent: the classic for sparse, wide data.

    *Use it when* the data are sparse or wide and C is moderate. *Needs* the linear kernel, L2, a loss with a quadratic dual
    (hinge, squared hinge), finite costs. *Costs* O(non-zeros) a sweep, some ten sweeps for a gap of 1e-3, many more for large C;
    memory O(n + d) beside the data. *Equivalent to* InteriorPoint at its optimum.

    Parameters
    ----------
    seed : int
        Of the visiting order.
    n_threads : int
        Threads for steps on a face; the answer does not depend on it.

    Examples
    --------
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), DualCD(), tol=1e-6)
    >>> np.round(solution.w, 4), round(solution.b, 4)
    (array([2.]), -3.0)
    """

    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> _State:
        """α = 0, or the warm start's."""
        rows = Rows.of(problem, self.n_threads)
        square = problem.squares.copy()
        on = problem.present
        s = problem.bias.scale
        if problem.bias.is_free:
            s = constant_feature(float(square[on].mean()), float(problem.cost.sum()))
        delta, upper = problem.loss.dual_diagonal(problem.cost), problem.loss.upper(problem.cost)
        square += s * s + delta
        alpha = np.zeros(problem.n)
        w = np.zeros(problem.X.shape[1] + 1)
        b0 = best_bias(problem, alpha, alpha).middle if problem.bias.is_free else 0.0
        if warm is not None:
            beta = make_feasible(problem, warm.beta)
            alpha, b0 = beta * problem.y, warm.b if problem.bias.is_free else 0.0
            w[:-1], w[-1] = problem.combine(beta), s * beta.sum()
        w[-1] -= s * problem.total
        target = np.ones(problem.n) if problem.target is None else problem.target
        state = _State(
            problem,
            rows,
            target,
            upper,
            delta,
            square,
            alpha,
            w,
            s,
            Active.of(on, self.seed, chunk_of(rows, len(on))),
            Face(rows, problem.y, target, upper, delta, square, s),
            b0,
        )
        state.dual = _dual_value(state)
        return state

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One sweep over the active samples; all of them before anything is claimed."""
        with deferred_interrupt():
            was_full = state.active.is_full
            begin = clock.seconds
            _sweep(state)
            state.seconds += clock.seconds - begin
            state.sweeps += 1
            missing = float(state.active.report[RESIDUAL])
            if state.problem.bias.is_free:
                imbalance = state.w[-1] / state.s
                missing += abs(imbalance)
                state.b0 += state.s * state.w[-1]
                state.dual -= state.s * state.w[-1] * imbalance
            state.missing.append(missing)
            if self._face_pays(state, tol, clock):
                self._face_step(state, lambda: clock.spent() is not None)
        gap = CLAIM * missing / max(abs(state.dual) + missing, np.finfo(float).tiny)
        state.active.learn()
        if (gap <= tol and not was_full) or state.active.count == 0 or state.sweeps % FULL_EVERY == 0:
            state.active.unshrink()
        # Σβ = τ holds only in the limit: until then the value is no dual value where the bias is free
        dual = -np.inf if state.problem.bias.is_free else state.dual
        to_come = 0.0 if state.sweeps < FIRST_FACE else _sweeps_to_come(state, tol, state.sweeps // 2)
        if state.rows.n_values <= SMALL and state.sweeps >= state.next_claim:
            state.next_claim *= 2
            gap, was_full = 0.0, True  # asks for the check: `finish` may find the last digits already
        report = Progress if was_full else partial(Progress.without_claim, tol=tol)
        return report(gap, dual=dual, to_come=to_come)

    def _face_pays(self, state: _State, tol: float, clock: Clock) -> bool:
        """Whether there is time for a step on the face, and it costs less than the sweeps still to come at their pace."""
        if state.sweeps < state.next_face or state.face_cost * state.seconds / state.sweeps > clock.seconds_left:
            return False
        return _sweeps_to_come(state, tol, PACE) > state.face_cost

    def _face_step(self, state: _State, is_over: Callable[[], bool]) -> None:
        """A step on the face; where sweeps gain more at the same cost, the next one has to wait twice as long."""
        done = state.face.step(state.alpha, state.w, state.b0, is_over)
        has_paid = False
        if done is not None:
            state.w = state.w + done.move
            state.dual += done.gain
            state.face_cost = max(CHEAPEST_FACE, done.cost)
            has_paid = done.gain > done.cost * float(state.active.report[GAIN])
        state.face_pause = FACE_PAUSE if has_paid else min(2 * state.face_pause, LONGEST_PAUSE)
        state.next_face = state.sweeps + state.face_pause

    def finish(self, state: _State, tol: float) -> Candidate:
        """The present α as a candidate; w as it was kept, so that nothing is summed again."""
        b = state.s * float(state.w[-1])  # where it is penalised
        candidate = to_candidate(state.problem, state.alpha * state.problem.y, state.w[:-1].copy(), b)
        return refine(state.problem, candidate) if state.rows.n_values <= SMALL else candidate


def constant_feature(mean_square: float, total_cost: float) -> float:
    """That of a free bias: at least so large that one sweep can move b₀ by a margin, however small the costs are."""
    return float(max(MULTIPLIER * math.sqrt(mean_square), total_cost**-0.5))


def chunk_of(rows: Rows, n: int) -> int:
    """Neighbouring samples that are visited together, of n that count."""
    return min(max(1, CHUNK_VALUES * n // max(rows.n_values, 1)), CHUNK_ROWS)


def _sweep(state: _State) -> None:
    box = state.target, state.upper, state.delta, state.square
    sweep(state.rows, state.problem.y, box, state.alpha, state.w, (state.s, state.b0, 1.0), state.active)
    state.dual += float(state.active.report[GAIN])


def sweep(
    rows: Rows,
    y: Floats,
    box: tuple[Floats, Floats, Floats, Floats],
    alpha: Floats,
    w: Floats,
    numbers: tuple[float, float, float],
    active: Active,
) -> None:
    """Visit the active samples once: changes α and w, and fills the report.

    `box` has the targets, the upper bounds, the diagonal of the loss, and with it the squared lengths; `numbers` are the
    constant feature, the offset b₀, and how often a move counts in w (see the loop).
    """
    from maxmargin._loops.linear.dual_cd import sweep_csr, sweep_dense

    (sweep_csr if rows.is_sparse else sweep_dense)(
        *rows.arrays, y, *box, alpha, w, *numbers, active.order, active.count, active.thresholds, active.chunk,
        active.seed, active.visits, active.report,
    )  # fmt: skip


def _sweeps_to_come(state: _State, tol: float, pace: int) -> float:
    return rounds_to_come(state.missing, max(tol, FINEST) * abs(state.dual), pace)


def _dual_value(state: _State) -> float:
    """D of the present α with its offset b₀."""
    gain = state.alpha @ (state.target - state.problem.y * state.b0) - 0.5 * (state.delta * state.alpha) @ state.alpha
    return float(gain + state.problem.total * state.b0 - 0.5 * (state.w @ state.w))
