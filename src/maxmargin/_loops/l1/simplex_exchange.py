"""The exchange method for sums of bent lines, compiled.

    min_w  Σ_i f_i(ℓ_i),     f_i(t) = below_i t for t < 0, above_i t for t > 0,     ℓ_i affine in w

In a corner as many lines are zero as there are weights, the `active` ones, and the tableau T has the `others` in their terms:
ℓ_i = value_i + Σ_a T_ia ℓ_a. A step lets go of one active line, along whose edge the sum falls, and follows that edge over all
kinks up to the one behind which the sum rises. The method of Barrodale & Roberts (SIAM J. Numer. Anal. 1973, there for least
absolute deviations), with the edge that is steepest by its length; it can begin in any corner.
"""

import numpy as np

from maxmargin._loops.jit import loop

SMALLEST_PIVOT = 1e-7
"""Kinks are not seen on lines that change less along an edge; of a tableau whose first entries are at most 1."""

DONE, ENDLESS, TIRED = 0, 1, 2
"""How it ended: in the lowest corner; where the sum falls for ever; after `most` steps."""


@loop
def descend(T, value, side, active, others, below, above, g, slack, most):
    """(How it ended, steps made): go to the lowest corner; g_a becomes Σ_i f_i' T_ia.

    `side` is ±1 for others above and below zero, also where they are 0. `below` and `above` are by the numbers of the lines that
    `active` and `others` hold.
    """
    n, d = T.shape
    lengths = np.empty(d)
    times, kinks = np.empty(n), np.empty(n, dtype=np.int64)
    measure(T, side, others, below, above, g, lengths)
    for made in range(most):
        edge, way = steepest(active, below, above, g, lengths, slack)
        if edge < 0:
            return DONE, made
        count = 0
        for i in range(n):
            rate = way * T[i, edge]
            if rate * side[i] < -SMALLEST_PIVOT and above[others[i]] > below[others[i]]:
                times[count], kinks[count] = max(0.0, -value[i] / rate), i
                count += 1
        slope = way * g[edge] + (above[active[edge]] if way > 0.0 else -below[active[edge]])
        order = np.argsort(times[:count])
        last = 0
        while last < count:
            i = kinks[order[last]]
            slope += abs(T[i, edge]) * (above[others[i]] - below[others[i]])
            if slope >= 0.0:
                break
            side[i] = -side[i]
            last += 1
        if last == count:
            return ENDLESS, made
        row, t = kinks[order[last]], way * times[order[last]]
        for i in range(n):
            value[i] += t * T[i, edge]
            if value[i] * side[i] < 0.0 and above[others[i]] > below[others[i]]:
                value[i] = 0.0  # it crossed by rounding; straight lines have no side
        value[row], side[row] = t, way
        active[edge], others[row] = others[row], active[edge]
        exchange(T, row, edge, side, others, below, above, g, lengths)
    return TIRED, most


@loop
def steepest(active, below, above, g, lengths, slack):
    """(The edge along which the sum falls most by its length, the way to go on it); −1 where none falls by more than `slack`."""
    edge, best, way = -1, 0.0, 1.0
    for a in range(g.shape[0]):
        up, down = -(g[a] + above[active[a]]), g[a] + below[active[a]]
        fall = max(up, down)
        if fall > slack and fall * fall > best * lengths[a]:
            edge, best, way = a, fall * fall / lengths[a], (1.0 if up >= down else -1.0)
    return edge, way


@loop
def measure(T, side, others, below, above, g, lengths):
    """g, and the squared lengths of the edges."""
    g[:], lengths[:] = 0.0, 1.0
    for i in range(T.shape[0]):
        slope = above[others[i]] if side[i] > 0.0 else below[others[i]]
        for a in range(T.shape[1]):
            g[a] += slope * T[i, a]
            lengths[a] += T[i, a] * T[i, a]


@loop
def exchange(T, row, edge, side, others, below, above, g, lengths):
    """Solve a row of the tableau for an active line, put that in, and measure on the way; both lists have changed before."""
    n, d = T.shape
    p = 1.0 / T[row, edge]
    for b in range(d):
        T[row, b] *= -p
    T[row, edge] = p
    g[:], lengths[:] = 0.0, 1.0
    new = T[row]
    for i in range(n):
        slope = above[others[i]] if side[i] > 0.0 else below[others[i]]
        rate = T[i, edge]
        if i == row:
            rate = 0.0
        else:
            T[i, edge] = 0.0
        for b in range(d):
            v = T[i, b] + rate * new[b]
            T[i, b] = v
            g[b] += slope * v
            lengths[b] += v * v
