"""Retraining without one sample, from the full solution, on the rows of a CSR matrix; compiled.

    min_α  ½‖Σ α_j y_j x̃_j‖² − Σ (1 − y_j b₀) α_j     s.t.  0 ≤ α ≤ u,  α_i = 0

x̃_j is x_j with a constant feature s behind it, a penalised bias (then b₀ = 0), or a free one by the method of multipliers (then
b₀ moves, see `solvers.dual_cd`). Sweeps of dual coordinate descent over the samples near the margin; now and then a pass over
all of them sums the duality gap. Where the bias is free Σβ = e need not vanish: with b* known to lie in a bracket B,

    G = Σ_j r_j + max_{b' ∈ B} (b' − b) e

is the gap of the problem with b ∈ B, which has the same optimum. The rest is as in `leave_one_out_gram`.
"""

import numpy as np

from maxmargin._loops.compensated import combine_csr
from maxmargin._loops.jit import loop, loop_as_written
from maxmargin._loops.leave_one_out.face_rows import face_step, shift_row
from maxmargin._loops.leave_one_out.fields import EXHAUSTED, GAP, MAX_ROUNDS, NEAR, ROUND_STEPS, ROUNDS
from maxmargin._loops.leave_one_out.look import TINY, UNIT, conclude, is_enough, sum_of
from maxmargin._loops.linear.csr import dot_csr
from maxmargin._loops.linear.dual_cd import GAIN, HIGHEST, LOWEST, N_ACTIVE, sweep_csr
from maxmargin._loops.linear.dual_cd import N_FIELDS as N_REPORT

FIRST_FACE, FACE_ITERATIONS = 2, 15
"""From this round on the samples inside their box are moved together first, by so many conjugate gradients."""

# What bounds ‖w − w(α)‖, by position in `track`: the bound and ‖w‖ when w was last known, and since then the rows that were
# added to it and their Σ|move| · ‖x̃‖.
START, SIZE, COUNT, MOVED, N_TRACK = 0, 1, 2, 3, 4


@loop
def note_moves(track, count, moved):
    """So many more rows were added to w, with Σ|move| · ‖x̃‖ at most `moved`."""
    track[COUNT] += count
    track[MOVED] += moved


@loop
def drift_of(track):
    """(‖w − w(α)‖, ‖w‖) at most: each row that is added rounds w at its present size, and its own move."""
    size = track[SIZE] + track[MOVED]
    return track[START] + 1.01 * UNIT * (track[COUNT] * size + 4.0 * track[MOVED]), 1.01 * size


@loop
def refresh(indptr, indices, data, y, alpha, w, s, lengths, track):
    """w = Σ α_j y_j x̃_j anew, in twice the working precision and rounded once."""
    n, last = y.shape[0], w.shape[0] - 1
    rows, beta, high, low = np.empty(n, np.int64), np.empty(n), np.zeros(last), np.zeros(last)
    count, bulk, square = 0, 0.0, 0.0
    for j in range(n):
        if alpha[j] != 0.0:
            rows[count], beta[count] = j, alpha[j] * y[j]
            bulk += alpha[j] * (lengths[j] + s)
            count += 1
    combine_csr(indptr, indices, data, rows[:count], beta[:count], high, low)
    for k in range(last):
        w[k] = high[k] + low[k]
    w[last] = s * sum_of(beta[:count])[0]
    for k in range(last + 1):
        square += w[k] * w[k]
    units = (count + 4) * UNIT
    track[START] = 1.01 * (8.0 * UNIT * np.sqrt(square) + 8.0 * units * units * bulk)
    track[SIZE] = 1.01 * np.sqrt(square) + track[START]
    track[COUNT], track[MOVED] = 0.0, 0.0


@loop_as_written
def look_at_rows(
    indptr, indices, data, y, cost, weights, beta, w, s, is_free, lengths, track, i, bracket, rules, bounds, scratch
):  # fmt: skip
    """Sum the gap at the present β and tighten `bounds` and `bracket`; returns the bias. Leaves y − f in scratch[0].

    A product of k terms errs by γ_k ‖w‖‖x̃‖, and w by what `track` tells.
    """
    kinks, reaches = scratch[0], scratch[1]
    constant = 0.0 if is_free else s * w[w.shape[0] - 1]
    drift, size = drift_of(track)
    for j in range(y.shape[0]):
        f = dot_csr(indices, data, w, indptr[j], indptr[j + 1]) + constant
        kinks[j] = y[j] - f
        units = 1.01 * UNIT * (indptr[j + 1] - indptr[j] + 8)
        reaches[j] = (drift + units * size) * lengths[j] + 4.0 * UNIT * (1.0 + abs(f)) + TINY
    return conclude(
        kinks, reaches, y, cost, weights, beta, lengths, is_free, i, bracket, rules, bounds, scratch[2], scratch[3]
    )


@loop
def choose_near(kinks, b, y, cost, alpha, i, near, order):
    """Put the samples that may move into `order`: those inside their box, near the margin or on its wrong side; how many."""
    count = 0
    for j in range(y.shape[0]):
        if j == i or cost[j] == 0.0:
            continue
        m = y[j] * (kinks[j] - b)
        if (alpha[j] < cost[j] and m > -near) or (alpha[j] > 0.0 and m < near):
            order[count] = j
            count += 1
    return count


@loop
def retrain_rows(
    indptr,
    indices,
    data,
    y,
    cost,
    weights,
    squares,
    lengths,
    alpha0,
    w0,
    apart,
    size,
    s,
    start_b,
    kinks0,
    is_free,
    jobs,
    movers,
    starts,
    brackets,
    rules,
    chunk,
    bounds,
):
    """Leave out the samples `jobs`, one after the other, each from the full solution (α₀, w₀); fills their `bounds`.

    squares : ‖x̃_j‖²; kinks0 : y − f of the full solution; w0 has the constant's weight behind it.
    lengths, apart, size : upper bounds of the lengths that count in f, of ‖w₀ − w(α₀)‖ and of ‖w₀‖.
    movers, starts : some samples, and their β where each job starts; the others start from α₀.
    """
    n, last = y.shape[0], w0.shape[0] - 1
    alpha, beta, w, upper, delta = np.empty(n), np.empty(n), np.empty(last + 1), np.empty(n), np.zeros(n)
    scratch, report, thresholds, track = np.empty((4, n)), np.empty(N_REPORT), np.empty(2), np.empty(N_TRACK)
    order, visits, seed = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(1, np.uint64)
    kinks = scratch[0]
    least = 8.0 * UNIT * cost.max() * np.sqrt(squares.max())  # of a step that is only rounding, at most
    for at in range(jobs.shape[0]):
        i = jobs[at]
        alpha[:] = alpha0
        w[:] = w0
        upper[:] = cost
        upper[i] = 0.0
        seed[0] = np.uint64(2 * i + 1)
        track[START], track[SIZE], track[COUNT], track[MOVED] = apart, size, 1.0, alpha[i] * (lengths[i] + s)
        shift_row(indptr, indices, data, y, alpha, w, s, i, 0.0)
        for k in range(movers.shape[0]):
            j = movers[k]
            value = starts[at, k] * y[j]
            if value != alpha[j]:
                note_moves(track, 1.0, abs(value - alpha[j]) * (lengths[j] + s))
                shift_row(indptr, indices, data, y, alpha, w, s, j, value)
        b0 = start_b - s * w[last] if is_free else 0.0  # the left-out share does not count as a move of b
        b = start_b
        kinks[:] = kinks0
        rounds, sweeps, gap = 0, rules[ROUND_STEPS], np.inf
        if movers.shape[0] > 0:
            for j in range(n):
                beta[j] = alpha[j] * y[j]
            b = look_at_rows(
                indptr, indices, data, y, cost, weights, beta, w, s, is_free, lengths, track, i, brackets[at], rules,
                bounds[at], scratch,
            )  # fmt: skip
        while not is_enough(bounds[at], rules):
            if rounds >= FIRST_FACE:
                face_step(indptr, indices, data, y, cost, alpha, w, s, b0, i, FACE_ITERATIONS)
                refresh(indptr, indices, data, y, alpha, w, s, lengths, track)
            n_near = choose_near(kinks, b, y, cost, alpha, i, rules[NEAR], order)
            thresholds[0], thresholds[1] = np.inf, -np.inf
            for _ in range(int(sweeps)):
                n_visited = n_near
                sweep_csr(
                    indptr, indices, data, y, upper, delta, squares, alpha, w, s, b0, 1.0, order, n_near, thresholds,
                    chunk, seed, visits, report,
                )  # fmt: skip
                # A step of t gains at least ¼t²‖x̃‖², unless it is rounding; and (Σ|t|‖x̃‖)² ≤ (steps) Σt²‖x̃‖².
                gained = max(report[GAIN], 0.0) + n_visited * least * least
                note_moves(track, n_visited, 1.01 * np.sqrt(4.0 * n_visited * gained) + n_visited * least)
                n_near = int(report[N_ACTIVE])
                if is_free:
                    b0 += s * w[last]
                if n_near == 0:
                    break
                thresholds[0] = report[HIGHEST] if report[HIGHEST] > 0.0 else np.inf
                thresholds[1] = report[LOWEST] if report[LOWEST] < 0.0 else -np.inf
            for j in range(n):
                beta[j] = alpha[j] * y[j]
            b = look_at_rows(
                indptr, indices, data, y, cost, weights, beta, w, s, is_free, lengths, track, i, brackets[at], rules,
                bounds[at], scratch,
            )  # fmt: skip
            if bounds[at, EXHAUSTED] > 0.0:  # by what the sweeps did to w
                refresh(indptr, indices, data, y, alpha, w, s, lengths, track)
                b = look_at_rows(
                    indptr, indices, data, y, cost, weights, beta, w, s, is_free, lengths, track, i, brackets[at], rules,
                    bounds[at], scratch,
                )  # fmt: skip
            rounds += 1
            sweeps = min(1.5 * sweeps, 50.0)
            has_stalled = bounds[at, GAP] > 0.9 * gap and rounds > 10
            gap = min(gap, bounds[at, GAP])
            if is_enough(bounds[at], rules) or rounds >= rules[MAX_ROUNDS] or has_stalled:
                break
        bounds[at, ROUNDS] = rounds
