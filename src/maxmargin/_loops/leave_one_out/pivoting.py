"""Which samples meet or leave a bound when one of them is left out: block pivoting on a shared tableau, compiled.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  lo ≤ β ≤ hi,   g = Kβ − y  (and + b, with Σβ = 0, where the bias is free)

Split the samples into those inside their box, F, and the others, N. Solving for β_F and g_N,

    [Δβ_F]   [ P   −V ] [Δg_F]
    [Δg_N] = [ Vᵀ   S ] [Δβ_N],     P = K_FF⁻¹,  V = P K_FN,  S = K_NN − K_NF V,

so that the tableau, made once, tells what every other split does: of the samples Z that have changed sides the left side is given
and the right one sought, |Z| equations. All that are on the wrong side of their condition change sides at once (Júdice & Pires
1994); where that does not lower their number, β_i goes to 0 along a line, bent at each change (Cauwenberghs & Poggio 2001).
The bias is an entry of F that has no box.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.leave_one_out.fields import HIGH, INSIDE, LOW


@loop
def add_column(Q, n_inside, j, value, out):
    """out += value × column j of the tableau, of which Q has the entries without their signs."""
    row, m = Q[j], Q.shape[0]
    sign = value if j < n_inside else -value
    for k in range(n_inside):
        out[k] += sign * row[k]
    for k in range(n_inside, m):
        out[k] += value * row[k]


@loop
def move_of(side, beta, lo, hi):
    """How far a sample that is not inside is from where it was."""
    return (lo if side == LOW else hi) - beta


@loop
def outcome(Q, n_inside, beta, g, lo, hi, sides, A, x, Z, new_beta, new_g):
    """β and g of the split `sides`; False where its equations have no answer or are more than A holds."""
    m, k = Q.shape[0], 0
    response = np.zeros(m)
    for j in range(m):
        if (sides[j] == INSIDE) != (j < n_inside):
            if k == Z.shape[0]:
                return False
            Z[k] = j
            k += 1
        elif j >= n_inside:
            moved = move_of(sides[j], beta[j], lo[j], hi[j])
            if moved != 0.0:
                add_column(Q, n_inside, j, moved, response)
    for r in range(k):
        j = Z[r]
        x[r] = -g[j] if sides[j] == INSIDE else move_of(sides[j], beta[j], lo[j], hi[j])
        x[r] -= response[j]
        for c in range(k):
            value = Q[Z[c], j]
            A[r, c] = -value if j < n_inside and Z[c] >= n_inside else value
    try:
        x[:k] = np.linalg.solve(np.ascontiguousarray(A[:k, :k]), x[:k])
    except Exception:  # singular
        return False
    for c in range(k):
        add_column(Q, n_inside, Z[c], x[c], response)
    for j in range(m):
        if sides[j] == INSIDE:
            new_beta[j], new_g[j] = beta[j] + response[j], 0.0
        else:
            new_beta[j] = beta[j] + move_of(sides[j], beta[j], lo[j], hi[j])
            new_g[j] = g[j] + response[j]
    for r in range(k):
        j = Z[r]
        if sides[j] == INSIDE:
            new_beta[j] = beta[j] + x[r]
        else:
            new_g[j] = g[j] + x[r]
    return True


@loop
def wrong_by(side, value, slope, lo, hi):
    """How far a sample is on the wrong side of its condition, by its β where it is inside and its g elsewhere; ≤ 0: it is not."""
    if side == INSIDE:
        return max(lo - value, value - hi)
    if hi <= lo:
        return 0.0
    return -slope if side == LOW else slope


@loop
def other_side(side, value, lo):
    """Where a sample goes that is on the wrong side."""
    if side != INSIDE:
        return INSIDE
    return LOW if value < lo else HIGH


@loop
def pivot_blocks(Q, n_inside, beta, g, lo, hi, sides, slack, A, x, Z, new_beta, new_g):
    """All that are on the wrong side change it at once; False where their number does not fall in two rounds."""
    m = Q.shape[0]
    fewest, has_risen = m + 1, False
    while outcome(Q, n_inside, beta, g, lo, hi, sides, A, x, Z, new_beta, new_g):
        count = 0
        for j in range(m):
            if wrong_by(sides[j], new_beta[j], new_g[j], lo[j], hi[j]) > slack:
                sides[j] = other_side(sides[j], new_beta[j], lo[j])
                count += 1
        if count == 0:
            return True
        if count >= fewest and has_risen:
            return False
        has_risen = count >= fewest
        fewest = min(fewest, count)
    return False


@loop
def follow(Q, n_inside, beta, g, lo, hi, sides, i, slack, A, x, Z, new_beta, new_g):
    """β_i goes to 0 step by step, each until the next sample changes sides; False where it did not get there."""
    m, t = Q.shape[0], 0.0
    here_beta, here_g = np.empty(m), np.empty(m)
    for _ in range(Z.shape[0]):
        lo[i] = hi[i] = (1.0 - t) * beta[i]
        if not outcome(Q, n_inside, beta, g, lo, hi, sides, A, x, Z, here_beta, here_g):
            return False
        lo[i] = hi[i] = 0.0
        if not outcome(Q, n_inside, beta, g, lo, hi, sides, A, x, Z, new_beta, new_g):
            return False
        first, share = -1, np.inf
        for j in range(m):
            end = wrong_by(sides[j], new_beta[j], new_g[j], lo[j], hi[j])
            if j != i and end > slack:
                if sides[j] != INSIDE:
                    here = wrong_by(sides[j], here_beta[j], here_g[j], lo[j], hi[j])
                else:  # of the bound that it will meet, not the nearer one
                    here = lo[j] - here_beta[j] if new_beta[j] < lo[j] else here_beta[j] - hi[j]
                here = min(here, 0.0)
                if -here / (end - here) < share:
                    first, share = j, -here / (end - here)
        if first < 0:
            return True
        sides[first] = other_side(sides[first], new_beta[first], lo[first])
        t += share * (1.0 - t)
    return False


@loop
def leave_out_each(Q, n_inside, beta, g, lo0, hi0, sides0, jobs, slack, most, found, is_settled):
    """β without each of the samples `jobs`: in `found`, clipped into the box; elsewhere than `is_settled`, where it started.

    Q : (m, m), [[P, V], [Vᵀ, S]]; entry j of all arrays is sample j of the tableau, the first `n_inside` inside their box.
    beta, g, sides0 : (jobs, m), where each job starts: some point at which the equations hold, and a split to begin with. A job
    of −1 leaves none of these samples out. The split found is left in sides0.
    slack : what counts as nothing for β and g; most : so many samples may change sides at once, or one after the other.
    """
    m = Q.shape[0]
    A, x, Z = np.empty((most, most)), np.empty(most), np.empty(most, np.int64)
    lo, hi, new_g = lo0.copy(), hi0.copy(), np.empty(m)
    sides = np.empty(m, np.int64)
    for at in range(jobs.shape[0]):
        i, new_beta = jobs[at], found[at]
        sides[:] = sides0[at]
        if i >= 0:
            sides[i] = LOW
            lo[i] = hi[i] = 0.0
        is_settled[at] = pivot_blocks(Q, n_inside, beta[at], g[at], lo, hi, sides, slack, A, x, Z, new_beta, new_g)
        if i >= 0 and not is_settled[at]:
            sides[:] = sides0[at]
            sides[i] = LOW
            is_settled[at] = follow(Q, n_inside, beta[at], g[at], lo, hi, sides, i, slack, A, x, Z, new_beta, new_g)
            lo[i] = hi[i] = 0.0
        if is_settled[at]:
            sides0[at] = sides
        for j in range(m):
            new_beta[j] = min(max(new_beta[j] if is_settled[at] else beta[at, j], lo[j]), hi[j])
        if i >= 0:
            lo[i], hi[i] = lo0[i], hi0[i]
