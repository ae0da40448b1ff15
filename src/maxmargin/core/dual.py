"""The dual's feasible set: lo ≤ β ≤ hi, and Σβ = τ where the bias is free (0 in classification)."""

import math

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.rounding import gamma
from maxmargin.typing import Floats


def box(problem: Problem) -> tuple[Floats, Floats]:
    """(lo, hi) of the signed dual: [0, u] where y = +1, [−u, 0] where y = −1, u the loss's largest α."""
    upper = problem.loss.upper(problem.cost)
    positive = problem.y > 0
    return np.where(positive, 0.0, -upper), np.where(positive, upper, 0.0)


def make_feasible(problem: Problem, beta: Floats) -> Floats:
    """β clipped into its box; for a free bias with its heavier side scaled down, so that Σβ = τ up to rounding."""
    lo, hi = box(problem)
    beta = np.clip(beta, lo, hi)
    if not problem.bias.is_free:
        return beta
    if problem.groups is None:
        return reach(beta, hi, problem.total)
    assert problem.totals is not None
    for g, total in enumerate(problem.totals.tolist()):
        at, sign = problem.groups == g, math.copysign(1.0, total)
        beta[at] = sign * reach(sign * beta[at], (hi if sign > 0 else -lo)[at], abs(total))
    return beta


def balance(beta: Floats) -> Floats:
    """Scale the heavier side down, which cannot leave the box; zeros where one side has nothing.

    Σβ is then 0 up to the rounding of a sum: the certificate takes what is left from one sample, and counts what that costs.
    """
    positive = beta > 0
    plus, minus = float(beta[positive].sum()), -float(beta[~positive].sum())
    if min(plus, minus) <= 0.0:
        return np.zeros_like(beta)
    if abs(plus - minus) <= gamma(len(beta)) * (plus + minus):
        return beta
    return np.where(positive == (plus > minus), beta * (min(plus, minus) / max(plus, minus)), beta)


def reach(beta: Floats, hi: Floats, total: float) -> Floats:
    """Change β so that Σβ is `total` ≥ 0, or above it by the rounding of a sum: the certificate takes that from one sample.

    A sum that is too large: the positive side is scaled down. One that is too small: the negative side is scaled down, and where
    that is not enough the positive one moves towards its bounds.
    """
    if total == 0.0:
        return balance(beta)
    share = 4.0 * gamma(len(beta))
    for _ in range(2):
        positive = beta > 0
        plus, minus = float(beta[positive].sum()), -float(beta[~positive].sum())
        goal = total + share * (plus + minus + total)
        enough = total + 0.25 * (goal - total)  # at least the total, whatever the sums round
        if enough <= plus - minus <= goal + share * goal:
            return beta
        if plus - minus > goal:
            return np.where(positive, beta * ((minus + goal) / plus), beta)
        if plus >= goal:
            return np.where(positive, beta, beta * ((plus - goal) / minus))
        beta = np.where(positive, beta, 0.0)
        room = np.where(np.isfinite(hi), hi, total) - beta
        if not room.any():
            break
        beta = np.minimum(beta + room * min((goal - plus) / float(room.sum()), 1.0), hi)
    return beta
