"""What a small problem with an RBF kernel needs before its pairs move, compiled: a pass at a time took longer than the moves."""

import numpy as np

from maxmargin._loops.jit import loop

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
