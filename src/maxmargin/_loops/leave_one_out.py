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
def outcome(Q, n_inside, beta, g, lo, hi, sides, most, new_beta, new_g):
    """Fill β, and g of those outside, of a split, from a point at which the equations hold; False: no answer.

    Q : the transpose of the tableau; entry j of all arrays is sample j, the first `n_inside` inside their box when it was made.
    There is no answer where the equations have none, or more than `most` samples have changed sides.
    """
    m, k, changed, response = len(beta), 0, np.empty(most, np.int64), np.zeros(len(beta))
    for j in range(m):
        new_beta[j] = beta[j] if sides[j] == 0.0 else lo[j] if sides[j] < 0.0 else hi[j]
        if (sides[j] == 0.0) != (j < n_inside):
            if k == most:
                return False
            changed[k] = j
            k += 1
        elif new_beta[j] != beta[j]:
            add_row(response, new_beta[j] - beta[j], Q[j])
    A, wanted = np.empty((k, k)), np.empty(k)
    for r in range(k):
        j = changed[r]
        wanted[r] = (-g[j] if sides[j] == 0.0 else new_beta[j] - beta[j]) - response[j]
        for c in range(k):
            A[r, c] = Q[changed[c], j]
    try:
        found = np.linalg.solve(A, wanted) if k else wanted
    except Exception:  # singular
        return False
    for c in range(k):
        add_row(response, found[c], Q[changed[c]])
    for c in range(k):
        response[changed[c]] = found[c]
    for j in range(m):
        new_beta[j] += response[j] if sides[j] == 0.0 else 0.0
        new_g[j] = g[j] + response[j]
    return True


@loop
def add_row(out, factor, row):
    """out += factor · row."""
    for j in range(len(out)):
        out[j] += factor * row[j]


@loop
def beyond(beta, g, towards, lo, hi, side):
    """How far a sample is on the wrong side of its condition: by g where it is at a bound, by β where it is inside.

    There the bound is the one that counts for β = `towards`.
    """
    if lo >= hi:
        return 0.0
    if side != 0.0:
        return side * g
    return lo - beta if towards < lo else beta - hi


@loop
def across(side, beta, lo):
    """Where a sample on the wrong side goes: it leaves its bound, or meets one."""
    return 0.0 if side != 0.0 else -1.0 if beta < lo else 1.0


@loop
def pivot_blocks(Q, n_inside, beta, g, lo, hi, sides, nothing, most, new_beta, new_g):
    """All on the wrong side change it at once, until their number does not fall in two rounds; False: it did not end."""
    fewest, chances = len(beta) + 1, 2
    while chances > 0:
        if not outcome(Q, n_inside, beta, g, lo, hi, sides, most, new_beta, new_g):
            return False
        count = 0
        for j in range(len(beta)):
            if beyond(new_beta[j], new_g[j], new_beta[j], lo[j], hi[j], sides[j]) > nothing:
                sides[j] = across(sides[j], new_beta[j], lo[j])
                count += 1
        if count == 0:
            return True
        chances = 2 if count < fewest else chances - 1
        fewest = min(fewest, count)
    return False


@loop
def follow(Q, n_inside, i, beta, g, lo, hi, sides, nothing, most, new_beta, new_g):
    """β_i goes to 0 step by step, each until the next sample changes sides; False: it did not get there."""
    here_beta, here_g = np.empty(len(beta)), np.empty(len(beta))
    lo[i] = hi[i] = beta[i]
    outcome(Q, n_inside, beta, g, lo, hi, sides, most, here_beta, here_g)
    lo[i] = hi[i] = 0.0
    for _ in range(most):
        if not outcome(Q, n_inside, beta, g, lo, hi, sides, most, new_beta, new_g):
            return False
        first, share = -1, np.inf
        for j in range(len(beta)):
            end = beyond(new_beta[j], new_g[j], new_beta[j], lo[j], hi[j], sides[j])
            if end > nothing:
                here = min(beyond(here_beta[j], here_g[j], new_beta[j], lo[j], hi[j], sides[j]), 0.0)
                if here / (here - end) < share:
                    first, share = j, here / (here - end)
        if first < 0:
            return True
        for j in range(len(beta)):
            here_beta[j] += share * (new_beta[j] - here_beta[j])
            here_g[j] += share * (new_g[j] - here_g[j])
        sides[first] = across(sides[first], new_beta[first], lo[first])
    return False


@loop
def pivot(Q, n_inside, i, beta, g, lo, hi, sides, nothing, most, found):
    """Fill β without entry i, clipped into its box, from a point at which the equations hold; True: the pivots ended.

    sides : a split to begin with: 0 inside, −1 and 1 at the lower and the upper bound; it is changed, as lo and hi are. An i of
    −1 leaves none of these entries out.
    nothing : what counts as none for β and g; most : so many samples may change sides at once, or one after the other.
    """
    if i >= 0:
        lo[i], hi[i], sides[i] = 0.0, 0.0, -1.0
    new_g = np.empty(len(beta))
    is_found = pivot_blocks(Q, n_inside, beta, g, lo, hi, sides.copy(), nothing, most, found, new_g)
    if i >= 0 and not is_found:
        is_found = follow(Q, n_inside, i, beta, g, lo, hi, sides, nothing, most, found, new_g)
    for j in range(len(beta)):
        found[j] = min(max(found[j], lo[j]), hi[j])
    return is_found


@loop
def pivot_each(Q, n_inside, jobs, beta, g, sides, lo, hi, nothing, most, found, is_settled):
    """`pivot` for each entry i of `jobs`: from a row of β, g and sides of its own, or from the only one."""
    for job in range(len(jobs)):
        start = min(job, len(beta) - 1)
        is_settled[job] = pivot(
            Q, n_inside, jobs[job], beta[start], g[start], lo.copy(), hi.copy(), sides[start].copy(), nothing, most, found[job]
        )


@loop_as_written
def look(i, g, error, beta, bracket, y, cost, lengths, weights, least, most, is_free, parts):
    """(lower, upper, gap, b, plain) of sample i, left out at β; the bracket of b is tightened, and `parts` filled.

    These are the ends of F(x_i), the gap, the bias at which it was summed, and the gap but for rounding: `parts` says what
    each sample adds.
    g : f − y, which errs by `error`.
    weights : the costs as the slope in b is summed (`core.certificate.optimum_ball`), where a slope up to `least` is surely
    zero, and one up to `most` may be.
    """
    n, kinks, reaches = len(y), -g, error * (1.0 + 8.0 * UNIT) + 4.0 * UNIT * np.abs(g)
    values, masses, parts[:] = np.empty(n), np.empty(n), 0.0
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
    return f - reach + low, f + reach + high, gap, b, plain


@loop_as_written
def look_each(
    jobs, samples, g, error, drifts, floors, beta, brackets, y, cost, lengths, weights, least, most, is_free, seen, parts
):  # fmt: skip
    """`look` for each of some jobs: job k leaves sample k out, at row k of g, β and brackets; fills rows of `seen` and `parts`.

    error, drifts, floors : row k of g errs by error + drift · length + floor.
    """
    for k in jobs:
        errors = error + drifts[k] * lengths + floors[k]
        seen[k, 0], seen[k, 1], seen[k, 2], seen[k, 3], seen[k, 4] = look(
            samples[k], g[k], errors, beta[k], brackets[k], y, cost, lengths, weights, least, most, is_free, parts[k]
        )
