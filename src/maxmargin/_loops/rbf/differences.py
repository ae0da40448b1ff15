"""RBF values by differences of rows, and their sums: one call, no tiles."""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.rbf.exponential import exp64

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


@loop
def rbf_values(X, Z, gamma, out):
    """out_ij = exp(−γ‖x_i − z_j‖²), in float64; O(d) a value."""
    n, d, m = X.shape[0], X.shape[1], Z.shape[0]
    T, row = np.zeros((d, WIDE)), np.zeros((1, WIDE))
    for start in range(0, m, WIDE):
        count = min(WIDE, m - start)
        for k in range(count):
            for f in range(d):
                T[f, k] = Z[start + k, f]
        for i in range(n):
            values = row[0]
            for k in range(WIDE):
                values[k] = 0.0
            for f in range(d):
                x = X[i, f]
                for k in range(WIDE):
                    p = x - T[f, k]
                    values[k] += p * p
            for k in range(WIDE):
                values[k] *= -gamma
            exp64(row)
            for k in range(count):
                out[i, start + k] = row[0, k]


@loop
def rbf_values_csr(indptr, indices, data, others_indptr, others_indices, others_data, gamma, out):
    """The same for the rows of two CSR matrices whose columns rise within each row; O(entries of both rows) a value."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            p, end, q, others_end = indptr[i], indptr[i + 1], others_indptr[j], others_indptr[j + 1]
            total = 0.0
            while p < end or q < others_end:
                if q == others_end or (p < end and indices[p] < others_indices[q]):
                    difference = np.float64(data[p])
                    p += 1
                elif p == end or others_indices[q] < indices[p]:
                    difference = np.float64(others_data[q])
                    q += 1
                else:
                    difference = np.float64(data[p]) - np.float64(others_data[q])
                    p += 1
                    q += 1
                total += difference * difference
            out[i, j] = -gamma * total
    exp64(out)
