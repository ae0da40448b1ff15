"""Sequential minimal optimisation inside a working set, compiled.

    min_β  ½ βᵀKβ + hᵀβ    s.t.  lo ≤ β ≤ hi   and, in `pair_steps`, Σβ stays what it is

K is the small block of the working set; g = Kβ + h is kept up to date in the precision of K, β in float64. The pair comes
from the second-order rule (WSS 2 of Fan, Chen & Lin, JMLR 2005): i with the largest −g_i among those that may rise, then j
with the largest gain among those that may fall. Two vectorised passes over the working set for each step: masks are
numbers that are added (0, or −BIG where a bound forbids the move), and the best entry is looked for chunk by chunk, so that no
branch depends on the data. Arrays are padded to whole chunks with entries that may move nowhere.
"""

from maxmargin._loops.jit import loop, loop_without_nan

CHUNK = 64
"""Entries whose largest is found without looking at the others; K's size is a multiple of it."""

# What a run reports, by position in `report`: the first and the last violation, and the steps made.
FIRST, LAST, STEPS, N_FIELDS = 0, 1, 2, 3


@loop_without_nan
def pair_steps(K, diagonal, g, beta, lo, hi, rise, fall, score, floor, share, goal, max_steps, report):
    """Move pairs until the violation is ≤ max(share · the first one, goal); changes g and beta in place.

    rise[k], fall[k] : 0 where β_k may still grow, or shrink; −BIG where not. Kept up to date here.
    floor : the least curvature of a pair, as a share of its two diagonal entries (what rounding leaves of twins).
    O(size of K) a step, at most max_steps of them.
    """
    size = g.shape[0]
    big = rise.dtype.type(1e30)
    zero = rise.dtype.type(0.0)
    tiny = rise.dtype.type(1e-30)
    two = rise.dtype.type(2.0)
    least = rise.dtype.type(floor)
    step = zero
    i, j, steps = 0, 0, 0
    stop = -1.0
    while True:
        # the gradient after the last step, and the entry that most wants to rise
        Ki, Kj = K[i], K[j]
        highest, at = -big, 0
        for c in range(0, size, CHUNK):
            top = -big
            for k in range(c, c + CHUNK):
                new = g[k] + step * (Ki[k] - Kj[k])
                g[k] = new
                value = rise[k] - new
                score[k] = value
                top = max(top, value)
            if top > highest:
                highest, at = top, c
        i = at
        while i < at + CHUNK - 1 and score[i] != highest:
            i += 1
        # the entry whose fall gains most with it
        Ki = K[i]
        own = diagonal[i]
        best, widest, at = zero, zero, 0
        for c in range(0, size, CHUNK):
            top, apart = zero, zero
            for k in range(c, c + CHUNK):
                wide = max(highest + g[k] + fall[k], zero)
                span = own + diagonal[k]
                gain = wide * wide / max(span - two * Ki[k], least * span + tiny)
                score[k] = gain
                top = max(top, gain)
                apart = max(apart, wide)
            widest = max(widest, apart)
            if top > best:
                best, at = top, c
        if stop < 0.0:
            report[FIRST] = widest
            stop = max(share * widest, goal)
        report[LAST] = widest
        if widest <= stop or best <= zero or steps >= max_steps:
            break
        j = at
        while j < at + CHUNK - 1 and score[j] != best:
            j += 1
        span = own + diagonal[j]
        curvature = max(span - two * Ki[j], least * span + tiny)
        move = min(float(highest + g[j]) / float(curvature), hi[i] - beta[i], beta[j] - lo[j])
        beta[i] = beta[i] + move if move < hi[i] - beta[i] else hi[i]
        beta[j] = beta[j] - move if move < beta[j] - lo[j] else lo[j]
        rise[i], fall[i] = zero if beta[i] < hi[i] else -big, zero if beta[i] > lo[i] else -big
        rise[j], fall[j] = zero if beta[j] < hi[j] else -big, zero if beta[j] > lo[j] else -big
        step = rise.dtype.type(move)
        steps += 1
    report[STEPS] = steps


@loop_without_nan
def single_steps(K, diagonal, g, beta, lo, hi, rise, fall, score, floor, share, goal, max_steps, report):
    """The same without the condition on Σβ: one β at a time, the one whose move gains most."""
    size = g.shape[0]
    big = rise.dtype.type(1e30)
    zero = rise.dtype.type(0.0)
    tiny = rise.dtype.type(1e-30)
    least = rise.dtype.type(floor)
    largest = zero
    for k in range(size):
        largest = max(largest, diagonal[k])
    least = least * largest + tiny
    step = zero
    i, steps = 0, 0
    stop = -1.0
    while True:
        Ki = K[i]
        best, widest, at = zero, zero, 0
        for c in range(0, size, CHUNK):
            top, apart = zero, zero
            for k in range(c, c + CHUNK):
                new = g[k] + step * Ki[k]
                g[k] = new
                wide = max(max(rise[k] - new, fall[k] + new), zero)
                gain = wide * wide / max(diagonal[k], least)
                score[k] = gain
                top = max(top, gain)
                apart = max(apart, wide)
            widest = max(widest, apart)
            if top > best:
                best, at = top, c
        if stop < 0.0:
            report[FIRST] = widest
            stop = max(share * widest, goal)
        report[LAST] = widest
        if widest <= stop or best <= zero or steps >= max_steps:
            break
        i = at
        while i < at + CHUNK - 1 and score[i] != best:
            i += 1
        old = beta[i]
        beta[i] = min(max(old - float(g[i]) / float(max(diagonal[i], least)), lo[i]), hi[i])
        rise[i], fall[i] = zero if beta[i] < hi[i] else -big, zero if beta[i] > lo[i] else -big
        step = rise.dtype.type(beta[i] - old)
        steps += 1
    report[STEPS] = steps


@loop
def add_rows(rows, slots, weights, out, start, stop):
    """out[start:stop] += Σ_r weights[r] · rows[slots[r], start:stop], tile by tile, in float64."""
    for c in range(start, stop, 2048):
        end = min(c + 2048, stop)
        for r in range(slots.shape[0]):
            row, weight = rows[slots[r]], weights[r]
            for k in range(c, end):
                out[k] += weight * row[k]
