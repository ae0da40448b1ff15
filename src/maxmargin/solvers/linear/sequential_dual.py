"""The sequential dual method for several classes in one problem.

    min_β  ½ Σ_m ‖w_m(β)‖² − Σ_j β_j^{y_j}    s.t.  β_j^m ≤ c_j [m = y_j],  Σ_m β_j^m = 0,  and Σ_j β_j^m = 0 for free biases

Keerthi, Sundararajan, Chang, Hsieh & Lin, KDD 2008: one visit solves the problem of one sample, a projection onto its simplex. As
in `DualCD`, samples whose η a gradient holds in its corner are left out for a while, chunks of neighbours come in a random order,
and free biases are handled by the method of multipliers.

Where sweeps only polish, the η that are not 0, the *face*, are moved together: conjugate gradients over what keeps Σ_m η_jm, then
a search along the path that is projected onto the simplices.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from maxmargin.core import Candidate
from maxmargin.core.bias import hinge_interval
from maxmargin.core.joint import JointProblem
from maxmargin.solvers.base import DRIVER, Clock, Progress, Solver, deferred_interrupt, rounds_to_come
from maxmargin.solvers.linear.dual_cd import GAIN, HIGHEST, N_ACTIVE, RESIDUAL, Active, DualCD, constant_feature
from maxmargin.solvers.linear.rows import STEP_LENGTHS, Rows, conjugate_gradients
from maxmargin.typing import Flags, Floats


class _State:
    """η, W and the offsets b₀, and what the last sweeps did."""

    def __init__(self, problem: JointProblem, warm: Candidate | None, seed: int) -> None:
        from maxmargin._loops.linear.csr import FOUR

        n, k, d = problem.n, problem.n_classes, problem.X.shape[1]
        self.problem, self.rows = problem, Rows.of_matrix(problem.X)
        filled = k + -k % int(FOUR)  # the loop for CSR rows takes so many classes at a time
        self.width = filled if self.rows.is_sparse else d + 1
        self.everybody = np.arange(n)
        self.eta, self.asleep = np.zeros((n, k)), np.zeros((n, k), dtype=np.bool_)
        self.W = np.zeros(((d + 1) if self.rows.is_sparse else k) * self.width)
        self.offset = np.zeros(filled)
        self.s = problem.bias.scale
        if problem.bias.is_free:
            self.s = constant_feature(float(problem.squares[problem.counted].mean()), float(problem.cost.sum()))
        self.square = problem.squares + self.s**2
        if warm is None:
            self.eta[self.everybody, problem.labels] = problem.cost
        else:
            self.start(warm)
        self.dual = self.value()
        self.active = Active.of(problem.counted, seed)
        self.threshold = math.inf
        self.missing: list[float] = []
        self.seconds = 0.0
        self.face_pause = DualCD.tuning.pace
        self.next_face = self.next_claim = 2 * self.face_pause
        self.face_cost = 4.0 * self.face_pause

    @property
    def weights(self) -> Floats:
        """W as a table of features and classes, the constant feature last."""
        table = self.W.reshape(-1, self.width)
        return table[:, : self.problem.n_classes] if self.rows.is_sparse else table.T

    @property
    def sweeps(self) -> int:
        """Sweeps so far."""
        return len(self.missing)

    def start(self, warm: Candidate) -> None:
        """Take over a β, and the biases where they are free."""
        problem = self.problem
        beta = problem.feasible(warm.beta)
        self.eta = np.maximum(-beta, 0.0)
        total = self.eta.sum(axis=1)
        self.eta[self.everybody, problem.labels] = np.maximum(problem.cost - total, 0.0)
        self.weights[:-1], self.weights[-1] = problem.combine(beta).T, self.s * beta.sum(axis=0)
        if problem.bias.is_free:
            self.offset[: problem.n_classes] = warm.b

    def value(self) -> float:
        """The dual value with the offsets b₀."""
        gain = float(self.problem.cost.sum() - self.eta[self.everybody, self.problem.labels].sum())
        return gain - 0.5 * float(self.W @ self.W) - self.offset_gain()

    def offset_gain(self) -> float:
        """Σ_m b₀_m Σ_j β_j^m."""
        k = self.problem.n_classes
        return float(self.offset[:k] @ self.weights[-1]) / self.s if self.problem.bias.is_free else 0.0

    def sweep(self) -> None:
        """Visit the active samples; where biases are free, move the offsets after that."""
        from maxmargin._loops.linear.crammer_singer import sweep_csr, sweep_dense

        problem, active = self.problem, self.active
        table = (self.W, self.width) if self.rows.is_sparse else (self.W.reshape(-1, self.width),)
        (sweep_csr if self.rows.is_sparse else sweep_dense)(
            *self.rows.arrays, problem.labels, problem.cost, self.square, self.eta, self.asleep, *table, self.s, self.offset,
            active.order, active.count, self.threshold, DualCD.tuning.chunk, active.seed, active.visits, active.report,
        )  # fmt: skip
        self.dual += float(active.report[GAIN])
        missing = float(active.report[RESIDUAL])
        if problem.bias.is_free:
            imbalance = self.weights[-1] / self.s
            missing += float(np.abs(imbalance).sum())
            move = self.s * self.weights[-1]
            self.offset[: problem.n_classes] += move
            self.dual -= float(move @ imbalance)
        self.missing.append(missing)

    def sweeps_to_come(self, tol: float, pace: int) -> float:
        """Sweeps that the tolerance still asks for."""
        return rounds_to_come(self.missing, max(tol, DRIVER.finest) * abs(self.dual), pace)

    def learn(self) -> None:
        """Leave out what the last sweep found settled."""
        self.active.count = int(self.active.report[N_ACTIVE])
        self.threshold = DualCD.tuning.eager * float(self.active.report[HIGHEST])

    @property
    def is_full(self) -> bool:
        """Whether no sample is left out, and no class of any."""
        return self.active.is_full and not self.asleep.any()

    def unshrink(self) -> None:
        """Let all samples be visited again."""
        self.active.unshrink()
        self.threshold = math.inf
        self.asleep[:] = False


@dataclass(frozen=True)
class SequentialDual(Solver):
    """The sequential dual method: the machine of Crammer and Singer.

    *Use it when* several classes make one linear problem. *Needs* a `JointProblem`. *Costs* O(k · non-zeros) a sweep for k
    classes, some ten sweeps for a gap of 1e-3, more for large C; memory O(n k + d k) beside the data. *Equivalent to* DualCD for
    two classes.

    Parameters
    ----------
    seed : int
        Of the visiting order.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core import Bias
    >>> from maxmargin.core.joint import JointProblem
    >>> from maxmargin.solvers import solve
    >>> from maxmargin.solvers.linear.sequential_dual import SequentialDual
    >>> solution = solve(JointProblem(np.eye(3), np.arange(3), np.ones(3), 3, Bias.none()), SequentialDual(), tol=1e-9)
    >>> np.round(3 * solution.w + 0.0, 6)
    array([[ 2., -1., -1.],
           [-1.,  2., -1.],
           [-1., -1.,  2.]])
    """

    seed: int = 0
    is_joint: ClassVar[bool] = True

    def window(self, problem: Any) -> int:
        """Ten times the usual one where biases are free, whose dual value is not reported; nobody else could go on."""
        return DRIVER.window * (10 if problem.bias.is_free else 1)

    def init(self, problem: JointProblem, max_bytes: int, warm: Candidate | None) -> _State:  # type: ignore[override]
        """η in the corner of the own class, or the warm start's."""
        return _State(problem, warm, self.seed)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One sweep over the active samples; all of them before anything is claimed."""
        tuning = DualCD.tuning
        with deferred_interrupt():
            was_full, begin = state.is_full, clock.seconds
            state.sweep()
            state.seconds += clock.seconds - begin
            if self._face_pays(state, tol, clock):
                face_step(state, lambda: clock.spent() is not None)
        missing = state.missing[-1]
        gap = tuning.claim * missing / max(abs(state.dual) + missing, np.finfo(float).tiny)
        state.learn()
        if (gap <= tol and not was_full) or state.active.count == 0 or state.sweeps % tuning.full_every == 0:
            state.unshrink()
        if was_full and state.sweeps >= state.next_claim:  # what was good must not be lost where the next tenth takes long
            state.next_claim, gap = 2 * state.sweeps, 0.0
        dual = -np.inf if state.problem.bias.is_free else state.dual
        report = Progress if was_full else partial(Progress.without_claim, tol=tol)
        return report(gap, dual=dual, to_come=state.sweeps_to_come(tol, max(state.sweeps // 2, tuning.pace)))

    def _face_pays(self, state: _State, tol: float, clock: Clock) -> bool:
        """Whether there is time for a step on the face, and it costs less than the sweeps still to come at their pace."""
        if state.sweeps < state.next_face or state.face_cost * state.seconds / state.sweeps > clock.seconds_left:
            return False
        return state.sweeps_to_come(tol, DualCD.tuning.pace) > state.face_cost

    def finish(self, state: _State, tol: float) -> Candidate:
        """The present η; W as it was kept, and biases that are free at their best, one after the other."""
        problem, s = state.problem, state.s
        beta = -state.eta
        beta[state.everybody, problem.labels] = 0.0
        W = np.ascontiguousarray(state.weights[:-1].T)
        b = s * state.weights[-1]
        if problem.bias.is_free:
            b = state.offset[: problem.n_classes]
            b = best_biases(problem, W, b - b.mean())
        return Candidate(W, b, problem.feasible(beta))


def best_biases(problem: JointProblem, W: Floats, b: Floats) -> Floats:
    """Biases at which P is no larger: each class's is moved into the interval of its best values, the others fixed.

    In one bias P is Σ_j c_j max(0, ±(kink_j − b)): the own samples want it above their kink, the others below theirs.
    """
    on, b = problem.counted, b.copy()
    f, labels, cost = problem.decision(W)[on], problem.labels[on], problem.cost[on]
    wrong, everybody = problem.wrong()[on], np.arange(len(on))
    for m in range(problem.n_classes):
        G = f + b + wrong
        own = G[everybody, labels]
        G[:, m] = -np.inf
        rest = G.max(axis=1)
        is_own = labels == m
        kinks = np.where(is_own, rest - f[:, m], np.maximum(rest, own) - f[:, m] - 1.0)
        lower, upper = hinge_interval(np.zeros(len(on)), np.where(is_own, 1.0, -1.0), cost, kinks)
        b[m] = min(max(b[m], lower), upper)
    return np.asarray(b - b.mean())


def onto_simplices(v: Floats, total: Floats) -> Floats:
    """The nearest points with η ≥ 0 and Σ_m η_jm = total_j, row by row: by a sort."""
    order = -np.sort(-v, axis=1)
    sums = np.cumsum(order, axis=1) - total[:, np.newaxis]
    counts = np.arange(1, v.shape[1] + 1)
    rank = np.count_nonzero(order * counts > sums, axis=1)
    rank = np.maximum(rank, 1)
    theta = sums[np.arange(len(v)), rank - 1] / rank
    return np.asarray(np.clip(v - theta[:, np.newaxis], 0.0, total[:, np.newaxis]))


def face_step(state: _State, is_over: Callable[[], bool] = lambda: False) -> None:
    """Move the η that are not 0 towards their common minimum, until `is_over`; where sweeps gain more, the next waits longer."""
    problem, tuning, s = state.problem, DualCD.tuning, state.s
    on_face: Flags = state.eta > 0.0
    at, rows = state.rows.gathered(np.flatnonzero(np.count_nonzero(on_face, axis=1) > 1))
    on_face = on_face[at]
    X, counts, start, k = rows.matrix, np.maximum(on_face.sum(axis=1), 1), state.eta[at], problem.n_classes
    wrong = np.ones_like(start)
    wrong[np.arange(len(at)), problem.labels[at]] = 0.0

    def scores(W: Floats) -> Floats:
        return np.asarray(X @ W[:-1] + s * W[-1])

    def within(V: Floats) -> Floats:
        """The part along the face that keeps the sums."""
        V = np.where(on_face, V, 0.0)
        return np.where(on_face, V - (V.sum(axis=1) / counts)[:, np.newaxis], 0.0)

    def combine(V: Floats) -> Floats:
        return np.vstack([X.T @ V, s * V.sum(axis=0)])

    def times(v: Floats) -> Floats:
        return within(scores(combine(v.reshape(start.shape)))).ravel()

    G = scores(state.weights) + state.offset[:k] + wrong
    diagonal = np.repeat(np.maximum(state.square[at], np.finfo(float).tiny), k)
    direction, rounds = conjugate_gradients(times, within(G).ravel(), diagonal, enough=tuning.enough, is_over=is_over)
    best, gain, move = start, 0.0, np.zeros_like(state.weights)
    passes = 2 * rounds + 3
    for length in STEP_LENGTHS if rounds else ():
        trial = np.where(on_face, onto_simplices(start + length * direction.reshape(start.shape), problem.cost[at]), 0.0)
        change = trial - start
        its_move = combine(change)
        its_gain = float((G * change).sum()) - 0.5 * float((its_move * its_move).sum())
        passes += 1
        if its_gain > gain:
            best, gain, move = trial, its_gain, its_move
        elif gain > 0.0:
            break
    state.eta[at] = best
    state.weights[:] -= move
    state.dual += gain
    state.face_cost = 0.5 * passes
    has_paid = gain > state.face_cost * float(state.active.report[GAIN])
    state.face_pause = tuning.pace if has_paid else 2 * state.face_pause
    state.next_face = state.sweeps + state.face_pause
