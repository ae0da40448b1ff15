"""Retraining without one sample, from the full solution, on the rows of a CSR matrix; compiled.

    min_α  ½‖Σ α_j y_j x̃_j‖² − Σ (1 − y_j b₀) α_j     s.t.  0 ≤ α ≤ u,  α_i = 0

x̃_j is x_j with a constant feature s behind it, a penalised bias (then b₀ = 0), or a free one by the method of multipliers (then
b₀ moves, see `solvers.dual_cd`). Sweeps of dual coordinate descent over the samples near the margin; now and then a pass over
all of them sums the duality gap. Where the bias is free Σβ = e need not vanish: with b* known to lie in a bracket B,

    G = Σ_j r_j + max_{b' ∈ B} (b' − b) e

is the gap of the problem with b ∈ B, which has the same optimum. The rest is as in `leave_one_out_gram`.
"""

import numpy as np

from maxmargin._loops.csr import dot_csr
from maxmargin._loops.dual_cd import HIGHEST, LOWEST, N_ACTIVE, sweep_csr
from maxmargin._loops.dual_cd import N_FIELDS as N_REPORT
from maxmargin._loops.face_rows import face_step, shift_row
from maxmargin._loops.jit import loop
from maxmargin._loops.leave_one_out_fields import GAP, LOWER, MAX_ROUNDS, NEAR, ROUND_STEPS, ROUNDING, ROUNDS, UPPER
from maxmargin._loops.leave_one_out_look import is_enough
from maxmargin._loops.quantiles import bias_ends, hinge_residual

FIRST_FACE, FACE_ITERATIONS = 2, 15
"""From this round on the samples inside their box are moved together first, by so many conjugate gradients."""


@loop
def look_at_rows(
    indptr, indices, data, y, cost, alpha, w, s, is_free, lengths, i, bracket, rules, bounds, kinks, values, masses
):
    """Sum the gap at the present α and tighten `bounds` and `bracket`; returns the bias. Leaves y − f in `kinks`."""
    n, last = y.shape[0], w.shape[0] - 1
    constant = 0.0 if is_free else s * w[last]
    total, weight = 0.0, 0.0
    for j in range(n):
        kinks[j] = y[j] - dot_csr(indices, data, w, indptr[j], indptr[j + 1]) - constant
        if j != i:
            weight += cost[j]
            total += cost[j] if y[j] > 0.0 else 0.0
    b, gap, flat = 0.0, 0.0, 1e-12 * weight
    if is_free:
        lower, upper = bias_ends(kinks, lengths, 0.0, cost, i, total, flat, bracket[0], bracket[1], values, masses)
        b = lower + 0.5 * (upper - lower)
        excess = w[last] / s
        gap = max((bracket[0] - b) * excess, (bracket[1] - b) * excess)
    for j in range(n):
        if j != i and cost[j] > 0.0:
            gap += hinge_residual(y[j] * (kinks[j] - b), alpha[j], cost[j])
    radius = np.sqrt(gap)
    reach = radius * lengths[i] + rules[ROUNDING]
    low, high = 0.0, 0.0
    if is_free:
        first = bias_ends(kinks, lengths, -radius, cost, i, total, flat, bracket[0], bracket[1], values, masses)
        end = bias_ends(kinks, lengths, radius, cost, i, total, flat, bracket[0], bracket[1], values, masses)
        low, high = 0.5 * (first[0] + first[1]), 0.5 * (end[0] + end[1])
        bracket[0], bracket[1] = max(bracket[0], first[0]), min(bracket[1], end[1])
    f = y[i] - kinks[i]
    bounds[LOWER] = max(bounds[LOWER], f - reach + low)
    bounds[UPPER] = min(bounds[UPPER], f + reach + high)
    bounds[GAP] = gap
    return b


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
    squares,
    alpha0,
    w0,
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
    movers, starts : some samples, and their β where each job starts; the others start from α₀.
    """
    n, last = y.shape[0], w0.shape[0] - 1
    alpha, w, upper, delta, kinks = np.empty(n), np.empty(last + 1), np.empty(n), np.zeros(n), np.empty(n)
    values, masses, report, thresholds = np.empty(n), np.empty(n), np.empty(N_REPORT), np.empty(2)
    order, visits, seed = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(1, np.uint64)
    lengths = np.sqrt(np.maximum(squares - s * s, 0.0) if is_free else squares)
    for at in range(jobs.shape[0]):
        i = jobs[at]
        alpha[:] = alpha0
        w[:] = w0
        upper[:] = cost
        upper[i] = 0.0
        seed[0] = np.uint64(2 * i + 1)
        shift_row(indptr, indices, data, y, alpha, w, s, i, 0.0)
        for k in range(movers.shape[0]):
            j = movers[k]
            shift_row(indptr, indices, data, y, alpha, w, s, j, starts[at, k] * y[j])
        b0 = start_b - s * w[last] if is_free else 0.0  # the left-out share does not count as a move of b
        b = start_b
        kinks[:] = kinks0
        rounds, sweeps, gap = 0, rules[ROUND_STEPS], np.inf
        if movers.shape[0] > 0:
            b = look_at_rows(
                indptr, indices, data, y, cost, alpha, w, s, is_free, lengths, i, brackets[at], rules, bounds[at],
                kinks, values, masses,
            )  # fmt: skip
        while not is_enough(bounds[at], rules):
            if rounds >= FIRST_FACE:
                face_step(indptr, indices, data, y, cost, alpha, w, s, b0, i, FACE_ITERATIONS)
            n_near = choose_near(kinks, b, y, cost, alpha, i, rules[NEAR], order)
            thresholds[0], thresholds[1] = np.inf, -np.inf
            for _ in range(int(sweeps)):
                sweep_csr(
                    indptr, indices, data, y, upper, delta, squares, alpha, w, s, b0, 1.0, order, n_near, thresholds,
                    chunk, seed, visits, report,
                )  # fmt: skip
                n_near = int(report[N_ACTIVE])
                if is_free:
                    b0 += s * w[last]
                if n_near == 0:
                    break
                thresholds[0] = report[HIGHEST] if report[HIGHEST] > 0.0 else np.inf
                thresholds[1] = report[LOWEST] if report[LOWEST] < 0.0 else -np.inf
            b = look_at_rows(
                indptr, indices, data, y, cost, alpha, w, s, is_free, lengths, i, brackets[at], rules, bounds[at],
                kinks, values, masses,
            )  # fmt: skip
            rounds += 1
            sweeps = min(1.5 * sweeps, 50.0)
            has_stalled = bounds[at, GAP] > 0.9 * gap and rounds > 10
            gap = min(gap, bounds[at, GAP])
            if is_enough(bounds[at], rules) or rounds >= rules[MAX_ROUNDS] or has_stalled:
                break
        bounds[at, ROUNDS] = rounds
