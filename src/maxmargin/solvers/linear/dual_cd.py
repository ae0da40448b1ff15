"""Dual coordinate descent for linear SVMs.

    min_β  ½‖Xᵀβ‖² − tᵀβ    s.t.  lo ≤ β ≤ hi,   and Σβ = τ where the bias is free

Algorithm 1 of Hsieh et al. (ICML 2008) with their shrinking rule; chunks of neighbouring samples come in a random order, the
samples of a chunk as they lie in memory. A free bias is handled by the method of multipliers: a constant feature s and an offset
b₀, moved by b₀ ← b₀ + s²(Σβ − τ) after each sweep, so that Σβ = τ in the limit.

Where sweeps only polish, the samples strictly inside their box, those on its *face*, are moved together now and then: conjugate
gradients, ended as soon as a round gains little beside the best one, then a search along the projected path (Moré & Toraldo, SIAM
J. Optim. 1991). Sweeps find the face; these steps shorten the crawl along it. Twins of both classes and their like are what
sweeps crawl along: each moves the pair by 1/‖x‖² at most, and it has to go as far as C. How many sweeps are still to come is
reported, so that another solver can go on where that is many.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from maxmargin.core import Candidate, Problem, best_bias, make_feasible, to_candidate
from maxmargin.solvers.base import DRIVER, Clock, Progress, deferred_interrupt, rounds_to_come
from maxmargin.solvers.linear.rows import STEP_LENGTHS, Rows, RowSolver, Signed, conjugate_gradients
from maxmargin.solvers.refine import REFINE, refine
from maxmargin.typing import Floats, Indices

FIELDS = HIGHEST, LOWEST, RESIDUAL, N_ACTIVE, GAIN = tuple(range(5))
"""What a sweep reports, by position."""


@dataclass(frozen=True)
class DualCDTuning:
    """Numbers set by hand. Where nothing else is said they were compared on 20newsgroups, farm_ads, webkb4 and ohsumed."""

    constant: float = 0.25
    """Constant feature of a free bias, as a share of a sample's length: 0.1 to 0.5 cost no more sweeps than no bias does; with 1
    or more the sweeps multiply, as the constant then couples all samples."""

    chunk: int = 20
    """Neighbouring samples that are visited as they lie in memory: reading memory in order is fast, but chunks come in a random
    order, and that needs many of them."""

    claim: float = 0.75
    """Share of what a sweep counts that is the gap which it leaves: it sees each sample before it moves it. With 1 a default fit
    of 20newsgroups takes three sweeps of 18 more."""

    eager: float = 0.2
    """Share of the last sweep's largest violation by which its gradient must hold a sample on its bound to be shrunk. Hsieh et
    al. have 1, which takes twice as long on farm_ads with C = 100."""

    full_every: int = 40
    """Sweeps after which all samples are visited again, shrunk or not."""

    pace: int = 5
    """Sweeps over which their pace is measured, and least pause from one step on a face to the next."""

    enough: float = 0.3
    """Share of the best conjugate-gradient round's gain below which a round is the last: sweeps do the rest more cheaply."""


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

    @classmethod
    def of(cls, samples: Indices, seed: int) -> "Active":
        """All samples."""
        n = len(samples)
        state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        order, visits = np.empty(n, np.int64), np.empty(n, np.int64)
        new = cls(samples, state, n, order, visits, np.empty(2), np.zeros(len(FIELDS)))
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
        highest, lowest, eager = self.report[HIGHEST], self.report[LOWEST], DualCD.tuning.eager
        self.thresholds[:] = eager * highest if highest > 0 else np.inf, eager * lowest if lowest < 0 else -np.inf


class _State:
    """α, w, the offset b₀ and the constant feature s, with what sweeps need of each sample, and what the last ones did."""

    def __init__(self, problem: Problem, rows: Rows, warm: Candidate | None, seed: int) -> None:
        on, n, is_free = problem.present, problem.n, problem.bias.is_free
        self.problem, self.rows = problem, rows
        self.target = np.ones(n) if problem.target is None else problem.target
        self.upper, self.delta = problem.loss.upper(problem.cost), problem.loss.dual_diagonal(problem.cost)
        self.s = problem.bias.scale
        if is_free:
            self.s = constant_feature(float(problem.squares[on].mean()), float(problem.cost.sum()))
        self.square = problem.squares + self.s**2 + self.delta
        self.alpha, self.w = np.zeros(n), np.zeros(problem.X.shape[1] + 1)
        self.b0 = best_bias(problem, self.alpha, self.alpha).middle if is_free else 0.0
        if warm is not None:
            beta = make_feasible(problem, warm.beta)
            self.alpha, self.b0 = beta * problem.y, warm.b if is_free else 0.0
            self.w[:-1], self.w[-1] = problem.combine(beta), self.s * beta.sum()
        self.w[-1] -= self.s * problem.total
        gain = self.alpha @ (self.target - problem.y * self.b0) - 0.5 * (self.delta * self.alpha) @ self.alpha
        self.dual = float(gain + problem.total * self.b0 - 0.5 * (self.w @ self.w))  # with the offset b₀
        self.active = Active.of(on, seed)
        self.missing: list[float] = []
        self.seconds = 0.0  # of all sweeps
        self.face_pause = DualCD.tuning.pace
        self.next_face = self.next_claim = 2 * self.face_pause
        self.face_cost = 4.0 * self.face_pause  # unknown: it is to save more sweeps than there were

    @property
    def sweeps(self) -> int:
        """Sweeps so far."""
        return len(self.missing)

    def sweep(self) -> None:
        """Visit the active samples; where the bias is free, move b₀ after that."""
        box = self.target, self.upper, self.delta, self.square
        sweep(self.rows, self.problem.y, box, self.alpha, self.w, (self.s, self.b0, 1.0), self.active)
        self.dual += float(self.active.report[GAIN])
        missing = float(self.active.report[RESIDUAL])
        if self.problem.bias.is_free:
            imbalance = self.w[-1] / self.s
            missing += abs(imbalance)
            self.b0 += self.s * self.w[-1]
            self.dual -= self.s * self.w[-1] * imbalance
        self.missing.append(missing)

    def sweeps_to_come(self, tol: float, pace: int) -> float:
        """Sweeps that the tolerance still asks for."""
        return rounds_to_come(self.missing, max(tol, DRIVER.finest) * abs(self.dual), pace)


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
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import DualCD, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), DualCD(), tol=1e-6)
    >>> np.round(solution.w, 4), round(solution.b, 4)
    (array([2.]), -3.0)
    """

    tuning: ClassVar[DualCDTuning] = DualCDTuning()

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """α = 0, or the warm start's."""
        return _State(problem, Rows.of(problem, self.n_threads), warm, self.seed)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One sweep over the active samples; all of them before anything is claimed."""
        with deferred_interrupt():
            active, was_full, begin = state.active, state.active.is_full, clock.seconds
            state.sweep()
            state.seconds += clock.seconds - begin
            if self._face_pays(state, tol, clock):
                face_step(state, lambda: clock.spent() is not None)
        missing = state.missing[-1]
        gap = self.tuning.claim * missing / max(abs(state.dual) + missing, np.finfo(float).tiny)
        active.learn()
        if (gap <= tol and not was_full) or active.count == 0 or state.sweeps % self.tuning.full_every == 0:
            active.unshrink()
        # Σβ = τ holds only in the limit: until then the value is no dual value where the bias is free
        dual = -np.inf if state.problem.bias.is_free else state.dual
        to_come = 0.0 if state.sweeps < 2 * self.tuning.pace else state.sweeps_to_come(tol, state.sweeps // 2)
        if state.rows.n_values <= REFINE.small and state.sweeps >= state.next_claim:
            state.next_claim *= 2
            gap, was_full = 0.0, True  # asks for the check: `finish` may find the last digits already
        report = Progress if was_full else partial(Progress.without_claim, tol=tol)
        return report(gap, dual=dual, to_come=to_come)

    def _face_pays(self, state: _State, tol: float, clock: Clock) -> bool:
        """Whether there is time for a step on the face, and it costs less than the sweeps still to come at their pace."""
        if state.sweeps < state.next_face or state.face_cost * state.seconds / state.sweeps > clock.seconds_left:
            return False
        return state.sweeps_to_come(tol, self.tuning.pace) > state.face_cost

    def finish(self, state: _State, tol: float) -> Candidate:
        """The present α as a candidate; w as it was kept, so that nothing is summed again."""
        b = state.s * float(state.w[-1])  # where it is penalised
        candidate = to_candidate(state.problem, state.alpha * state.problem.y, state.w[:-1].copy(), b)
        return refine(state.problem, candidate, tol) if state.rows.n_values <= REFINE.small else candidate


def constant_feature(mean_square: float, total_cost: float) -> float:
    """That of a free bias: at least so large that one sweep can move b₀ by a margin, however small the costs are."""
    return float(max(DualCD.tuning.constant * math.sqrt(mean_square), total_cost**-0.5))


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
        *rows.arrays, y, *box, alpha, w, *numbers, active.order, active.count, active.thresholds, DualCD.tuning.chunk,
        active.seed, active.visits, active.report,
    )  # fmt: skip


def face_step(state: _State, is_over: Callable[[], bool] = lambda: False) -> None:
    """Move the free samples towards their common minimum, until `is_over`; they minimise

        ½‖Σ α_j y_j x̃_j‖² + ½Σ δ_j α_j² − Σ (r_j − y_j b₀) α_j     s.t.  0 ≤ α ≤ u

    Where sweeps gain more at the same cost, the next step has to wait twice as long.
    """
    is_free, tuning = (state.alpha > 0) & (state.alpha < state.upper), DualCD.tuning
    at, rows = state.rows.gathered(np.flatnonzero(is_free))
    y, start, delta, free = state.problem.y[at], state.alpha[at], state.delta[at], is_free[at]
    A = Signed(rows, y, state.s)
    descent = np.where(free, state.target[at] - y * state.b0 - A.scores(state.w) - delta * start, 0.0)

    def times(v: Floats) -> Floats:
        return np.where(free, A.scores(A.combine(v)) + delta * v, 0.0)

    direction, rounds = conjugate_gradients(times, descent, state.square[at], enough=tuning.enough, is_over=is_over)
    best, gain, move = start, 0.0, np.zeros_like(state.w)
    passes = 2 * rounds + 3  # the copy of the rows counts as two
    for length in STEP_LENGTHS if rounds else ():
        trial = np.clip(start + length * direction, 0.0, state.upper[at])
        change = trial - start
        its_move = A.combine(change)
        its_gain = float(descent @ change) - 0.5 * float(its_move @ its_move + (delta * change) @ change)
        passes += 1
        if its_gain > gain:
            best, gain, move = trial, its_gain, its_move.copy()
        elif gain > 0.0:
            break
    state.alpha[at], state.w, state.dual = best, state.w + move, state.dual + gain
    state.face_cost = 0.5 * passes  # in sweeps over the free samples
    has_paid = gain > state.face_cost * float(state.active.report[GAIN])
    state.face_pause = tuning.pace if has_paid else 2 * state.face_pause
    state.next_face = state.sweeps + state.face_pause
