"""A small problem with an RBF kernel and the hinge, solved by one call: the interpreter is not needed in between.

Rows are prepared in float32, pairs (or single β) move until their violation is small, the gradient is carried along in float64,
and the gap is looked at; then again, until it is small enough.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.quantiles import bias_ends, hinge_residual
from maxmargin._loops.smo import CHUNK, IS_FULL, N_FIELDS, STEPS, add_rows, pair_steps, single_steps

# What a run reports, by position: the bias, the relative gap, the dual value, and the rounds made (0: float32 is too coarse).
B, GAP, DUAL, ROUNDS, N_REPORTED = 0, 1, 2, 3, 4

SHIFT_ROWS = 256
"""The mean of so many rows, evenly spaced, is near the data."""


@loop
def prepare(X, rows, gamma, T, squares):
    """T's columns √(2γ)(x − μ) and squares γ‖x − μ‖² of the chosen rows, for `fill_row`; returns the largest square."""
    n, d = rows.shape[0], X.shape[1]
    every = -(-n // SHIFT_ROWS)
    shift, count, largest, factor = np.zeros(d), 0, 0.0, np.float32(np.sqrt(2.0 * gamma))
    for k in range(0, n, every):
        shift += X[rows[k]]
        count += 1
    shift /= count
    for k in range(n):
        row, square = X[rows[k]], 0.0
        for f in range(d):
            value = np.float32(row[f] - shift[f])
            square += float(value) * float(value)
            T[f, k] = factor * value
        squares[k] = gamma * square
        largest = max(largest, gamma * square)
    return largest


@loop
def look(g, y, beta, cost, is_free, kinks, masses, values, report):
    """Report the best bias, the relative gap and the dual value of β, whose gradient Kβ − y is g; other arrays are scratch."""
    n, b = g.shape[0], 0.0
    if is_free:
        total, everything = 0.0, 0.0
        for k in range(n):
            kinks[k] = -g[k]
            total += (cost[k] if y[k] > 0.0 else 0.0) - beta[k]
            everything += cost[k]
        low, high = bias_ends(
            kinks, kinks, 0.0, cost, -1, total, 1e-12 * everything, kinks.min(), kinks.max(), values, masses
        )
        b = low + 0.5 * (high - low)
    missing = dual = 0.0
    for k in range(n):
        missing += hinge_residual(-y[k] * (g[k] + b), abs(beta[k]), cost[k])
        dual += 0.5 * beta[k] * (y[k] - g[k])
    report[B], report[DUAL] = b, dual
    report[GAP] = missing / max(abs(dual) + missing, 1e-300)


@loop
def solve_whole(
    X, rows, gamma, y, cost, is_free, goal, max_square, capacity, max_steps, max_rounds, least_share, beta, g, report
):
    """Move β (of zeros, padded to whole chunks) until the relative gap is ≤ goal, or nothing more can be done here.

    goal : the gap to reach. max_square : the largest γ‖x − μ‖² that float32 is fine enough for.
    capacity : rows of K that there is memory for. max_steps : moves in all. least_share : see `pair_steps`.
    g : filled with Kβ − y. O(d) a value of each row that is needed, O(n) a move.
    """
    n, d = rows.shape[0], X.shape[1]
    size = -(-n // CHUNK) * CHUNK
    single, zero, big = np.float32, np.float32(0.0), np.float32(1e30)
    T, squares = np.zeros((-(-d // 4) * 4, size), dtype=single), np.zeros(size, dtype=single)
    report[ROUNDS] = 0
    if not prepare(X, rows, gamma, T, squares) <= max_square:
        return
    lo, hi = np.zeros(size), np.zeros(size)
    gradient, rise, fall = np.zeros(size, dtype=single), np.full(size, -big), np.full(size, -big)
    for k in range(n):
        g[k] = -y[k]
        if y[k] > 0.0:
            hi[k], rise[k] = cost[k], zero
        else:
            lo[k], fall[k] = -cost[k], zero
    K, slot = np.empty((min(capacity, size), size), dtype=single), np.full(size, -1)
    K[0] = zero  # read, and multiplied by 0, before it is filled
    delta, diagonal = np.zeros(size, dtype=single), np.ones(size, dtype=single)
    inner, before, kinks, masses, values = np.zeros(N_FIELDS), np.zeros(size), np.empty(n), np.empty(n), np.empty(n)
    eps = 1.1920929e-07
    steps, share, least_gap = 0, least_share, np.inf
    while report[ROUNDS] < max_rounds:
        largest = 0.0
        for k in range(n):
            gradient[k] = g[k]
            largest = max(largest, abs(g[k]))
        if is_free:
            pair_steps(
                K, slot, T, squares, delta, zero, diagonal, gradient, beta, lo, hi, rise, fall,
                8.0 * eps, share, 4.0 * eps * largest, max_steps - steps, inner,
            )  # fmt: skip
        else:
            single_steps(
                K, slot, T, squares, delta, zero, diagonal, gradient, beta, lo, hi, rise, fall,
                8.0 * eps, share, 4.0 * eps * largest, max_steps - steps, inner,
            )  # fmt: skip
        moves = beta - before
        moved = np.flatnonzero(moves)
        add_rows(K, slot[moved], moves[moved], g, 0, n)
        before[:] = beta
        steps += int(inner[STEPS])
        look(g, y, beta, cost, is_free, kinks, masses, values, report)
        report[ROUNDS] += 1
        if report[GAP] <= goal or report[GAP] > 0.9 * least_gap or steps >= max_steps or inner[IS_FULL] > 0.0:
            break
        least_gap = report[GAP]
        share = max(least_share, 0.5 * goal / report[GAP])
