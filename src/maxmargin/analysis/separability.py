"""Can a hyperplane separate the two classes? A witness either way.

1. Two samples that contradict each other, such as equal ones with opposite labels, are a proof at once (`analysis.twins`).
2. The hard-margin solver looks for the widest hyperplane. If what it finds separates, that is the witness.
3. Otherwise the samples that it could not separate go into a linear program and its dual,

       max t   s.t.  y_j(⟨w, x_j⟩ + b) ≥ t,  |w| ≤ 1          min ‖Σ p_j y_j x_j‖₁   s.t.  Σp = 1,  Σ p_j y_j = 0,  p ≥ 0

   Its w is checked without rounding. If it does not separate, the at most d + 2 samples with p_j > 0 say where the hulls meet,
   and their weights are solved for in rational arithmetic: a proof without rounding.
4. Where both fail the program is zoomed: posed again around its own answer with the residuals scaled up, so that margins (or
   overlaps) far below its tolerance come into view.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from maxmargin.analysis.rational import exact_score, solve_exactly
from maxmargin.analysis.twins import contradiction
from maxmargin.analysis.witness import NotSeparable, Separable, Undecided, groups_of, margin_bound
from maxmargin.core import Bias, Candidate, Hinge, Problem, Solution, Status
from maxmargin.core.products import dense_rows
from maxmargin.errors import InvalidInputError
from maxmargin.solvers import Budget, solve
from maxmargin.typing import Floats, Indices, Matrix

Verdict = Separable | NotSeparable | Undecided

MAX_EXACT = 130
"""Rational elimination grows with the fourth power of the number of weights: seconds beyond this."""


def separability(problem: Problem, *, budget: Budget | None = None, solution: Solution | None = None) -> Verdict:
    """Decide whether the samples of a problem can be separated, with a witness that verifies.

    `solution` may hand over a hard-margin fit of the same problem that was made already.
    """
    problem = _as_hard_margin(problem)
    if problem.is_linear:
        twins = contradiction(problem)
        if twins is not None:
            return twins
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
    while (answer := _zoom(problem, samples)) is not None:  # each exchange takes in samples on the wrong side
        if isinstance(answer, NotSeparable):
            return answer
        z = problem.y * (problem.decision(answer.w) + answer.b)
        z[problem.cost == 0] = np.inf
        intruders = np.setdiff1d(np.flatnonzero(z <= 0), samples)
        if len(intruders) == 0:
            verdict = separable_from(problem, answer)
            if verdict is not None:
                return verdict
            break
        samples = np.union1d(samples, intruders[np.argsort(z[intruders])[: max(100, len(samples) // 2)]])
    return Undecided(margin_bound(problem, weights), _size(problem))


def separable_from(problem: Problem, candidate: Candidate) -> Separable | None:
    """The witness that a candidate hyperplane makes, if it really separates."""
    f = problem.decision(candidate.w)
    norm = float(np.sqrt(max(problem.norm2(candidate.w, f), 0.0)))
    if not norm > 0:
        return None
    closest = float((problem.y * (f + candidate.b))[problem.present].min())
    scale = closest if closest > 0 else 1.0
    witness = Separable(candidate.w / scale, float(candidate.b) / scale, closest / norm, problem)
    return witness if witness.check() else None


def hull_weights(problem: Problem, beta: Floats) -> Floats:
    """Convex weights from a dual point: summing to one in each class, or over all without a bias."""
    weights = np.abs(beta)
    for own in groups_of(problem):
        if not weights[own].any():
            weights[own] = problem.cost[own] > 0
        weights[own] /= weights[own].sum()
    return weights


def _as_hard_margin(problem: Problem) -> Problem:
    bias = Bias.none() if problem.bias.kind == "none" else Bias.free()
    return replace(problem, cost=np.where(problem.cost > 0, np.inf, 0.0), loss=Hinge(), bias=bias)


def _size(problem: Problem) -> float:
    return float(np.sqrt(np.abs(problem.diag()).max(initial=0.0)))


def _kernel_verdict(problem: Problem, weights: Floats) -> Verdict:
    """A kernel's values are rounded: weights prove that the margin is at most their residual, not that it is zero."""
    bound, size = margin_bound(problem, weights), _size(problem)
    signed = weights * problem.y
    squared = problem.norm2(signed, problem.decision(signed))
    if squared < -1e-9 * size**2 or (size == 0.0 and squared < 0):
        raise InvalidInputError(
            f"The kernel {problem.kernel!r} is not positive semi-definite on these samples (a squared length of {squared:.2g}), "
            "so it has no hyperplanes. Use a kernel for which is_positive_semidefinite(X) holds."
        )
    return NotSeparable(weights, bound, problem) if bound <= 1e-6 * size else Undecided(bound, size)


def _zoom(problem: Problem, samples: Indices) -> Candidate | NotSeparable | None:
    """A hyperplane that separates these samples exactly, or weights that show that none does; None if neither was found."""
    X, y = problem.X[problem.row(samples)].astype(np.float64), problem.y[samples]
    is_free, is_sparse = problem.bias.is_free, sp.issparse(X)
    # Sparse rows are not centred. Columns with one value in all samples are left out.
    centre = X.mean(axis=0) if is_free and not is_sparse else np.zeros(X.shape[1])
    size = abs(X).max(axis=0).toarray().ravel() if is_sparse else np.abs(X - centre).max(axis=0, initial=0.0)
    used = np.flatnonzero(size)
    X, centre, spread = sp.csr_array(X)[:, used] if is_sparse else X[:, used], centre[used], size[used]
    A = sp.diags_array(y) @ sp.csr_array(X if is_sparse else X - centre) @ sp.diags_array(1.0 / spread)
    A = sp.hstack([A, y[:, None]], format="csr") if is_free else A
    w, b = np.zeros(len(used)), 0.0
    residual, zoom = np.zeros(len(y)), 1.0
    for _ in range(4):
        program = _widest(A, zoom * residual)
        if program is None:
            return None
        step, weights = program
        w += step[: len(used)] / (zoom * spread)
        b += step[-1] / zoom if is_free else 0.0
        shift = b - float(w @ centre) if is_free else 0.0
        exact = [int(y[j]) * exact_score(w, shift, dense_rows(X, slice(j, j + 1))[0]) for j in range(len(y))]
        if min(exact) > 0:
            whole = problem.zero()
            whole[used] = w
            return Candidate(whole, shift, np.zeros(problem.n))
        overlap = _exact_overlap(problem, samples, X, weights)
        if overlap is not None:
            return overlap
        residual = np.array([float(value) for value in exact])
        zoom = min(1.0 / max(-float(residual.min()), 1e-18), 1e7 * zoom)
    return None


def _widest(A: Matrix, offset: Floats) -> tuple[Floats, Floats] | None:
    """The δ of  max t : offset + Aδ ≥ t, |δ| ≤ 1, t ≤ 1  and the dual weights p of its rows; None if HiGHS gave up."""
    n, d = A.shape
    result = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=sp.hstack([-A, np.ones((n, 1))]),
        b_ub=np.minimum(offset, 1e6),
        bounds=[(-1.0, 1.0)] * d + [(None, 1.0)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 60.0},
    )
    if result.x is None or result.status != 0:
        return None
    return result.x[:d], np.maximum(-result.ineqlin.marginals, 0.0)


def _exact_overlap(problem: Problem, samples: Indices, X: Matrix, weights: Floats) -> NotSeparable | None:
    """The common point of the two hulls that these weights suggest, with weights that are exactly right."""
    y = problem.y[samples]
    for threshold in (0.0, 1e-11):  # a weight may be tiny and needed, or tiny and noise
        support = np.flatnonzero(weights > threshold)
        labels = y[support]
        sums = np.array([own[samples[support]] for own in groups_of(problem)], dtype=np.float64)
        if not sums.any(axis=1).all():
            continue
        guess = np.zeros(problem.n)
        guess[samples[support]] = weights[support]
        guess = hull_weights(problem, guess)
        if len(support) > MAX_EXACT:
            bound = margin_bound(problem, guess)
            return NotSeparable(guess, bound, problem) if bound <= 1e-9 * _size(problem) else None
        columns = dense_rows(X[support])
        A = np.vstack([(columns * labels[:, None]).T, sums])
        exact = solve_exactly(A, [0] * columns.shape[1] + [1] * len(sums), guess[samples[support]])
        if exact is not None and min(exact) >= 0:
            named = {int(samples[k]): value for k, value in zip(support, exact, strict=True) if value > 0}
            rounded = np.zeros(problem.n)
            rounded[list(named)] = [float(value) for value in named.values()]
            return NotSeparable(rounded, 0.0, problem, named)
    return None
