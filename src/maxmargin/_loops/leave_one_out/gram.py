"""Retraining without one sample, from the full solution, on rows of the Gram matrix in memory; compiled.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  lo ≤ β ≤ hi,  β_i = 0,   and Σβ = 0 where the bias is free

Pair or single steps (see `smo`) in rounds. After each the duality gap G is summed, so that the optimum w* lies within √G of
w(β) and the decision of the left-out sample in an interval,

    F*(x_i) ∈ f_i ± √(G k_ii) + [b]

with b between the means of the argmin's ends at the two extremes of the scores. The round that decides the sign is the last.
The steps update g = Kβ − y, and every step rounds: before anything is concluded g is summed anew, with a bound of its error.
Row j of the matrix stands in K[slot[j]]; samples without one (−1) stay where they are, and count in the gap.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.leave_one_out.fields import FLOOR, MAX_ROUNDS, N_BOUNDS, ROUND_STEPS, ROUNDS
from maxmargin._loops.leave_one_out.look import UNIT, is_enough, look
from maxmargin._loops.smo.pair_steps import N_FIELDS, STEPS, USED, pair_steps, single_steps


@loop
def shift(K, slot, g, beta, j, value):
    """Set β_j, and update g."""
    move = value - beta[j]
    if move != 0.0:
        row = K[slot[j]]
        for k in range(g.shape[0]):
            g[k] += move * row[k]
        beta[j] = value


@loop
def highest_of(g):
    """max |g_k|."""
    highest = 0.0
    for k in range(g.shape[0]):
        highest = max(highest, abs(g[k]))
    return highest


@loop
def rebalance(K, slot, eta, largest, diagonal, g, beta, lo, hi):
    """Move single β_j, always the cheapest, until Σβ = 0; updates g, and returns a bound of the error that this adds to it.

    Each move rounds g at its present size, which is that at the end, less what was added since.
    """
    excess, moves, errors, sizes = 0.0, 0, 0.0, 0.0
    for j in range(g.shape[0]):
        excess += beta[j]
    while excess != 0.0:
        best, at, most = np.inf, -1, 0.0
        for j in range(g.shape[0]):
            room = beta[j] - lo[j] if excess > 0.0 else hi[j] - beta[j]
            if room <= 0.0 or slot[j] < 0:
                continue
            move = min(abs(excess), room)
            signed = -move if excess > 0.0 else move
            price = signed * g[j] / move + 0.5 * move * diagonal[j]
            if price < best:
                best, at, most = price, j, signed
        if at < 0:
            break
        is_last = abs(most) == abs(excess)
        bound = lo[at] if excess > 0.0 else hi[at]
        shift(K, slot, g, beta, at, min(max(beta[at] + most, lo[at]), hi[at]) if is_last else bound)
        excess = 0.0 if is_last else excess + most
        moves += 1
        errors += abs(most) * eta[slot[at]]
        sizes += abs(most) * largest[slot[at]]
    return (errors + 4.0 * moves * UNIT * (sizes + errors + highest_of(g))) * 1.01


@loop
def refresh(K, slot, eta, largest, g0, beta0, lo, hi, beta, g):
    """Put β into its box, g = Kβ − y anew; returns a bound of its error beside that of g₀.

    eta, largest : of each row of K, bounds of its entries' errors and of their sizes.
    """
    g[:] = g0
    count, errors, sizes = 0, 0.0, 0.0
    for j in range(beta.shape[0]):
        beta[j] = min(max(beta[j], lo[j]), hi[j])
        move = beta[j] - beta0[j]
        if move != 0.0:
            row = K[slot[j]]
            for k in range(g.shape[0]):
                g[k] += move * row[k]
            count += 1
            errors += abs(move) * eta[slot[j]]
            sizes += abs(move) * largest[slot[j]]
    return (errors + 2.0 * (count + 8) * UNIT * (sizes + errors + highest_of(g0))) * 1.01


@loop
def retrain_gram(
    K,
    slot,
    eta,
    largest,
    diagonal,
    lengths,
    y,
    cost,
    weights,
    g0,
    error,
    beta0,
    is_free,
    jobs,
    face,
    values_on_face,
    starts,
    floors,
    brackets,
    rules,
    bounds,
):
    """Leave out the samples `jobs`, one after the other, each from near the full solution β₀; fills their `bounds`.

    K : (rows, m), m a multiple of the chunk of `smo`; entries beyond the samples have cost 0.
    eta, largest : of each row of K, bounds of its entries' errors and of their sizes.
    g0, error : Kβ₀ − y, and bounds of its errors.
    face, values_on_face : the samples inside their box, and their β where each job starts; β_i is 0 there, the others are β₀.
    starts, floors : g = Kβ − y at that start, (jobs, m), and how much it may err beside `error`.
    """
    m = starts.shape[1]
    beta, g, scratch = np.empty(m), np.empty(m), np.empty((4, m))
    lo, hi, rise, fall = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    none, nothing = np.empty((0, 0)), np.empty(0)  # no row is made here
    trial, guess = np.empty(N_BOUNDS), np.empty(2)
    report = np.zeros(N_FIELDS)
    report[USED] = K.shape[0]
    for at in range(jobs.shape[0]):
        i = jobs[at]
        beta[:] = beta0
        for k in range(face.shape[0]):
            beta[face[k]] = values_on_face[at, k]
        beta[i] = 0.0
        g[:] = starts[at]
        floor = floors[at]
        for j in range(m):
            lo[j] = 0.0 if y[j] > 0.0 else -cost[j]
            hi[j] = cost[j] if y[j] > 0.0 else 0.0
        lo[i], hi[i] = 0.0, 0.0
        is_fresh = True
        if is_free:
            floor += rebalance(K, slot, eta, largest, diagonal, g, beta, lo, hi)
        for j in range(m):
            rise[j] = 0.0 if beta[j] < hi[j] and slot[j] >= 0 else -1e30
            fall[j] = 0.0 if beta[j] > lo[j] and slot[j] >= 0 else -1e30
        rounds, steps, is_last = 0, rules[ROUND_STEPS], False
        while True:
            # What the steps have done to g is no part of its bound: such a look only tells whether a fresh g is worth it.
            trial[:], guess[:] = bounds[at], brackets[at]
            look(g, error, lengths, 0.0, floor, y, cost, weights, beta, is_free, i, guess, rules, trial, scratch)
            is_last = is_last or rounds >= rules[MAX_ROUNDS]
            if is_fresh:
                bounds[at], brackets[at] = trial, guess
            elif is_enough(trial, rules) or is_last:
                floor = refresh(K, slot, eta, largest, g0, beta0, lo, hi, beta, g)
                look(
                    g, error, lengths, 0.0, floor, y, cost, weights, beta, is_free, i, brackets[at], rules, bounds[at], scratch
                )  # fmt: skip
            if is_enough(bounds[at], rules) or is_last:
                break
            if is_free:
                pair_steps(
                    K, slot, none, nothing, nothing, 0.0, diagonal, g, beta, lo, hi, rise, fall, rules[FLOOR], 0.0, 1e-13,
                    int(steps), report,
                )  # fmt: skip
            else:
                single_steps(
                    K, slot, none, nothing, nothing, 0.0, diagonal, g, beta, lo, hi, rise, fall, rules[FLOOR], 0.0, 1e-13,
                    int(steps), report,
                )  # fmt: skip
            rounds += 1
            steps *= 1.5
            is_fresh = False
            is_last = report[STEPS] == 0  # nothing that can move violates any more
        bounds[at, ROUNDS] = rounds
