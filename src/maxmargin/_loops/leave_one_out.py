"""Leave-one-out, compiled: where the others go if sample i leaves, and what the duality gap then tells of it.

A tableau (`analysis.leave_one_out.tableau`) tells what every split of its samples does, some inside their box and the others at a
bound: of those that have changed sides the left side of its equations is given and the right one sought. All that are on the
wrong side of their condition change sides at once (Júdice & Pires 1994); where that does not lower their number, β_i goes to 0
along a line, bent at each change (Cauwenberghs & Poggio 2001).

The optimum lies within √G of w(β), G the gap, and so

    F*(x_i) ∈ f_i ± √(G k_ii) + [b]

with b between the means of the argmin's ends at the two extremes of the scores. Where the bias is free and Σβ = e does not quite
vanish, G = Σ_j r_j + max_{b' ∈ B} (b' − b) e is the gap of the problem with b ∈ B, a bracket that holds b*: the same optimum.

Each score comes with a bound of its error: r_j is taken at the worst slack within it, and sums are raised by what they may have
lost. So the ends hold for the exact optimum of the stored numbers, whatever rounding did. No sum of `look` is reordered.
"""

import numpy as np

from maxmargin._loops.compensated import sum_twice
from maxmargin._loops.jit import loop, loop_as_written
from maxmargin._loops.quantiles import bias_ends

UNIT = 2.0**-53
"""The unit roundoff of float64."""

TINY = float(np.finfo(np.float64).tiny)
"""More than what thousands of products lose where they underflow, and less than any cost."""


@loop
def outcome(Q, n_inside, beta, g, bounds, is_inside, most):
    """(whether there is one, β, and g of those outside) of a split, from a point at which the equations hold.

    Q : the transpose of the tableau; entry j of all arrays is sample j, the first `n_inside` inside their box when it was made.
    There is none where the equations have no answer, or more than `most` samples have changed sides.
    """
    moves = np.where(is_inside, beta, bounds) - beta
    moved = n_inside + np.flatnonzero(moves[n_inside:])
    changed = np.flatnonzero(is_inside != (np.arange(len(beta)) < n_inside))
    if len(changed) > most:
        return False, beta, g
    rows, response = Q[changed], moves[moved] @ Q[moved]
    wanted = np.where(is_inside, -g, moves) - response
    try:
        found = np.linalg.solve(np.ascontiguousarray(rows[:, changed].T), wanted[changed])
    except Exception:  # singular
        return False, beta, g
    response += found @ rows
    response[changed] = found
    return True, beta + np.where(is_inside, response, moves), g + response


@loop
def beyond(beta, g, towards, lo, hi, sides):
    """How far each is on the wrong side of its condition: by g where it is at a bound, by β where it is inside.

    There the bound is the one that counts for β = `towards`.
    """
    bounds, signs = np.where(towards < lo, lo, hi), np.where(sides == 0.0, 1.0 - 2.0 * (towards < lo), sides)
    return (lo < hi) * signs * np.where(sides == 0.0, beta - bounds, g)


@loop
def change(sides, chosen, beta, lo):
    """Let samples that are on the wrong side change it: a bound is left, or met."""
    sides[chosen] = np.where(sides[chosen] == 0.0, 1.0 - 2.0 * (beta < lo)[chosen], 0.0)


@loop
def pivot_blocks(Q, n_inside, beta, g, lo, hi, sides, nothing, most):
    """(whether it ended, β): all on the wrong side change it at once, until their number does not fall in two rounds."""
    fewest, chances = len(beta) + 1, 2
    while chances > 0:
        is_found, new_beta, new_g = outcome(Q, n_inside, beta, g, np.where(sides < 0.0, lo, hi), sides == 0.0, most)
        wrong = np.flatnonzero(beyond(new_beta, new_g, new_beta, lo, hi, sides) > nothing)
        if not is_found or len(wrong) == 0:
            return is_found, new_beta
        change(sides, wrong, new_beta, lo)
        chances = 2 if len(wrong) < fewest else chances - 1
        fewest = min(fewest, len(wrong))
    return False, beta


@loop
def follow(Q, n_inside, i, beta, g, lo, hi, sides, nothing, most):
    """(whether it got there, β): β_i goes to 0 step by step, each until the next sample changes sides."""
    lo[i] = hi[i] = beta[i]
    is_found, here_beta, here_g = outcome(Q, n_inside, beta, g, np.where(sides < 0.0, lo, hi), sides == 0.0, most)
    lo[i] = hi[i] = 0.0
    for _ in range(most):
        is_found, new_beta, new_g = outcome(Q, n_inside, beta, g, np.where(sides < 0.0, lo, hi), sides == 0.0, most)
        end = beyond(new_beta, new_g, new_beta, lo, hi, sides)
        wrong = np.flatnonzero(end > nothing)
        if not is_found or len(wrong) == 0:
            return is_found, new_beta
        here = np.minimum(beyond(here_beta, here_g, new_beta, lo, hi, sides)[wrong], 0.0)
        shares = here / (here - end[wrong])
        first = np.argmin(shares)
        here_beta = here_beta + shares[first] * (new_beta - here_beta)
        here_g = here_g + shares[first] * (new_g - here_g)
        change(sides, wrong[first : first + 1], new_beta, lo)
    return False, beta


@loop
def pivot(Q, n_inside, i, beta, g, lo, hi, sides, nothing, most):
    """(whether the pivots ended, β without entry i, clipped into its box): from a point at which the equations hold.

    sides : a split to begin with: 0 inside, −1 and 1 at the lower and the upper bound; it is changed, as lo and hi are. An i of
    −1 leaves none of these entries out.
    nothing : what counts as none for β and g; most : so many samples may change sides at once, or one after the other.
    """
    if i >= 0:
        lo[i], hi[i], sides[i] = 0.0, 0.0, -1.0
    is_found, found = pivot_blocks(Q, n_inside, beta, g, lo, hi, sides.copy(), nothing, most)
    if i >= 0 and not is_found:
        is_found, found = follow(Q, n_inside, i, beta, g, lo, hi, sides, nothing, most)
    return is_found, np.minimum(np.maximum(found, lo), hi)


@loop_as_written
def look(i, g, error, beta, bracket, y, cost, lengths, weights, least, most, is_free):
    """(lower, upper, gap, b, parts, is_exhausted) of sample i, left out at β; the bracket of b is tightened.

    These are the ends of F(x_i), the gap, the bias at which it was summed, what each sample adds to it but for rounding, and
    whether at least half of it is rounding, so that a better β would tell no more.
    g : f − y, which errs by `error`.
    weights : the costs as the slope in b is summed (`core.certificate.optimum_ball`), where a slope up to `least` is surely
    zero, and one up to `most` may be.
    """
    n, kinks, reaches = len(y), -g, error * (1.0 + 8.0 * UNIT) + 4.0 * UNIT * np.abs(g)
    values, masses, parts = np.empty(n), np.empty(n), np.zeros(n)
    b, gap, low, high, total, everything = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if is_free:
        for j in range(n):
            if j != i:
                total += weights[j] if y[j] > 0.0 else 0.0
                everything += weights[j]
        ends = bias_ends(kinks, reaches, 0.0, weights, i, total - most, total + most, bracket[0], bracket[1], values, masses)
        b = min(max(ends[0] + 0.5 * (ends[1] - ends[0]), bracket[0]), bracket[1])
        excess, rest = sum_twice(beta)
        excess += rest
        slip = 2.0 * UNIT * abs(excess) + (n * UNIT) * (n * UNIT) * 2.0 * np.abs(beta).sum()
        gap = max((bracket[0] - b) * excess, (bracket[1] - b) * excess) + slip * (bracket[1] - bracket[0])
    plain = gap
    for j in range(n):
        if j != i and cost[j] > 0.0:
            m, a = y[j] * (kinks[j] - b), beta[j] * y[j]
            e = reaches[j] + 2.0 * UNIT * abs(m)
            gap += (cost[j] - a) * max(m + e, 0.0) + a * max(e - m, 0.0)
            parts[j] = (cost[j] - a) * max(m, 0.0) + a * max(-m, 0.0)
            plain += parts[j]
    gap = gap * (1.0 + 2.0 * (n + 16) * UNIT) + TINY
    radius = np.sqrt(gap) * (1.0 + 4.0 * UNIT)
    reaches = (radius * lengths + reaches) * (1.0 + 8.0 * UNIT) + 4.0 * UNIT * np.abs(g)
    if is_free:
        # the last kink, where all weigh too little; the first one, where one is flat
        after, before = min(total + least, everything * (1.0 - 4.0 * (n + 4) * UNIT)), max(total - least, TINY)
        first = bias_ends(kinks, reaches, -1.0, weights, i, total - most, after, bracket[0], bracket[1], values, masses)
        last = bias_ends(kinks, reaches, 1.0, weights, i, before, total + most, bracket[0], bracket[1], values, masses)
        low, high = 0.5 * (first[0] + first[1]), 0.5 * (last[0] + last[1])
        bracket[0], bracket[1] = max(bracket[0], first[0]), min(bracket[1], last[1])
    f, reach = y[i] + g[i], reaches[i]
    reach += 8.0 * UNIT * (1.0 + abs(f) + reach + abs(low) + abs(high))
    return f - reach + low, f + reach + high, gap, b, parts, gap >= 2.0 * plain
