"""Dual coordinate descent for linear SVMs, in two blocks.

    min_β  ½‖Xᵀβ‖² − tᵀβ    s.t.  lo ≤ β ≤ hi,   and Σβ = 0 where the bias is free

Algorithm 1 of Hsieh et al. (ICML 2008) with their shrinking rule. Large problems are cut into two fixed blocks of samples: each
sweep runs over both at once, each with its own copy of w, and the two changes are joined by an exact line search, which keeps the
dual rising (Jaggi et al., NIPS 2014). A free bias is handled by the method of multipliers: a constant feature s and an offset b₀,
moved by b₀ ← b₀ + s²Σβ after each sweep, so that Σβ = 0 in the limit.

Once sweeps only polish, the samples strictly inside their box are moved together: conjugate gradients on that face, then a
projected line search (Moré & Toraldo, SIAM J. Optim. 1991). Sweeps find the face; the step on it ends what they would crawl to.
Where all of that stalls (data far from the origin, say) and the problem is small enough, an interior point ends it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core.bias import best_bias
from maxmargin.core.candidate import Candidate
from maxmargin.core.dual import make_feasible
from maxmargin.core.losses import Hinge, SquaredHinge
from maxmargin.core.penalties import L2
from maxmargin.core.problem import Problem
from maxmargin.core.reduce import to_candidate
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.interior_point import InteriorPoint
from maxmargin.solvers.refine import SMALL, refine
from maxmargin.solvers.rows import Rows
from maxmargin.typing import Floats, Indices

MULTIPLIER = 0.25
"""The constant feature of a free bias, as a share of a sample's length: 0.1 to 0.5 cost no more sweeps than no bias does; with 1
or more the sweeps multiply, as the constant then couples all samples."""

TWO_BLOCKS = 200_000
"""Non-zeros from which the samples are cut into two blocks."""

TOO_COUPLED = 0.6
"""A line search that ends below this says that the blocks work against each other: one block from then on."""

FIRST_FACE = 25
"""Sweeps before the first step on a face."""

FACE_ROUNDS = 120
"""Conjugate-gradient rounds of one step on a face, at most."""

FULL_EVERY = 40
"""Sweeps after which all samples are visited again, shrunk or not."""

PATIENCE = 300
"""Sweeps (or half of all sweeps) in which the gap must fall by a tenth; otherwise it is at the precision of the arithmetic."""


@dataclass
class _Block:
    """The samples of one block in visiting order; the first `n_active` are not shrunk."""

    order: Indices
    seed: Any
    n_active: int
    thresholds: Floats = field(default_factory=lambda: np.array([np.inf, -np.inf]))
    report: Floats = field(default_factory=lambda: np.zeros(4))

    def unshrink(self) -> None:
        self.n_active = len(self.order)
        self.thresholds[:] = np.inf, -np.inf

    def learn(self) -> None:
        """Take the thresholds of the next sweep from the report of this one."""
        highest, lowest, _, n_active = self.report
        self.n_active = int(n_active)
        self.thresholds[0] = highest if highest > 0 else np.inf
        self.thresholds[1] = lowest if lowest < 0 else -np.inf


@dataclass
class _State:
    problem: Problem
    rows: Rows
    upper: Floats
    delta: Floats
    square: Floats
    alpha: Floats
    w: Floats
    s: float
    blocks: list[_Block]
    b0: float = 0.0
    least_missing: float = np.inf
    last_progress: int = 0
    sweeps: int = 0
    next_face: int = FIRST_FACE
    next_claim: int = 16
    face_pause: int = 4
    caution: float = 1.0
    was_judged: bool = False
    rescued: Candidate | None = None


@dataclass(frozen=True)
class DualCD(Solver):
    """Dual coordinate descent: the classic for sparse, wide data.

    *Use it when* the data are sparse or wide and C is moderate. *Needs* the linear kernel, L2, hinge or squared hinge, finite
    costs. *Costs* O(non-zeros) a sweep, some ten sweeps for a gap of 1e-3, many more for large C; memory O(n + d) beside the
    data. *Equivalent to* InteriorPoint at its optimum.

    Parameters
    ----------
    seed : int
        Of the visiting order.
    n_threads : int
        Threads for the two blocks; the answer does not depend on it.

    Examples
    --------
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), DualCD(), tol=1e-6)
    >>> np.round(solution.w, 4), round(solution.b, 4)
    (array([2.]), -3.0)
    """

    seed: int = 0
    n_threads: int = 1

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if not problem.is_linear:
            return f"DualCD solves linear problems, got kernel {problem.kernel!r}. Use InteriorPoint()."
        if not isinstance(problem.loss, Hinge | SquaredHinge) or not isinstance(problem.penalty, L2):
            return (
                f"DualCD solves the hinge and the squared hinge with L2, got {problem.loss!r} and {problem.penalty!r}."
            )
        if problem.is_hard:
            return "DualCD needs finite costs. Use ConstraintGeneration() for the hard margin."
        return None

    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> _State:
        """α = 0, or the warm start's."""
        rows = Rows.of(problem)
        square = rows.squares()
        on = problem.present
        s = problem.bias.scale
        if problem.bias.is_free:
            # At least so large that one sweep can move b₀ by a margin, however small the costs are.
            s = max(MULTIPLIER * float(np.sqrt(square[on].mean())), float(problem.cost.sum()) ** -0.5)
        delta = problem.loss.dual_diagonal(problem.cost)
        alpha = np.zeros(problem.n)
        w = np.zeros(problem.X.shape[1] + 1)
        b0 = best_bias(problem, alpha, alpha).middle if problem.bias.is_free else 0.0
        if warm is not None:
            beta = make_feasible(problem, warm.beta)
            alpha, b0 = beta * problem.y, warm.b if problem.bias.is_free else 0.0
            w[:-1], w[-1] = problem.combine(beta), s * beta.sum()
        halves = [on[0::2], on[1::2]] if rows.n_values >= TWO_BLOCKS and len(on) > 2 else [on]
        return _State(
            problem,
            rows,
            problem.loss.upper(problem.cost),
            delta,
            square + s * s + delta,
            alpha,
            w,
            s,
            [_Block(half.astype(np.int64), _seed(self.seed, k), len(half)) for k, half in enumerate(halves)],
            b0,
        )

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One sweep over the active samples; all of them before anything is claimed."""
        if state.was_judged:  # and was not good enough: be more careful before the next claim
            state.caution = min(2.0 * state.caution, 1e3)
            state.was_judged = False
            for block in state.blocks:
                block.unshrink()
        was_full = all(block.n_active == len(block.order) for block in state.blocks)
        self._sweep(state)
        state.sweeps += 1
        if state.sweeps >= state.next_face:
            state.face_pause = 4 if self._face_step(state) else min(2 * state.face_pause, 64)
            state.next_face = state.sweeps + state.face_pause
        imbalance = 0.0
        if state.problem.bias.is_free:
            imbalance = abs(state.w[-1] / state.s)
            state.b0 += state.s * state.w[-1]
        dual = _dual_value(state)
        missing = sum(float(block.report[2]) for block in state.blocks) + imbalance
        gap = state.caution * missing / max(abs(dual) + missing, np.finfo(float).tiny)
        if was_full and missing < 0.9 * state.least_missing:
            state.least_missing, state.last_progress = missing, state.sweeps
        is_stalled = state.sweeps - state.last_progress > max(PATIENCE, state.sweeps // 2)
        if is_stalled and (rescue := InteriorPoint()).accepts(state.problem) is None:
            return self._hand_over(state, rescue, tol, clock)
        for block in state.blocks:
            block.learn()
        active = sum(block.n_active for block in state.blocks)
        if (gap <= tol and not was_full) or active == 0 or state.sweeps % FULL_EVERY == 0:
            for block in state.blocks:
                block.unshrink()
        if state.rows.n_values <= SMALL and state.sweeps >= state.next_claim:
            state.next_claim *= 2
            return Progress(tol, is_final=is_stalled)  # `finish` may find the last digits already
        return Progress(gap if was_full else np.inf, is_final=is_stalled)

    @staticmethod
    def _hand_over(state: _State, rescue: InteriorPoint, tol: float, clock: Clock) -> Progress:
        """Sweeps have stalled: where the problem is small enough an interior point ends it."""
        inner = rescue.init(state.problem, Workspace(state.problem), None)
        progress = rescue.step(inner, tol, clock)
        while not progress.is_final and not progress.gap <= tol and clock.spent() is None:
            progress = rescue.step(inner, tol, clock)
        state.rescued = rescue.finish(inner, tol)
        return Progress(progress.gap, is_final=True)

    def _sweep(self, state: _State) -> None:
        if len(state.blocks) == 1:
            _run_block(state, state.blocks[0], state.alpha, state.w)
            return
        before, w = state.alpha.copy(), state.w
        copies = [w.copy() for _ in state.blocks]
        with ThreadPoolExecutor(min(self.n_threads, len(state.blocks))) as pool:
            list(
                pool.map(
                    lambda pair: _run_block(state, pair[0], state.alpha, pair[1]),
                    zip(state.blocks, copies, strict=True),
                )
            )
        change = state.alpha - before
        move = np.zeros_like(w)
        for copy in copies:
            move += copy - w
        slope = float(change @ (1.0 - state.problem.y * state.b0) - w @ move - (state.delta * before) @ change)
        bend = float(move @ move + (state.delta * change) @ change)
        theta = min(1.0, slope / bend) if bend > 0 else 1.0
        if theta < 1.0:
            state.alpha[:] = before + theta * change
        state.w = w + theta * move
        if theta < TOO_COUPLED:
            joined = np.concatenate([block.order for block in state.blocks])
            state.blocks = [_Block(joined, state.blocks[0].seed, len(joined), report=_joined_report(state.blocks))]

    def _face_step(self, state: _State) -> bool:
        """Move the samples strictly inside their box towards their common minimum; True where that paid."""
        face = np.flatnonzero((state.alpha > 0) & (state.alpha < state.upper))
        if len(face) < 2:
            return False
        y, w, alpha = state.problem.y[face], state.w, state.alpha[face]
        X = state.rows.take(face)
        delta, s = state.delta[face], state.s
        descent = 1.0 - y * (X @ w[:-1] + s * w[-1] + state.b0) - delta * alpha

        def times(v: Floats) -> Floats:
            image = X.T @ (y * v)
            return np.asarray(y * (X @ image + s * s * (y @ v)) + delta * v)

        step = _conjugate_gradients(times, descent, state.square[face])
        before = float(descent @ step) - 0.5 * float(step @ times(step))
        theta = 1.0
        while theta > 1e-3:
            change = np.clip(alpha + theta * step, 0.0, state.upper[face]) - alpha
            gain = float(descent @ change) - 0.5 * float(change @ times(change))
            if gain > 0:
                state.alpha[face] = alpha + change
                w[:-1] += X.T @ (y * change)
                w[-1] += s * float(y @ change)
                return gain > 0.1 * before
            theta *= 0.5
        return False

    def finish(self, state: _State, tol: float) -> Candidate:
        """The present α as a candidate; w as it was kept, so that nothing is summed again."""
        state.was_judged = True
        if state.rescued is not None:
            return state.rescued
        candidate = to_candidate(state.problem, state.alpha * state.problem.y, state.w[:-1].copy())
        return refine(state.problem, candidate) if state.rows.n_values <= SMALL else candidate


def _conjugate_gradients(times: Callable[[Floats], Floats], right: Floats, diagonal: Floats) -> Floats:
    """x with Ax ≈ right to a relative 1e-3 of the residual (Jacobi-preconditioned)."""
    x, r = np.zeros_like(right), right.copy()
    z = r / diagonal
    p, rz = z.copy(), float(r @ z)
    goal = 1e-6 * rz
    for _ in range(FACE_ROUNDS):
        if not rz > goal:
            break
        Ap = times(p)
        curvature = float(p @ Ap)
        if not curvature > 1e-12 * float(
            p @ (diagonal * p)
        ):  # a flat direction, as duplicates make: leave it to the sweeps
            break
        x += (rz / curvature) * p
        r -= (rz / curvature) * Ap
        z = r / diagonal
        rz, old = float(r @ z), rz
        p = z + (rz / old) * p
    return x


def _run_block(state: _State, block: _Block, alpha: Floats, w: Floats) -> None:
    from maxmargin._loops.dual_cd import sweep_csr, sweep_dense

    sweep = sweep_csr if state.rows.is_sparse else sweep_dense
    arrays = (state.problem.y, state.upper, state.delta, state.square, alpha, w, state.s, state.b0)
    sweep(*state.rows.arrays, *arrays, block.order, block.n_active, block.thresholds, block.seed, block.report)


def _joined_report(blocks: list[_Block]) -> Floats:
    reports = np.array([block.report for block in blocks])
    return np.array([reports[:, 0].max(), reports[:, 1].min(), reports[:, 2].sum(), reports[:, 3].sum()])


def _dual_value(state: _State) -> float:
    """D of the present α with its offset b₀."""
    gain = state.alpha @ (1.0 - state.problem.y * state.b0) - 0.5 * (state.delta * state.alpha) @ state.alpha
    return float(gain - 0.5 * (state.w @ state.w))


def _seed(seed: int, block: int) -> Any:
    return np.random.SeedSequence([seed, block]).generate_state(1, np.uint64) | np.uint64(1)
