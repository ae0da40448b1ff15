"""The last digits: Newton on the samples that lie on the margin.

Once it is known which α are 0, which are c and which are free, the optimality conditions are linear:

    K_FF δ + D δ + b = t_F − (Kβ)_F − Dβ_F        Σ(β + δ) = 0 (free bias)

solved by least squares (K_FF may be singular) and repeated with fresh residuals, so that the error of a round is the
rounding of its residual and not of its matrix. A round is kept only if the certificate improves.
"""

import numpy as np
import scipy.linalg

from maxmargin.core.certificate import certify
from maxmargin.core.problem import Problem
from maxmargin.core.reduce import to_candidate
from maxmargin.core.candidate import Candidate
from maxmargin.typing import Floats, Indices

MAX_FREE = 1200
ROUNDS = 8


def refine(problem: Problem, candidate: Candidate) -> Candidate:
    """The candidate, or a better one with the same support; costs O(free³) a round."""
    best, best_gap = candidate, certify(problem, candidate).relative_gap
    trial = candidate
    for _ in range(ROUNDS):
        snapped, free = snap(problem, trial)
        if not 0 < len(free) <= MAX_FREE:
            trial = to_candidate(problem, snapped)
        else:
            trial = to_candidate(problem, newton(problem, snapped, trial.b, free))
        gap = certify(problem, trial).relative_gap
        if not gap < 0.5 * best_gap:
            return trial if gap < best_gap else best
        best, best_gap = trial, gap
        if gap < 1e-15:
            break
    return best


def snap(problem: Problem, candidate: Candidate) -> tuple[Floats, Indices]:
    """β with its clear cases put on their bounds, and the samples left free.

    A sample whose α is nearer to 0 than its margin is to 1 belongs outside; likewise at the upper bound: complementary
    slackness decides, not a threshold.
    """
    on = problem.present
    y, cost = problem.y[on], problem.cost[on]
    alpha = np.maximum(candidate.beta[on] * y, 0.0)
    beyond = y * (problem.decision(candidate.w)[on] + candidate.b) - 1.0
    upper = problem.loss.upper(cost)
    capped = np.isfinite(upper)
    largest = max(float(alpha.max()), np.finfo(float).tiny)
    at_zero = alpha / np.minimum(upper, largest) <= beyond
    at_top = capped & ~at_zero & (1.0 - alpha / np.where(capped, upper, 1.0) <= -beyond)
    alpha[at_zero] = 0.0
    alpha[at_top] = upper[at_top]
    beta = np.zeros(problem.n)
    beta[on] = y * alpha
    return beta, on[~at_zero & ~at_top]


def newton(problem: Problem, beta: Floats, b: float, free: Indices) -> Floats:
    """β after one Newton step on the free samples, not yet clipped."""
    K = problem.gram(free, free)
    K[np.diag_indices(len(free))] += problem.loss.dual_diagonal(problem.cost[free])
    scores = problem.decision(problem.combine(beta))[free]
    residual = problem.y[free] - scores - problem.loss.dual_diagonal(problem.cost[free]) * beta[free]
    if problem.bias.kind == "penalized":
        K += problem.bias.scale**2
        residual -= problem.bias.scale**2 * beta.sum()
    if problem.bias.is_free:
        unit = max(float(np.abs(K).max()), np.finfo(float).tiny)
        ones = np.full((len(free), 1), unit)
        K = np.block([[K, ones], [ones.T, np.zeros((1, 1))]])
        residual = np.append(residual - b, -unit * beta.sum())
    # Symmetric scaling by the diagonal keeps samples of very different length apart.
    length = np.sqrt(np.maximum(np.abs(K).max(axis=0), np.finfo(float).tiny))
    step = scipy.linalg.lstsq(K / np.outer(length, length), residual / length, lapack_driver="gelsy")[0] / length
    out = beta.copy()
    out[free] += step[: len(free)]
    return out
