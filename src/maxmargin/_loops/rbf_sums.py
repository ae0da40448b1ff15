"""Sums of RBF values by differences, for few rows with few features: one call, no tiles."""

import numpy as np

from maxmargin._loops.exponential import exp64
from maxmargin._loops.jit import loop

WIDE = 128
"""Rows x that are worked on at a time, as columns."""


@loop
def rbf_sums(X, Z, weights, gamma, out):
    """out_i = Σ_j weights_j exp(−γ‖x_i − z_j‖²), in float64; d ≥ 1. O(d) a value, of which none is kept."""
    n, d = X.shape
    wide = -(-d // 4) * 4  # four features at a time; those that are not there are 0 on both sides
    T, z, exponents, total = np.zeros((wide, WIDE)), np.zeros(wide), np.empty((1, WIDE)), np.empty(WIDE)
    values = exponents[0]
    for start in range(0, n, WIDE):
        count = min(WIDE, n - start)
        for k in range(count):
            for f in range(d):
                T[f, k] = X[start + k, f]
        total[:] = 0.0
        for j in range(Z.shape[0]):
            z[:d] = Z[j]
            values[:] = 0.0
            for f in range(0, wide, 4):
                row0, row1, row2, row3 = T[f], T[f + 1], T[f + 2], T[f + 3]
                z0, z1, z2, z3 = z[f], z[f + 1], z[f + 2], z[f + 3]
                for k in range(WIDE):
                    a, b, c, e = row0[k] - z0, row1[k] - z1, row2[k] - z2, row3[k] - z3
                    values[k] += a * a + b * b + c * c + e * e
            for k in range(WIDE):
                values[k] *= -gamma
            exp64(exponents)
            for k in range(WIDE):
                total[k] += weights[j] * values[k]
        out[start : start + count] = total[:count]
