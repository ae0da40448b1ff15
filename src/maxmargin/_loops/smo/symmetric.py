"""Products with a symmetric matrix of which only the upper triangle is read; compiled."""

import numpy as np

from maxmargin._loops.jit import loop


@loop
def add_symmetric(K, diagonal, v, begin, end, out):
    """out += the part of Kv that the rows begin … end of the upper triangle make, and their mirror images.

    The diagonal stands apart. Sums in float64, whatever K's precision is. Each value is read once.
    """
    for i in range(begin, end):
        weight, total = v[i], diagonal[i] * v[i]
        row, others, theirs = K[i, i + 1 :], v[i + 1 :], out[i + 1 :]
        for j in range(row.shape[0]):  # from 0 on: no test for counting from the end, which would keep it from vectors
            value = np.float64(row[j])
            total += value * others[j]
            theirs[j] += value * weight
        out[i] += total
