"""The dual's feasible set: lo ≤ β ≤ hi, and Σβ = 0 where the bias is free."""

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
    """β clipped into its box; for a free bias with its heavier side scaled down, so that Σβ = 0 up to rounding."""
    lo, hi = box(problem)
    beta = np.clip(beta, lo, hi)
    return balance(beta) if problem.bias.is_free else beta


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
