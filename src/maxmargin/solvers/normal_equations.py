"""Interior point with d × d algebra, for linear SVMs with many more samples than features.

    min_{w,b,ξ} ½‖w‖² + Σ c_j ξ_j    s.t.  y_j(⟨w, x_j⟩ + b) ≥ 1 − ξ_j, ξ ≥ 0       and its dual  0 ≤ α ≤ c

With s, v ≥ 0 the multipliers of α ≥ 0 and α ≤ c, the conditions are  w = Σ α_j y_j x_j,  y_jF_j − 1 = s_j − v_j,  α_j s_j = μ,
(c_j − α_j) v_j = μ. Newton's equations shrink to

    (Λ + X̃ᵀ Q X̃) (dw, db) = r,     Q = diag(1 / (s/α + v/(c − α) + δ)),     X̃ = (X, 1)

(Ferris & Munson, 2002), Λ the identity with a zero for a free bias; each round costs one such Gram matrix and a few passes over
the data, whatever C is. Mehrotra's predictor and corrector (1992). The squared hinge has no v, and δ = 1/(2c).
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate import certify
from maxmargin.core.losses import Hinge, SquaredHinge
from maxmargin.core.penalties import L2
from maxmargin.core.problem import Problem
from maxmargin.core.reduce import to_candidate
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.constraint_generation import restrict
from maxmargin.solvers.refine import SMALL, refine, snap
from maxmargin.solvers.rows import Rows
from maxmargin.typing import Floats, Indices

MAX_FEATURES = 2000
"""A d × d matrix is made and factored each round."""

MAX_ROUNDS = 200


STALLED = 12
"""Rounds without a better gap after which it is at the precision of the arithmetic."""


@dataclass
class _State:
    problem: Problem
    rows: Rows
    on: Indices  # the samples that count; all arrays below are theirs
    y: Floats
    upper: Floats  # c, or ∞ for the squared hinge
    delta: Floats
    square: Floats
    kappa: float  # the constant feature of the bias; 0: none
    ridge: Floats  # Λ
    alpha: Floats
    s: Floats
    v: Floats
    w: Floats  # the weights, and behind them that of the constant feature
    F: Floats
    made: Floats  # Σ α_j y_j x̃_j
    rounds: int = 0
    best: tuple[Floats, Floats] | None = None  # (α, w)
    best_gap: float = np.inf
    best_round: int = 0


class _Direction(NamedTuple):
    alpha: Floats
    s: Floats
    v: Floats
    w: Floats
    F: Floats


@dataclass(frozen=True)
class NormalEquations(Solver):
    """Interior point through d × d normal equations: many samples, few features, any C, any bias.

    *Use it when* n ≫ d and d ≤ 2000, above all for large C and small tolerances. *Needs* the linear kernel, L2, hinge or
    squared hinge, finite costs. *Costs* 15 to 30 rounds of O(Σ_j nnz_j²) (dense: n d²) and d³; memory O(n + d²) beside the
    data. *Equivalent to* InteriorPoint at its optimum.

    Parameters
    ----------
    n_threads : int
        Threads for products with the data; the answer does not depend on it.

    Examples
    --------
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), NormalEquations(), tol=1e-8)
    >>> np.round(solution.w, 6), round(solution.b, 6)
    (array([2.]), -3.0)
    """

    n_threads: int = 1

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if not problem.is_linear:
            return f"NormalEquations solves linear problems, got kernel {problem.kernel!r}. Use InteriorPoint()."
        if not isinstance(problem.loss, Hinge | SquaredHinge) or not isinstance(problem.penalty, L2):
            return f"NormalEquations solves the hinge and the squared hinge with L2, got {problem.loss!r}, {problem.penalty!r}."
        if problem.is_hard:
            return "NormalEquations needs finite costs. Use ConstraintGeneration() for the hard margin."
        if problem.X.shape[1] > MAX_FEATURES:
            return f"NormalEquations is for up to {MAX_FEATURES} features, got {problem.X.shape[1]}. Use DualCD()."
        return None

    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> _State:
        """The centre of the box and w = 0; an interior point does not profit from a warm start."""
        on = problem.present
        part = problem if len(on) == problem.n else restrict(problem, on)
        rows = Rows.of(part)
        cost, upper = part.cost, part.loss.upper(part.cost)
        has_top = np.isfinite(upper)
        kappa = {"free": 1.0, "none": 0.0, "penalized": problem.bias.scale}[problem.bias.kind]
        width = rows.shape[1] + int(kappa > 0)
        ridge = np.ones(width)
        ridge[rows.shape[1] :] = 0.0 if problem.bias.is_free else 1.0
        alpha = np.where(has_top, 0.5 * cost, cost)
        state = _State(
            problem=problem,
            rows=rows,
            on=on,
            y=part.y,
            upper=upper,
            delta=part.loss.dual_diagonal(cost),
            square=rows.squares() + kappa**2,
            kappa=kappa,
            ridge=ridge,
            alpha=alpha,
            s=np.ones(len(on)),
            v=np.where(has_top, 2.0, 0.0),
            w=np.zeros(width),
            F=np.zeros(len(on)),
            made=np.zeros(width),
        )
        with self._pool() as pool:
            state.made = self._combine(state, alpha * part.y, pool)
        return state

    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max(self.n_threads, 1))

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One predictor-corrector round."""
        gap = self._note_gap(state)
        if gap <= tol or state.rounds >= MAX_ROUNDS or state.rounds - state.best_round > STALLED:
            return Progress(state.best_gap, is_final=gap > tol)
        state.rounds += 1
        top = state.upper - state.alpha
        has_top = np.isfinite(top)
        q = 1.0 / (state.s / state.alpha + np.where(has_top, state.v / np.where(has_top, top, 1.0), 0.0) + state.delta)
        with self._pool() as pool:
            factor = self._factor(state, q, pool)
            if factor is None:
                return Progress(state.best_gap, is_final=True)
            mu = _complementarity(state, state.alpha, state.s, state.v)
            first = self._direction(state, q, factor, 0.0, None, pool)
            reach = _reach(state, first)
            ahead = _complementarity(
                state, state.alpha + reach * first.alpha, state.s + reach * first.s, state.v + reach * first.v
            )
            second = self._direction(state, q, factor, (ahead / mu) ** 3 * mu, first, pool)
            length = min(1.0, 0.995 * _reach(state, second))
            state.alpha += length * second.alpha
            state.s += length * second.s
            state.v += length * second.v
            state.w += length * second.w
            state.F += length * second.F
            state.made = self._combine(state, state.alpha * state.y, pool)
        return Progress(gap)  # of the point that this round started from: above tol

    def _note_gap(self, state: _State) -> float:
        """The gap of the present point, as far as it is known here; keeps the best α."""
        m = 1.0 - state.y * state.F
        losses = state.problem.loss.residual(m, state.alpha, state.problem.cost[state.on])
        apart = state.ridge * state.w - state.made
        missing = float(losses.sum()) + 0.5 * float(apart @ apart)
        if state.problem.bias.is_free:
            missing += abs(float(state.made[-1])) - 0.5 * float(apart[-1]) ** 2
        primal = 0.5 * float(state.ridge * state.w @ state.w) + float(
            state.problem.cost[state.on] @ state.problem.loss.value(1.0 - m)
        )
        gap = missing / max(primal, np.finfo(float).tiny)
        if gap < 0.999 * state.best_gap:
            state.best, state.best_gap, state.best_round = (state.alpha.copy(), state.w.copy()), gap, state.rounds
        return gap

    def _factor(self, state: _State, q: Floats, pool: ThreadPoolExecutor) -> Floats | None:
        """The Cholesky factor of Λ + X̃ᵀQX̃; rows that do not matter beside Λ are left out."""
        d = state.rows.shape[1]
        G = np.zeros((len(state.w), len(state.w)))
        heavy = np.where(q * state.square > 1e-9 / len(q), q, 0.0)
        G[:d, :d] = state.rows.gram(heavy, 0.0, pool)
        if state.kappa:
            G[d, :d] = state.kappa * state.rows.combine(q, pool)
            G[d, d] = state.kappa**2 * q.sum()
        G[np.diag_indices(len(G))] += state.ridge
        factor, info = scipy.linalg.lapack.dpotrf(G, lower=1, clean=0, overwrite_a=1)
        return factor if info == 0 else None

    def _direction(
        self, state: _State, q: Floats, factor: Floats, mu: float, first: _Direction | None, pool: ThreadPoolExecutor
    ) -> _Direction:
        """Newton's direction towards complementarity `mu`, with the second-order terms of a first direction."""
        alpha, s, v, y = state.alpha, state.s, state.v, state.y
        top = np.where(np.isfinite(state.upper), state.upper - alpha, 1.0)
        low = mu - alpha * s - (0.0 if first is None else first.alpha * first.s)
        high = np.where(np.isfinite(state.upper), mu - top * v + (0.0 if first is None else first.alpha * first.v), 0.0)
        r = -(y * state.F - 1.0 + state.delta * alpha - s + v) + low / alpha - high / top
        right = self._combine(state, q * r * y, pool) - (state.ridge * state.w - state.made)
        w = scipy.linalg.lapack.dpotrs(factor, right, lower=1)[0]
        F = state.rows.scores(w[: state.rows.shape[1]], pool)
        if state.kappa:
            F += state.kappa * w[-1]
        step = q * (r - y * F)
        up = np.where(np.isfinite(state.upper), (high + v * step) / top, 0.0)
        return _Direction(step, (low - s * step) / alpha, up, w, F)

    @staticmethod
    def _combine(state: _State, beta: Floats, pool: ThreadPoolExecutor) -> Floats:
        w = state.rows.combine(beta, pool)
        return np.append(w, state.kappa * beta.sum()) if state.kappa else w

    def finish(self, state: _State, tol: float) -> Candidate:
        """The best α, its clear cases put on their bounds where the gap allows it."""
        problem = state.problem
        alpha, w = (state.alpha, state.w) if state.best is None else state.best
        beta = np.zeros(problem.n)
        beta[state.on] = state.y * alpha
        candidate = to_candidate(problem, beta, w[: problem.X.shape[1]])
        if state.rows.n_values <= SMALL:
            return refine(problem, candidate)
        snapped = to_candidate(problem, snap(problem, candidate)[0])
        allowed = max(tol, certify(problem, candidate).relative_gap)
        return snapped if certify(problem, snapped).relative_gap <= allowed else candidate


def _complementarity(state: _State, alpha: Floats, s: Floats, v: Floats) -> float:
    has_top = np.isfinite(state.upper)
    total = float(alpha @ s) + float((state.upper - alpha)[has_top] @ v[has_top])
    return total / (len(alpha) + int(has_top.sum()))


def _reach(state: _State, direction: _Direction) -> float:
    """How far the direction stays inside α, s, v ≥ 0 and α ≤ c; at most 1."""
    has_top = np.isfinite(state.upper)
    reach = 1.0
    for value, change in (
        (state.alpha, direction.alpha),
        ((state.upper - state.alpha)[has_top], -direction.alpha[has_top]),
        (state.s, direction.s),
        (state.v[has_top], direction.v[has_top]),
    ):
        falls = change < 0
        if falls.any():
            reach = min(reach, float((value[falls] / -change[falls]).min()))
    return reach
