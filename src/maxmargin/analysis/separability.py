"""Can a hyperplane separate the two classes? A witness either way.

1. The hard-margin solver looks for the widest hyperplane. If what it finds separates, that is the witness.
2. Otherwise its working set seems to have overlapping hulls. A linear program finds a vertex of

       Σ_+ p_j x_j = Σ_− q_j x_j,   Σp = Σq = 1,   p, q ≥ 0          (without a bias: Σ p_j y_j x_j = 0, Σp = 1)

   whose at most d + 2 weights are then solved for in rational arithmetic: a proof without rounding.
3. In between, a linear program for  max t : y_j F_j ≥ t  is zoomed: solved again around its own answer, where the residuals are
   scaled up, so that margins far below the tolerance of the program become visible.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from maxmargin.analysis.exact import exact_score, solve_exactly
from maxmargin.analysis.witness import NotSeparable, Separable, Undecided, margin_bound
from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Bias, Problem
from maxmargin.core.solution import Candidate, Solution, Status
from maxmargin.solvers import Budget, solve
from maxmargin.typing import Floats, Indices

Verdict = Separable | NotSeparable | Undecided

MAX_EXACT = 130
"""Rational elimination grows with the fourth power of the number of weights: seconds beyond this."""


def separability(problem: Problem, *, budget: Budget | None = None, solution: Solution | None = None) -> Verdict:
    """Decide whether the samples of a problem can be separated, with a witness that verifies.

    `solution` may hand over a hard-margin fit of the same problem that was made already.
    """
    problem = _as_hard_margin(problem)
    if solution is None:
        solution = solve(problem, tol=1e-6, budget=budget)
    if solution.status is not Status.INFEASIBLE:
        verdict = separable_from(problem, solution)
        if verdict is not None:
            return verdict
    weights = hull_weights(problem, solution.beta)
    if not problem.is_linear:
        return _kernel_verdict(problem, weights)
    samples = np.flatnonzero(weights)
    for _ in range(50):
        answer = _exact_overlap(problem, samples) or _zoomed_separator(problem, samples)
        if not isinstance(answer, Candidate):
            break
        z = problem.y * (problem.decision(answer.w) + answer.b)
        z[problem.cost == 0] = np.inf
        intruders = np.setdiff1d(np.flatnonzero(z <= 0), samples)
        if len(intruders) == 0:
            return separable_from(problem, answer) or _undecided(problem, weights)
        samples = np.union1d(samples, intruders[np.argsort(z[intruders])[: max(100, len(samples) // 2)]])
    return answer if isinstance(answer, NotSeparable) else _undecided(problem, weights)


def separable_from(problem: Problem, candidate: Candidate) -> Separable | None:
    """The witness that a candidate hyperplane makes, if it really separates."""
    f = problem.decision(candidate.w)
    norm = float(np.sqrt(max(problem.norm2(candidate.w, f), 0.0)))
    closest = float((problem.y * (f + candidate.b))[problem.present].min())
    if not norm > 0:
        return None
    witness = Separable(candidate.w, float(candidate.b), closest / norm, problem)
    return witness if witness.check() else None


def hull_weights(problem: Problem, beta: Floats) -> Floats:
    """Convex weights from a dual point: one sum for each class, or one over all without a bias."""
    weights = np.abs(beta)
    if not weights.any():
        weights = (problem.cost > 0).astype(float)
    if problem.bias.kind == "none":
        return weights / weights.sum()
    for label in (-1.0, 1.0):
        own = problem.y == label
        total = weights[own].sum()
        weights[own] = weights[own] / total if total > 0 else (problem.cost[own] > 0) / (problem.cost[own] > 0).sum()
    return weights


def _as_hard_margin(problem: Problem) -> Problem:
    bias = Bias.none() if problem.bias.kind == "none" else Bias.free()
    return replace(problem, cost=np.where(problem.cost > 0, np.inf, 0.0), loss=Hinge(), bias=bias)


def _kernel_verdict(problem: Problem, weights: Floats) -> Verdict:
    """A kernel's values are rounded: weights prove that the margin is at most their residual, not that it is zero."""
    bound = margin_bound(problem, weights)
    scale = float(np.sqrt(problem.diag().max(initial=0.0)))
    if bound <= 1e-6 * scale:
        return NotSeparable(weights, bound, problem)
    return Undecided(bound, scale)


def _undecided(problem: Problem, weights: Floats) -> Undecided:
    return Undecided(margin_bound(problem, weights), float(np.sqrt(problem.diag().max(initial=0.0))))


def _points(problem: Problem, samples: Indices) -> Floats:
    X = problem.X[samples if problem.rows is None else problem.rows[samples]]
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def _exact_overlap(problem: Problem, samples: Indices) -> NotSeparable | None:
    """A common point of the two hulls of these samples, in rational weights."""
    X, y = _points(problem, samples), problem.y[samples]
    sums = [y > 0, y < 0] if problem.bias.is_free else [np.ones(len(y), dtype=bool)]
    rng = np.random.default_rng(0)
    for attempt in range(3):
        p = _vertex(X, y, np.array(sums, dtype=np.float64), rng.uniform(1.0, 2.0, len(y)))
        if p is None:
            return None
        support = np.flatnonzero(p > 1e-11)
        if len(support) > MAX_EXACT:
            weights = np.zeros(problem.n)
            weights[samples] = p
            weights = hull_weights(problem, weights)
            bound = margin_bound(problem, weights)
            return NotSeparable(weights, bound, problem) if bound <= 1e-9 * np.abs(X).max(initial=0.0) else None
        A = np.vstack([(X[support] * y[support, None]).T, np.array(sums, dtype=np.float64)[:, support]])
        exact = solve_exactly(A, [0] * X.shape[1] + [1] * len(sums), p[support])
        if exact is not None and min(exact) >= 0:
            named = {int(samples[k]): value for k, value in zip(support, exact, strict=True) if value > 0}
            weights = np.zeros(problem.n)
            weights[list(named)] = [float(value) for value in named.values()]
            return NotSeparable(weights, 0.0, problem, named)
    return None


def _vertex(X: Floats, y: Floats, sums: Floats, objective: Floats) -> Floats | None:
    """A vertex of {p ≥ 0 : Σ p_j y_j x_j = 0, sums p = 1}, or None where the program finds no feasible point."""
    centred = X - X.mean(axis=0) if len(sums) == 2 else X
    used = np.abs(centred).max(axis=0) > 0
    columns = centred[:, used] / np.abs(centred[:, used]).max(axis=0, initial=1e-300)
    A = np.vstack([(columns * y[:, None]).T, sums])
    right = np.concatenate([np.zeros(columns.shape[1]), np.ones(len(sums))])
    result = linprog(
        objective,
        A_eq=A,
        b_eq=right,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "time_limit": 60.0},
    )
    return np.maximum(result.x, 0.0) if result.x is not None and result.status == 0 else None


def _zoomed_separator(problem: Problem, samples: Indices) -> Candidate | None:
    """(w, b) that separates these samples in exact arithmetic, however narrowly; None where none was found."""
    X, y = _points(problem, samples), problem.y[samples]
    centre = X.mean(axis=0) if problem.bias.is_free else np.zeros(X.shape[1])
    spread = np.abs(X - centre).max(axis=0, initial=0.0)
    used = spread > 0
    columns = (X[:, used] - centre[used]) / spread[used]
    A = y[:, None] * columns
    if problem.bias.is_free:
        A = np.hstack([A, y[:, None]])
    w, b = np.zeros(X.shape[1]), 0.0
    residual, zoom = np.zeros(len(y)), 1.0
    for _ in range(4):
        step = _best_step(A, zoom * residual)
        if step is None:
            return None
        w[used] += step[: used.sum()] / (zoom * spread[used])
        b = b + (step[-1] / zoom if problem.bias.is_free else 0.0)
        shift = b - float(w @ centre)
        exact = [int(label) * exact_score(w, shift, x) for label, x in zip(y, X, strict=True)]
        if min(exact) > 0:
            return Candidate(w, shift if problem.bias.is_free else 0.0, np.zeros(problem.n))
        residual = np.array([float(value) for value in exact])
        zoom = min(1.0 / max(abs(float(residual.min())), 1e-18), 1e7 * zoom)
    return None


def _best_step(A: Floats, offset: Floats) -> Floats | None:
    """max t  s.t.  offset + A δ ≥ t, |δ| ≤ 1, t ≤ 1: the δ of the widest margin around the present point."""
    n, d = A.shape
    result = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.hstack([-A, np.ones((n, 1))]),
        b_ub=np.minimum(offset, 1e6),
        bounds=[(-1.0, 1.0)] * d + [(None, 1.0)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 60.0},
    )
    return result.x[:d] if result.x is not None and result.status == 0 else None
