"""Small problems with the hinge on one kernel matrix, one after the other in one call; compiled.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  0 ≤ y_jβ_j ≤ c_j,   and Σβ = 0 where the bias is free

Pairs as in `pair_steps`, on rows of K that are gathered when they are first needed, until the gap as it is summed here is small
enough. A certificate, made elsewhere, has the last word.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.smo.hinge_gap import look
from maxmargin._loops.smo.pair_steps import CHUNK, pair_steps

BIG, ENDLESS, FINEST = -1e30, 1e300, 1e-15
"""What forbids a move; the bounds of the entry that takes what the others move where no sum is fixed; some units of rounding."""

SHARE, ROUNDS = 0.1, 20
"""The share of its violation to which a round goes, and the most rounds: by then nothing is left of it but rounding."""

SPARE = 4e5
"""Entries that the pairs of all problems may pass over for digits beyond the goal: less time than it takes to set them up."""


@loop
def solve_together(K, rows, starts, y, cost, is_free, goal, most_work, beta, f, biases, rounds):
    """Solve each of the problems; fills β, the scores f = Kβ summed anew, the biases, and the rounds that each took.

    K : the kernel matrix of all rows of the data, in float64. Problem p has the samples starts[p] … starts[p + 1], which are the
    rows `rows` of the data.
    goal : the relative gap that is enough. A problem whose pairs have passed over `most_work` entries is left as it is.
    """
    nothing, longest = np.zeros(0), 0
    for p in range(starts.shape[0] - 1):
        longest = max(longest, starts[p + 1] - starts[p])
    memory = np.empty((longest + 1) * (longest + CHUNK))
    for p in range(starts.shape[0] - 1):
        first, last = starts[p], starts[p + 1]
        n = last - first
        size = -(-(n if is_free else n + 1) // CHUNK) * CHUNK
        own, costs, index = y[first:last], cost[first:last], np.zeros(size, np.intp)
        index[:n] = rows[first:last]
        kept, slot, diagonal = memory[: (n + 1) * size].reshape((n + 1, size)), np.full(size, -1), np.zeros(size)
        kept[0] = 0.0
        lo, hi, g, b = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
        rise, fall = np.full((1, size), BIG), np.full((1, size), BIG)
        for j in range(n):
            g[j], diagonal[j] = -own[j], K[index[j], index[j]]
            if own[j] > 0.0:
                hi[j], rise[0, j] = costs[j], 0.0
            else:
                lo[j], fall[0, j] = -costs[j], 0.0
        slot[n:] = 0
        if not is_free:
            lo[n], hi[n], rise[0, n], fall[0, n] = -ENDLESS, ENDLESS, 0.0, 0.0
        used, work, allowed = np.array([1, 0]), 0.0, most_work / ROUNDS
        for _ in range(ROUNDS):
            rounds[p] += 1
            work += size * pair_steps(
                kept, slot, K, nothing, nothing, 0.0, diagonal, g, b, lo, hi, rise, fall, FINEST, SHARE, FINEST,
                int(allowed / size), used, index[:n],
            )  # fmt: skip
            biases[p], missing = look(g[:n], own, b[:n], costs, is_free)
            dual = 0.0
            for j in range(n):
                dual -= 0.5 * b[j] * (g[j] - own[j])
            if missing <= goal * (dual + missing):
                allowed = SPARE / (starts.shape[0] - 1) - work
                if allowed < size or missing <= FINEST * dual:
                    break
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
