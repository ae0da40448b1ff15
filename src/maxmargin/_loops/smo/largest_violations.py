"""The largest of many numbers, by halving the range of their values; compiled."""

import numpy as np

from maxmargin._loops.jit import loop

HALVINGS = 40
"""After so many, who is left in between is as large as the others there but for rounding."""


@loop
def count_above(values, least):
    """How many values are larger than `least`."""
    count = 0
    for k in range(values.shape[0]):
        count += 1 if values[k] > least else 0
    return count


@loop
def largest(values, most):
    """The positions of the `most` largest of the values that are not −∞, or of all of these; in no order."""
    low, high, count = np.inf, -np.inf, 0
    for k in range(values.shape[0]):
        if values[k] > -np.inf:
            low, high, count = min(low, values[k]), max(high, values[k]), count + 1
    if count <= most:
        high = -np.inf
    else:
        for _ in range(HALVINGS):
            middle = low + 0.5 * (high - low)
            if count_above(values, middle) > most:
                low = middle
            else:
                high = middle
    found = np.empty(min(count, most), dtype=np.int64)
    place = 0
    for upper, lower in ((np.inf, high), (high, low), (low, -np.inf)):
        for k in range(values.shape[0]):
            if lower < values[k] <= upper and place < found.shape[0]:
                found[place] = k
                place += 1
    return found
