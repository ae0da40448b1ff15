"""RBF values by differences of rows; compiled."""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.rbf.exponential import exponentiate
from maxmargin._loops.rbf.packed import WIDE


@loop
def rbf_values(X, Z, gamma, out):
    """out_ij = exp(−γ‖x_i − z_j‖²), in float64; O(d) a value."""
    n, d = X.shape
    wide = -(-d // 4) * 4  # four features at a time; those that are not there are 0 on both sides
    T, x, values = np.zeros((wide, WIDE)), np.zeros(wide), np.empty(WIDE)
    for start in range(0, Z.shape[0], WIDE):
        count = min(WIDE, Z.shape[0] - start)
        for k in range(count):
            for f in range(d):
                T[f, k] = Z[start + k, f]
        for i in range(n):
            x[:d] = X[i]
            for k in range(WIDE):
                values[k] = 0.0
            for f in range(0, wide, 4):
                for k in range(WIDE):
                    p, q = x[f] - T[f, k], x[f + 1] - T[f + 1, k]
                    r, s = x[f + 2] - T[f + 2, k], x[f + 3] - T[f + 3, k]
                    values[k] += p * p + q * q + r * r + s * s
            for k in range(count):  # differences first: scaled rows that are far from 0 would have lost them
                out[i, start + k] = -gamma * values[k]
    for i in range(n):
        exponentiate(out[i])


@loop
def rbf_values_csr(indptr, indices, data, others_indptr, others_indices, others_data, gamma, out):
    """The same for the rows of two CSR matrices whose columns rise within each row; O(entries of both rows) a value.

    `np.float64` and not `float`, which leaves float32 what it is in compiled code.
    """
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
        exponentiate(out[i])
