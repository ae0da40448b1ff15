"""The best bias of the hinge and the gap, from the gradient g = Kβ − t; compiled.

A pass at a time in the interpreter, they took longer than the moves of a small working set.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.quantiles import hinge_residual

HALVINGS, MOST_TIMES = 50, 50
"""Of the range in which the best bias lies; what is left are mostly kinks of one place, and else the range begins with them."""


@loop
def cost_up_to(g, cost, place):
    """Σ of the costs whose kink −g is at most `place`."""
    below = 0.0
    for k in range(g.shape[0]):
        below += cost[k] if -g[k] <= place else 0.0
    return below


@loop
def kinks_within(g, low, high):
    """The smallest and the largest kink −g in (low, high]; (high, high) where there is none."""
    first, last = np.inf, -np.inf
    for k in range(g.shape[0]):
        kink = -g[k]
        if low < kink <= high:
            first, last = min(first, kink), max(last, kink)
    return (first, last) if first <= last else (high, high)


@loop
def reached_at(g, cost, total, low, high):
    """The smallest of the kinks in [low, high] such that those up to it cost at least `total`, or the last: by halving."""
    if cost_up_to(g, cost, low) >= total:
        return low
    for _ in range(MOST_TIMES):
        for _ in range(HALVINGS):
            middle = low + 0.5 * (high - low)
            if cost_up_to(g, cost, middle) >= total:
                high = middle
            else:
                low = middle
        first, last = kinks_within(g, low, high)
        if first == last or cost_up_to(g, cost, first) >= total:
            return first
        low, high = first, last  # of a range far wider than its kinks are apart
    return high


@loop
def look(g, y, t, beta, cost, is_free):
    """(the best bias, Σ residuals: what is missing to the dual value, the dual value) of β, whose gradient Kβ − t is g."""
    b = 0.0
    if is_free:
        total = everything = 0.0
        low = high = -g[0]
        for k in range(g.shape[0]):
            total += (cost[k] if y[k] > 0.0 else 0.0) - beta[k]
            everything += cost[k]
            low, high = min(low, -g[k]), max(high, -g[k])
        flat = 1e-12 * everything  # as in `core.bias`: the best biases are an interval, and we take its middle
        below = reached_at(g, cost, total - flat, low, high)
        is_flat = cost_up_to(g, cost, below) < total + flat
        above = reached_at(g, cost, total + flat, below, high) if is_flat else below
        b = below + 0.5 * (above - below)
    missing = dual = 0.0
    for k in range(g.shape[0]):
        missing += hinge_residual(-y[k] * (g[k] + b), abs(beta[k]), cost[k])
        dual += 0.5 * beta[k] * (t[k] - g[k])
    return b, missing, dual
