"""What a small problem with an RBF kernel and the hinge needs before and after its pairs move, compiled.

Alone each of these takes microseconds; in the interpreter, a pass at a time, they took longer than the moves.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.quantiles import hinge_residual

HALVINGS = 50
"""Of the range in which the best bias lies: what is left is rounding."""

SHIFT_ROWS = 256
"""The mean of so many rows, evenly spaced, is near the data."""


@loop
def prepare(X, rows, gamma, T, squares):
    """T's columns √(2γ)(x − μ) and squares γ‖x − μ‖² of the chosen rows, for `fill_row`; returns the largest square."""
    n, d = rows.shape[0], X.shape[1]
    every = -(-n // SHIFT_ROWS)
    shift, largest, factor = np.zeros(d), 0.0, np.float32(np.sqrt(2.0 * gamma))
    for k in range(0, n, every):
        for f in range(d):
            shift[f] += X[rows[k], f]
    for f in range(d):
        shift[f] /= -(-n // every)
    for k in range(n):
        square = 0.0
        for f in range(d):
            value = np.float32(X[rows[k], f] - shift[f])
            square += float(value) * float(value)
            T[f, k] = factor * value
        squares[k] = gamma * square
        largest = max(largest, gamma * square)
    return largest


@loop
def reached_at(g, cost, total):
    """The smallest of the kinks −g such that those up to it cost at least `total`, or the largest: by halving, no sort."""
    low = high = -g[0]
    for k in range(g.shape[0]):
        low, high = min(low, -g[k]), max(high, -g[k])
    for _ in range(HALVINGS):
        middle, below = low + 0.5 * (high - low), 0.0
        for k in range(g.shape[0]):
            below += cost[k] if -g[k] <= middle else 0.0
        if below >= total:
            high = middle
        else:
            low = middle
    return high


@loop
def look(g, y, beta, cost, is_free):
    """(the best bias, Σ residuals: what is missing to the dual value, the dual value) of β, whose gradient Kβ − y is g."""
    b = 0.0
    if is_free:
        total = everything = 0.0
        for k in range(g.shape[0]):
            total += (cost[k] if y[k] > 0.0 else 0.0) - beta[k]
            everything += cost[k]
        flat = 1e-12 * everything  # as in `core.bias`: the best biases are an interval, and we take its middle
        b = 0.5 * (reached_at(g, cost, total - flat) + reached_at(g, cost, total + flat))
    missing = dual = 0.0
    for k in range(g.shape[0]):
        missing += hinge_residual(-y[k] * (g[k] + b), abs(beta[k]), cost[k])
        dual += 0.5 * beta[k] * (y[k] - g[k])
    return b, missing, dual
