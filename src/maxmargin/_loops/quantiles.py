"""The interval of best biases of the hinge with one sample left out, compiled.

    argmin_b  Σ_{j ≠ skip} c_j max(0, 1 − y_j (f_j + b))  =  [b⁻, b⁺]

are weighted quantiles of the kinks y_j − f_j (see `core.bias`). A bracket that is known to hold both ends makes them cheap: only
kinks inside it are sorted.
"""

import numpy as np

from maxmargin._loops.jit import loop


@loop
def bias_ends(kinks, lengths, shift, weights, skip, total, flat, low, high, values, masses):
    """(b⁻, b⁺) of the kinks moved by shift · length, each clipped into [low, high]; `values` and `masses` are scratch.

    total : the weight of the positive samples, where the slope is zero; a plateau within `flat` of it counts as one.
    Cost: a pass over the kinks, and a sort of those in the bracket.
    """
    below, count = 0.0, 0
    for j in range(kinks.shape[0]):
        if j == skip or weights[j] == 0.0:
            continue
        value = kinks[j] + shift * lengths[j]
        if value < low:
            below += weights[j]
        elif value <= high:
            values[count] = value
            masses[count] = weights[j]
            count += 1
    lower, upper = high, high
    is_below = True
    if below >= total - flat:
        lower, is_below = low, False
    if below >= total + flat:
        return lower, low
    order = np.argsort(values[:count])
    for k in range(count):
        below += masses[order[k]]
        if is_below and below >= total - flat:
            lower, is_below = values[order[k]], False
        if below >= total + flat:
            upper = values[order[k]]
            break
    return lower, upper


@loop
def hinge_residual(m, a, u):
    """The sample's share of the duality gap, from its slack m = 1 − yF and its α in [0, u]."""
    return (u - a) * m if m > 0.0 else -a * m
