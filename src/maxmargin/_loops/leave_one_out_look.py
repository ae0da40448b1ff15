"""What the duality gap tells of a left-out sample, compiled: the optimum lies within √G of w(β), and so

    F*(x_i) ∈ f_i ± √(G k_ii) + [b]

with b between the means of the argmin's ends at the two extremes of the scores. Where the bias is free and Σβ = e does not quite
vanish, G = Σ_j r_j + max_{b' ∈ B} (b' − b) e is the gap of the problem with b ∈ B, a bracket that holds b*: the same optimum.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.leave_one_out_fields import AT_SIGN, GAP, LEAST_GAP, LOWER, ROUNDING, UPPER, WIDTH
from maxmargin._loops.quantiles import bias_ends, hinge_residual


@loop
def is_enough(bounds, rules):
    """Whether the interval tells what was asked."""
    is_signed = rules[AT_SIGN] > 0.0 and (bounds[LOWER] > 0.0 or bounds[UPPER] < 0.0)
    return is_signed or bounds[UPPER] - bounds[LOWER] <= rules[WIDTH] or bounds[GAP] <= rules[LEAST_GAP]


TOUCH = 1e-9
"""A slack of so little counts as none."""


@loop
def look(g, y, cost, beta, lengths, is_free, i, bracket, rules, bounds, values, masses):
    """Sum the gap at the present β and tighten `bounds` and the bias's `bracket` with it; returns the bias."""
    n = g.shape[0]
    b, total, weight, excess = 0.0, 0.0, 0.0, 0.0
    if is_free:
        for j in range(n):
            values[j] = -g[j]  # the kinks y − f
            excess += beta[j]
            if j != i:
                weight += cost[j]
                total += cost[j] if y[j] > 0.0 else 0.0
        kinks = values.copy()
        flat = 1e-12 * weight
        lower, upper = bias_ends(kinks, lengths, 0.0, cost, i, total, flat, bracket[0], bracket[1], values, masses)
        b = lower + 0.5 * (upper - lower)
    gap = max((bracket[0] - b) * excess, (bracket[1] - b) * excess)
    for j in range(n):
        if j != i and cost[j] > 0.0:
            gap += hinge_residual(y[j] * (-g[j] - b), beta[j] * y[j], cost[j])
    radius = np.sqrt(gap)
    reach = radius * lengths[i] + rules[ROUNDING]
    f = g[i] + y[i]
    low, high = 0.0, 0.0
    if is_free:
        first = bias_ends(kinks, lengths, -radius, cost, i, total, flat, bracket[0], bracket[1], values, masses)
        last = bias_ends(kinks, lengths, radius, cost, i, total, flat, bracket[0], bracket[1], values, masses)
        low, high = 0.5 * (first[0] + first[1]), 0.5 * (last[0] + last[1])
        bracket[0], bracket[1] = max(bracket[0], first[0]), min(bracket[1], last[1])
    bounds[LOWER] = max(bounds[LOWER], f - reach + low)
    bounds[UPPER] = min(bounds[UPPER], f + reach + high)
    bounds[GAP] = gap
    return b


@loop
def mark_violations(g, b, y, cost, beta, i, out):
    """Mark the samples that the margin says should leave their bound."""
    for j in range(y.shape[0]):
        m = -y[j] * (g[j] + b)
        alpha = beta[j] * y[j]
        if j != i and ((alpha <= 0.0 and m > TOUCH and cost[j] > 0.0) or (alpha >= cost[j] and m < -TOUCH)):
            out[j] = True


@loop
def look_each(g, y, cost, beta0, movers, values_of_movers, lengths, is_free, jobs, brackets, rules, is_beyond, bounds):
    """Look at each job once: g[at] = f − y where `movers` have their values and the others β₀; fills `bounds`.

    is_beyond : marks whoever should have moved in a job that remains open.
    """
    n = y.shape[0]
    beta, values, masses = np.empty(n), np.empty(n), np.empty(n)
    for at in range(jobs.shape[0]):
        beta[:] = beta0
        for k in range(movers.shape[0]):
            beta[movers[k]] = values_of_movers[at, k]
        beta[jobs[at]] = 0.0
        b = look(g[at], y, cost, beta, lengths, is_free, jobs[at], brackets[at], rules, bounds[at], values, masses)
        if not is_enough(bounds[at], rules):
            mark_violations(g[at], b, y, cost, beta, jobs[at], is_beyond)
