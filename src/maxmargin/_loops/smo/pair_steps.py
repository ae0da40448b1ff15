"""Sequential minimal optimisation inside a working set, compiled.

    min_β  ½ βᵀKβ + hᵀβ    s.t.  lo ≤ β ≤ hi   and the sum over each group of β stays what it is

K is the small block of the working set; g = Kβ + h is kept up to date in the precision of K, β in float64. The pair comes from
the second-order rule (WSS 2 of Fan, Chen & Lin, JMLR 2005): i with the largest −g_i among those that may rise, then j with the
largest gain among those that may fall. Two vectorised passes over the working set for each step: a mask is added (0, or −LARGE
where a bound forbids the move), and the best chunk is found without a branch that depends on the data; then its entries are
compared one by one. Arrays are padded to whole chunks with entries that may move nowhere. With several groups the steps take
turns among them. Where no sum is fixed, an extra entry without bounds, whose K is 0, balances each move: a pair with it is a step
of one sample alone.

Rows of K are there from the start (slot[i] says where), or are filled when they are first needed: `fill_row`.
"""

from maxmargin._loops.jit import larger, loop, loop_without_nan
from maxmargin._loops.rbf.exponential import exponentiate
from maxmargin._loops.rbf.packed import WIDE

CHUNK = WIDE
"""Entries whose largest is found without looking at the others; K's size is a multiple of it."""

LARGE = 1e30
"""What is added to forbid a move: more than any violation, and a number of float32."""

USED, IS_FULL = 0, 1
"""Positions in `rows`: how many rows of K are in use, and 1 where a run ended for want of room for another row."""


@loop
def fill_row(T, squares, i, constant, delta, out):
    """The i-th row of an RBF kernel: out_k = exp(⟨u_i, u_k⟩ − s_i − s_k) + constant for each sample, and delta_i more for k = i.

    T : the u as columns; four features at a time: their number is padded to a multiple of 4. s = ½‖u‖². O(d) a value.
    """
    size = out.shape[0]
    for k in range(size):
        out[k] = -squares[i] - squares[k]
    for f in range(0, T.shape[0], 4):
        row0, row1, row2, row3 = T[f], T[f + 1], T[f + 2], T[f + 3]
        u0, u1, u2, u3 = row0[i], row1[i], row2[i], row3[i]
        for k in range(size):
            out[k] += u0 * row0[k] + u1 * row1[k] + u2 * row2[k] + u3 * row3[k]
    exponentiate(out)
    for k in range(delta.shape[0]):
        out[k] += constant
    out[i] += delta[i]


@loop
def has_row(i, K, slot, T, squares, delta, constant, rows, index):
    """Whether row i of K is there, or could be put there now: made, or gathered where T is the kernel matrix of all rows."""
    if slot[i] < 0:
        used = rows[USED]
        if used == K.shape[0]:
            rows[IS_FULL] = 1
            return False
        if index.shape[0] == 0:
            fill_row(T, squares, i, constant, delta, K[used])
        else:
            row, source = K[used], T[index[i]]
            for k in range(index.shape[0]):
                row[k] = source[index[k]]
            row[index.shape[0] :] = 0.0
        slot[i] = used
        rows[USED] = used + 1
    return True


@loop_without_nan
def advance(g, step, Ki, Kj, rise):
    """g += step (Ki − Kj); the largest rise − g, and where it stands. Arrays as rows of CHUNK entries."""
    lowest = rise.dtype.type(-LARGE)
    highest, at = lowest, 0
    for c in range(g.shape[0]):
        top = lowest
        for k in range(CHUNK):
            new = g[c, k] + step * (Ki[c, k] - Kj[c, k])
            g[c, k] = new
            top = larger(top, rise[c, k] - new)
        if top > highest:
            highest, at = top, c
    place, top = 0, lowest
    for k in range(CHUNK):
        value = rise[at, k] - g[at, k]
        if value > top:
            place, top = k, value
    return highest, CHUNK * at + place


@loop_without_nan
def partner(g, highest, own, Ki, diagonal, fall, least):
    """The largest gain of a pair with the entry that rises, the largest violation, and whose fall gains most."""
    zero, two, tiny = fall.dtype.type(0.0), fall.dtype.type(2.0), fall.dtype.type(1e-30)
    best, widest, at = zero, zero, 0
    for c in range(g.shape[0]):
        top, apart = zero, zero
        for k in range(CHUNK):
            wide = larger(highest + g[c, k] + fall[c, k], zero)
            span = own + diagonal[c, k]
            top = larger(top, wide * wide / larger(span - two * Ki[c, k], least * span + tiny))
            apart = larger(apart, wide)
        widest = larger(widest, apart)
        if top > best:
            best, at = top, c
    place, top = 0, zero
    for k in range(CHUNK):
        wide = larger(highest + g[at, k] + fall[at, k], zero)
        span = own + diagonal[at, k]
        gain = wide * wide / larger(span - two * Ki[at, k], least * span + tiny)
        if gain > top:
            place, top = k, gain
    return best, widest, CHUNK * at + place


@loop
def rising(beta, hi, width, never):
    """What is added to −g for the wish to rise: ∓ the width, or `never` at the upper bound."""
    if not beta < hi:
        return never
    return -width if beta >= 0.0 else width


@loop
def falling(beta, lo, width, never):
    """What is added to g for the wish to fall: ± the width, or `never` at the lower bound."""
    if not beta > lo:
        return never
    return width if beta > 0.0 else -width


@loop_without_nan
def pair_steps(
    K, slot, T, squares, delta, constant, diagonal, g, beta, lo, hi, width, rise, fall, floor, share, goal, max_steps, rows,
    index,
):  # fmt: skip
    """Move pairs until the violation of each group is ≤ max(share · the largest at the start, goal); changes beta and g.

    width : e_k ≥ 0, the objective has e_k|β_k| more; where that is positive β_k does not change its sign in one step.
    rise[q, k], fall[q, k] : `rising` and `falling` where k is in group q, −LARGE where not. Kept up to date here.
    floor : the least curvature of a pair, as a share of its two diagonal entries (what rounding leaves of twins).
    slot, T, squares, delta, constant : where the rows of K are (−1: nowhere yet), and how one is filled.
    index : empty, or the samples' rows in T, which then is the kernel matrix.
    O(size of K) a step, at most max_steps of them; returns how many. Where `max_steps` ends it, the last move is not yet in g.
    """
    never, zero, tiny = rise.dtype.type(-LARGE), rise.dtype.type(0.0), rise.dtype.type(1.0 / LARGE)
    two, least = rise.dtype.type(2.0), rise.dtype.type(floor)
    n_groups, shape = rise.shape[0], (g.shape[0] // CHUNK, CHUNK)
    chunks, rise_, fall_ = K.reshape((-1, *shape)), rise.reshape((-1, *shape)), fall.reshape((-1, *shape))
    g_, diagonal_ = g.reshape(shape), diagonal.reshape(shape)
    step, steps, looks, idle, stop = zero, 0, 0, 0, goal
    at_i = at_j = 0
    while idle < n_groups and steps < max_steps:
        q = looks % n_groups
        highest, i = advance(g_, step, chunks[at_i], chunks[at_j], rise_[q])
        step = zero
        if not has_row(i, K, slot, T, squares, delta, constant, rows, index):
            break
        at_i = slot[i]
        best, widest, j = partner(g_, highest, diagonal[i], chunks[at_i], diagonal_, fall_[q], least)
        if looks < n_groups:
            stop = max(stop, share * widest)
        looks += 1
        if widest <= stop or best <= zero:
            idle += 1
            continue
        if not has_row(j, K, slot, T, squares, delta, constant, rows, index):
            break
        at_j = slot[j]
        span = diagonal[i] + diagonal[j]
        curvature = max(span - two * K[at_i, j], least * span + tiny)
        top, bottom = hi[i], lo[j]
        if beta[i] < 0.0 and width[i] > zero:
            top = 0.0
        if beta[j] > 0.0 and width[j] > zero:
            bottom = 0.0
        move = min(float(highest + (g[j] + fall[q, j])) / float(curvature), top - beta[i], beta[j] - bottom)
        beta[i] = beta[i] + move if move < top - beta[i] else top
        beta[j] = beta[j] - move if move < beta[j] - bottom else bottom
        rise[q, i], fall[q, i] = rising(beta[i], hi[i], width[i], never), falling(beta[i], lo[i], width[i], never)
        rise[q, j], fall[q, j] = rising(beta[j], hi[j], width[j], never), falling(beta[j], lo[j], width[j], never)
        step, steps, idle = rise.dtype.type(move), steps + 1, 0
    return steps


@loop
def add_rows(rows, slots, weights, out, start, stop):
    """out[start:stop] += Σ_r weights[r] · rows[slots[r], start:stop], tile by tile, in float64."""
    for c in range(start, stop, 2048):
        end = min(c + 2048, stop)
        for r in range(slots.shape[0]):
            row, weight = rows[slots[r]], weights[r]
            for k in range(c, end):
                out[k] += weight * row[k]
