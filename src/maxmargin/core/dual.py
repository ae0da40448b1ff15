"""The dual's feasible set: lo ≤ β ≤ hi, and Σβ = 0 where the bias is free."""

import math

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.typing import Floats


def box(problem: Problem) -> tuple[Floats, Floats]:
    """(lo, hi) of the signed dual: [0, u] where y = +1, [−u, 0] where y = −1, u the loss's largest α."""
    upper = problem.loss.upper(problem.cost)
    positive = problem.y > 0
    return np.where(positive, 0.0, -upper), np.where(positive, upper, 0.0)


def make_feasible(problem: Problem, beta: Floats) -> Floats:
    """The nearest thing to β that is exactly feasible.

    Clipped into the box; then, for a free bias, the heavier side is scaled down (which cannot leave the box) and the last
    bits are taken from single entries until the sum, computed without rounding, is zero.
    """
    lo, hi = box(problem)
    beta = np.clip(beta, lo, hi)
    return balance(beta) if problem.bias.is_free else beta


def balance(beta: Floats) -> Floats:
    """Shrink entries of β until Σβ = 0 holds exactly; entries far below the largest are dropped where they are in the way."""
    used = np.flatnonzero(beta)
    values, is_balanced = beta[used], False
    for least in (1e-30, 1e-15, 1e-8, 1.0):
        if is_balanced:
            break
        values[np.abs(values) < least * np.abs(values).max(initial=0.0)] = 0.0
        values, is_balanced = _balanced(values)
    out = beta.copy()
    out[used] = values
    return out


def _balanced(values: Floats) -> tuple[Floats, bool]:
    """(values with the heavier side scaled down and the last bits taken from single entries, whether Σ is zero now)."""
    values = values.copy()
    plus, minus = math.fsum(values[values > 0]), -math.fsum(values[values < 0])
    if min(plus, minus) <= 0.0:
        return np.zeros_like(values), True
    if abs(plus - minus) > 1e-12 * max(plus, minus):
        heavy = values > 0 if plus > minus else values < 0
        values[heavy] *= min(plus, minus) / max(plus, minus)
    for _ in range(100):
        excess = math.fsum(values)
        if excess == 0.0:
            return values, True
        room = np.where(np.sign(values) == np.sign(excess), np.abs(values), 0.0)
        enough = np.flatnonzero(room >= abs(excess))
        # The smallest entry that can absorb the excess has the finest grid, so the next excess is far smaller.
        k = enough[np.argmin(room[enough])] if len(enough) else int(np.argmax(room))
        less = values[k] - math.copysign(min(room[k], abs(excess)), excess)
        if math.fsum((values[k], -less, -excess)) * excess > 0:  # rounded so that too much was taken
            less = np.nextafter(less, values[k])
        if less == values[k]:  # an excess below its last bit: entries smaller than the excess give way whole,
            small = np.where(room < abs(excess), room, 0.0)
            if small.any():
                k, less = int(np.argmax(small)), 0.0
            else:  # and else that bit is taken, and the other side makes up for it
                less = np.nextafter(values[k], 0.0)
        values[k] = less
    return values, False
