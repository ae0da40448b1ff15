"""The best bias of the hinge and the gap, from the gradient g = Kβ − t; compiled.

A pass at a time in the interpreter, they took longer than the moves of a small working set.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.quantiles import bias_ends, hinge_residual


@loop
def look(g, y, beta, cost, is_free):
    """(the best bias, Σ residuals: what is missing to the dual value) of β, whose gradient Kβ − t is g."""
    n, b = g.shape[0], 0.0
    if is_free:
        total = everything = 0.0
        for k in range(n):
            total += (cost[k] if y[k] > 0.0 else 0.0) - beta[k]
            everything += cost[k]
        flat = 1e-12 * everything  # as in `core.bias`: the best biases are an interval, and we take its middle
        kinks, scratch = -g, np.zeros((3, n))
        lower, upper = bias_ends(
            kinks, scratch[0], 0.0, cost, -1, total - flat, total + flat, kinks.min(), kinks.max(), scratch[1], scratch[2]
        )  # fmt: skip
        b = lower + 0.5 * (upper - lower)
    missing = 0.0
    for k in range(n):
        missing += hinge_residual(-y[k] * (g[k] + b), abs(beta[k]), cost[k])
    return b, missing
