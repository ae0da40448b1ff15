"""Small problems with the hinge on one kernel matrix, one after the other in one call; compiled.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  0 ≤ y_jβ_j ≤ c_j,   and Σβ = 0 where the bias is free

Pairs as in `pair_steps`, on rows of K that are gathered when they are first needed, until the gap computed here is small
enough. The certificate is computed elsewhere, and decides.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.smo.hinge_gap import look
from maxmargin._loops.smo.pair_steps import CHUNK, LARGE, pair_steps


@loop
def drop_traces(beta, g, y, cost, b, share, is_free):
    """Zero tiny α, at most a share of the largest, outside the margin: they are what rounding has left of moves.

    The free sample with the most room takes what this removes from Σβ.
    """
    largest, taken, roomy, room = np.abs(beta).max(), 0.0, -1, 0.0
    for j in range(beta.shape[0]):
        alpha = abs(beta[j])
        if 0.0 < alpha <= share * largest and y[j] * (g[j] + b) > 0.0:
            taken, beta[j] = taken + beta[j], 0.0
        elif min(alpha, cost[j] - alpha) > room:
            roomy, room = j, min(alpha, cost[j] - alpha)
    if is_free and roomy >= 0 and abs(taken) <= room:
        beta[roomy] += taken


@loop
def solve_together(K, rows, starts, y, cost, is_free, goal, share, most_work, spare, beta, f, biases, rounds):
    """Solve each of the problems; fills β, the scores f = Kβ summed anew, the biases, and the rounds that each took.

    K : the kernel matrix of all rows of the data, in float64. Problem p has the samples from starts[p] up to
    starts[p + 1], which are the rows `rows` of the data.
    goal : the relative gap to reach. Each round reduces the violation to a share of what it was. A problem whose pairs have
    passed over `most_work` entries is left as it is; each may use `spare` entries for digits beyond the goal.
    """
    nothing, longest, n_problems = np.zeros(0), 0, starts.shape[0] - 1
    finest = 4.0 * np.finfo(np.float64).eps  # rounding error of a violation, a curvature and a relative gap
    most_rounds = int(np.log(finest) / np.log(share)) + 4  # enough to reduce a violation to rounding
    for p in range(n_problems):
        longest = max(longest, starts[p + 1] - starts[p])
    memory = np.empty((longest + 1) * (longest + CHUNK))
    for p in range(n_problems):
        first, last = starts[p], starts[p + 1]
        n = last - first
        size = -(-(n if is_free else n + 1) // CHUNK) * CHUNK
        own, costs, index = y[first:last], cost[first:last], np.zeros(size, np.intp)
        index[:n] = rows[first:last]
        kept, slot, diagonal = memory[: (n + 1) * size].reshape((n + 1, size)), np.full(size, -1), np.zeros(size)
        kept[0] = 0.0
        lo, hi, g, b, width = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
        rise, fall = np.full((1, size), -LARGE), np.full((1, size), -LARGE)
        for j in range(n):
            g[j], diagonal[j] = -own[j], K[index[j], index[j]]
            if own[j] > 0.0:
                hi[j], rise[0, j] = costs[j], 0.0
            else:
                lo[j], fall[0, j] = -costs[j], 0.0
        slot[n:] = 0
        if not is_free:
            lo[n], hi[n], rise[0, n], fall[0, n] = -np.inf, np.inf, 0.0, 0.0
        used, work, allowed = np.array([1, 0]), 0.0, most_work
        for _ in range(most_rounds):
            rounds[p] += 1
            work += size * pair_steps(
                kept, slot, K, nothing, nothing, 0.0, diagonal, g, b, lo, hi, width, rise, fall, finest, share, finest,
                int(allowed / size), used, index[:n],
            )  # fmt: skip
            biases[p], missing = look(g[:n], own, b[:n], costs, is_free)
            dual = 0.0
            for j in range(n):
                dual -= 0.5 * b[j] * (g[j] - own[j])
            allowed = (spare if missing <= goal * (dual + missing) else most_work) - work
            if allowed < size or missing <= finest * dual:
                break
        drop_traces(b[:n], g[:n], own, costs, biases[p], 1024.0 * finest, is_free)
        beta[first:last] = b[:n]
        total = np.zeros(size)
        for j in range(n):
            if b[j] != 0.0:
                row = kept[slot[j]]
                for k in range(size):
                    total[k] += b[j] * row[k]
        for j in range(n):
            f[first + j], g[j] = total[j], total[j] - own[j]
        biases[p], missing = look(g[:n], own, b[:n], costs, is_free)
