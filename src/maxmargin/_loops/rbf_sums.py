"""Sums of RBF values by differences, for few rows with few features: one call, no tiles."""

import numpy as np

from maxmargin._loops.exponential import exp64
from maxmargin._loops.jit import loop

WIDE, TALL = 128, 8
"""Rows x that are worked on at a time, as columns, and rows z."""


@loop
def rbf_sums(X, Z, weights, gamma, out):
    """out_i = Σ_j weights_j exp(−γ‖x_i − z_j‖²), in float64; O(d) a value, of which none is kept."""
    n, d, m = X.shape[0], X.shape[1], Z.shape[0]
    wide = -(-d // 4) * 4  # four features at a time; those that are not there are 0 on both sides
    T, total, exponents = np.zeros((wide, WIDE)), np.empty(WIDE), np.zeros((1, TALL * WIDE))
    z, values = np.zeros((TALL, wide)), exponents.reshape(TALL, WIDE)
    for start in range(0, n, WIDE):
        count = min(WIDE, n - start)
        for k in range(count):
            for f in range(d):
                T[f, k] = X[start + k, f]
        for k in range(WIDE):
            total[k] = 0.0
        for first in range(0, m, TALL):
            tall = min(TALL, m - first)
            for j in range(tall):
                for f in range(d):
                    z[j, f] = Z[first + j, f]
                for k in range(WIDE):
                    values[j, k] = 0.0
                for f in range(0, wide, 4):
                    for k in range(WIDE):
                        p, q = T[f, k] - z[j, f], T[f + 1, k] - z[j, f + 1]
                        r, s = T[f + 2, k] - z[j, f + 2], T[f + 3, k] - z[j, f + 3]
                        values[j, k] += p * p + q * q + r * r + s * s
                for k in range(WIDE):  # differences first: scaled rows that are far from 0 would have lost them
                    values[j, k] *= -gamma
            exp64(exponents)
            for j in range(tall):
                for k in range(WIDE):
                    total[k] += weights[first + j] * values[j, k]
        for k in range(count):
            out[start + k] = total[k]
