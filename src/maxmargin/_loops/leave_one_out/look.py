"""What the duality gap tells of a left-out sample, compiled: the optimum lies within √G of w(β), and so

    F*(x_i) ∈ f_i ± √(G k_ii) + [b]

with b between the means of the argmin's ends at the two extremes of the scores. Where the bias is free and Σβ = e does not quite
vanish, G = Σ_j r_j + max_{b' ∈ B} (b' − b) e is the gap of the problem with b ∈ B, a bracket that holds b*: the same optimum.

Each score comes with a bound of its error: r_j is taken at the worst slack within it, and sums are raised by what they may have
lost. So the ends hold for the exact optimum of the stored numbers, whatever rounding did. No sum here is reordered.
"""

import numpy as np

from maxmargin._loops.compensated import two_sum
from maxmargin._loops.jit import loop_as_written
from maxmargin._loops.leave_one_out.fields import BIAS, EXHAUSTED, GAP, LOWER, UPPER
from maxmargin._loops.quantiles import bias_ends

UNIT = 2.0**-53
"""The unit roundoff of float64."""

TINY = float(np.finfo(np.float64).tiny)
"""More than what thousands of products lose where they underflow, and less than any cost."""


@loop_as_written
def sum_of(beta):
    """(Σβ, a bound of its error), in twice the working precision."""
    high, low, size, count = 0.0, 0.0, 0.0, 0
    for j in range(beta.shape[0]):
        if beta[j] != 0.0:
            high, e = two_sum(high, beta[j])
            low += e
            size += abs(beta[j])
            count += 1
    return high + low, 2.0 * UNIT * abs(high + low) + (count * UNIT) * (count * UNIT) * 2.0 * size


@loop_as_written
def look_each(
    g, error, drifts, floors, lengths, y, cost, weights, betas, is_free, samples, jobs, brackets, least, most, all_bounds
):  # fmt: skip
    """Sum the gap of some jobs, sample i = samples[job] left out, and tighten their `all_bounds` and `brackets` of the bias.

    g : (all jobs, n), f − y at the job's β, which errs by error + drifts[job] · length + floors[job].
    weights : the costs as the slope in b is summed (`core.certificate.optimum_ball`), where a slope up to `least` is surely
    zero, and one up to `most` may be.
    """
    n = y.shape[0]
    kinks, reaches, values, masses = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for job in jobs:
        i, beta, bracket, bounds = samples[job], betas[job], brackets[job], all_bounds[job]
        for j in range(n):
            kinks[j] = -g[job, j]
            reach = error[j] + drifts[job] * lengths[j] + floors[job]
            reaches[j] = reach * (1.0 + 8.0 * UNIT) + 4.0 * UNIT * abs(kinks[j])
        b, total, everything, gap = 0.0, 0.0, 0.0, 0.0
        if is_free:
            for j in range(n):
                if j != i:
                    total += weights[j] if y[j] > 0.0 else 0.0
                    everything += weights[j]
            lower, upper = bias_ends(
                kinks, reaches, 0.0, weights, i, total - most, total + most, bracket[0], bracket[1], values, masses
            )
            b = min(max(lower + 0.5 * (upper - lower), bracket[0]), bracket[1])
            excess, slip = sum_of(beta)
            gap = max((bracket[0] - b) * excess, (bracket[1] - b) * excess) + slip * (bracket[1] - bracket[0])
        plain = gap
        for j in range(n):
            if j != i and cost[j] > 0.0:
                m, a = y[j] * (kinks[j] - b), beta[j] * y[j]
                e = reaches[j] + 2.0 * UNIT * abs(m)
                gap += (cost[j] - a) * max(m + e, 0.0) + a * max(e - m, 0.0)
                plain += (cost[j] - a) * max(m, 0.0) + a * max(-m, 0.0)
        gap = gap * (1.0 + 2.0 * (n + 16) * UNIT) + TINY
        radius = np.sqrt(gap) * (1.0 + 4.0 * UNIT)
        for j in range(n):
            reaches[j] = (radius * lengths[j] + reaches[j]) * (1.0 + 8.0 * UNIT) + 4.0 * UNIT * abs(kinks[j])
        low, high = 0.0, 0.0
        if is_free:
            # the last kink, where all weigh too little
            after = min(total + least, everything * (1.0 - 4.0 * (n + 4) * UNIT))
            first = bias_ends(kinks, reaches, -1.0, weights, i, total - most, after, bracket[0], bracket[1], values, masses)
            before = max(total - least, TINY)  # the first kink, where one is flat
            last = bias_ends(kinks, reaches, 1.0, weights, i, before, total + most, bracket[0], bracket[1], values, masses)
            low, high = 0.5 * (first[0] + first[1]), 0.5 * (last[0] + last[1])
            bracket[0], bracket[1] = max(bracket[0], first[0]), min(bracket[1], last[1])
        f, reach = y[i] - kinks[i], reaches[i]
        slip = 8.0 * UNIT * (1.0 + abs(f) + reach + abs(low) + abs(high))
        bounds[LOWER] = max(bounds[LOWER], f - reach + low - slip)
        bounds[UPPER] = min(bounds[UPPER], f + reach + high + slip)
        bounds[GAP], bounds[BIAS] = gap, b
        bounds[EXHAUSTED] = 1.0 if gap >= 2.0 * plain else 0.0
