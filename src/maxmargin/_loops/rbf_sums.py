"""Sums of RBF values by differences, for few rows with few features: one call, no tiles."""

import numpy as np

from maxmargin._loops.exponential import exp64
from maxmargin._loops.jit import loop

WIDE, TALL = 128, 8
"""Rows x that are worked on at a time, as columns, and rows z."""


@loop
def rbf_sums(X, Z, weights, gamma, out):
    """out_i = Σ_j weights_j exp(−γ‖x_i − z_j‖²), in float64; O(d) a value, of which none is kept."""
    n, d = X.shape
    wide = -(-d // 4) * 4  # four features at a time; those that are not there are 0 on both sides
    T, z, total = np.zeros((wide, WIDE)), np.zeros(wide), np.empty(WIDE)
    exponents = np.zeros((1, TALL * WIDE))
    tile = exponents.reshape(TALL, WIDE)
    for start in range(0, n, WIDE):
        count = min(WIDE, n - start)
        for k in range(count):
            for f in range(d):
                T[f, k] = X[start + k, f]
        total[:] = 0.0
        for first in range(0, Z.shape[0], TALL):
            tall = min(TALL, Z.shape[0] - first)
            for j in range(tall):
                for f in range(d):
                    z[f] = Z[first + j, f]
                values = tile[j]
                values[:] = 0.0
                for f in range(0, wide, 4):
                    row0, row1, row2, row3 = T[f], T[f + 1], T[f + 2], T[f + 3]
                    z0, z1, z2, z3 = z[f], z[f + 1], z[f + 2], z[f + 3]
                    for k in range(WIDE):
                        a, b, c, e = row0[k] - z0, row1[k] - z1, row2[k] - z2, row3[k] - z3
                        values[k] += a * a + b * b + c * c + e * e
                for k in range(WIDE):  # differences first: scaled rows that are far from 0 would have lost them
                    values[k] *= -gamma
            exp64(exponents[:, : tall * WIDE])
            for j in range(tall):
                weight, values = weights[first + j], tile[j]
                for k in range(WIDE):
                    total[k] += weight * values[k]
        out[start : start + count] = total[:count]
