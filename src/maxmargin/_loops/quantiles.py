"""The interval of best biases of the hinge with one sample left out, compiled.

    argmin_b  Σ_{j ≠ skip} c_j max(0, 1 − y_j (f_j + b))  =  [b⁻, b⁺]

are weighted quantiles of the kinks y_j − f_j (see `core.bias`). A bracket that is known to hold both ends makes them cheap: only
kinks inside it are looked at again.
"""

import numpy as np

from maxmargin._loops.hinge_sums import UNIT
from maxmargin._loops.jit import loop, loop_as_written


@loop_as_written
def reached_at(values, masses, count, below, goal):
    """(the smallest value such that `below` and the masses up to it reach the goal, what they are), or (∞, all of them).

    By halving, O(count): permutes the first `count` values and masses. Sums are made in any order: where one order reaches the
    goal and another one misses it by rounding, the next larger value is returned.
    """
    begin, end, found = 0, count, np.inf
    while begin < end:
        x, y, z = values[begin], values[(begin + end) // 2], values[end - 1]
        pivot = max(min(x, y), min(max(x, y), z))
        less, more, k, under, at = begin, end, begin, 0.0, 0.0
        while k < more:
            value, mass = values[k], masses[k]
            if value < pivot:
                values[k], masses[k] = values[less], masses[less]
                values[less], masses[less] = value, mass
                under += mass
                less += 1
                k += 1
            elif value > pivot:
                more -= 1
                values[k], masses[k] = values[more], masses[more]
                values[more], masses[more] = value, mass
            else:
                at += mass
                k += 1
        if below + under >= goal:
            end, found = less, pivot
        elif below + under + at >= goal:
            return pivot, below + under + at
        else:
            below += under + at
            begin = more
    return found, below


@loop_as_written
def bias_bounds(f, error, lengths, rows, y, weights, slack, radii, starts, out):
    """Bounds of the best bias of several problems, whose samples stand one after the other: below in out[0], above in out[1].

    The exact scores lie within radius · length + error of f (see `core.certificate.optimum_ball`). weights, slack[p] : how the
    slope of problem p is summed, and what of it may be flat.
    """
    values, masses = np.empty(f.shape[0]), np.empty(f.shape[0])
    for side in range(2):
        sign = 2.0 * side - 1.0
        for p in range(radii.shape[0]):
            first, last, total, largest = starts[p], starts[p + 1], 0.0, -np.inf
            for j in range(first, last):
                reach = (radii[p] * lengths[rows[j]] + error[j] + 4.0 * UNIT * abs(f[j])) * (1.0 + 8.0 * UNIT)
                values[j], masses[j] = np.nextafter(y[j] - (f[j] - sign * reach), sign * np.inf), weights[j]
                largest = max(largest, values[j])
                if y[j] > 0.0:
                    total += weights[j]
            goal = total + sign * slack[p]
            found = reached_at(values[first:last], masses[first:last], last - first, 0.0, goal)[0]
            out[side, p] = min(found, largest)


@loop_as_written
def bias_ends(kinks, reaches, sign, weights, skip, first, last, low, high, values, masses):
    """(b⁻, b⁺) of the kinks moved by sign · reach, each clipped into [low, high]; `values` and `masses` are scratch.

    first, last : the weights of kinks passed at which b⁻ and b⁺ are: those of the positive samples, less or more what counts as
    flat. Cost: a pass over the kinks, and some over those in the bracket.
    """
    below, count = 0.0, 0
    for j in range(kinks.shape[0]):
        if j == skip or weights[j] == 0.0:
            continue
        value = kinks[j] + sign * reaches[j]
        if value < low:
            below += weights[j]
        elif value <= high:
            values[count] = value
            masses[count] = weights[j]
            count += 1
    if below >= last:
        return low, low
    lower, passed = low, below
    if below < first:
        lower, passed = reached_at(values, masses, count, below, first)
        if passed >= last:
            return lower, lower
    return min(lower, high), min(reached_at(values, masses, count, below, last)[0], high)


@loop
def hinge_residual(m, a, u):
    """The sample's share of the duality gap, from its slack m = 1 − yF and its α in [0, u]."""
    return (u - a) * m if m > 0.0 else -a * m
