"""Loops over the rows of a CSR matrix that several solvers need, compiled."""

import numpy as np

from maxmargin._loops.jit import loop, loop_as_written


@loop_as_written
def dot_csr(indices, data, w, begin, end):
    """⟨w, x⟩ of the row whose values are begin … end − 1, in four sums: gathering by vector instructions would be slower."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    k = begin
    while k + 4 <= end:
        a += w[indices[k]] * data[k]
        b += w[indices[k + 1]] * data[k + 1]
        c += w[indices[k + 2]] * data[k + 2]
        d += w[indices[k + 3]] * data[k + 3]
        k += 4
    while k < end:
        a += w[indices[k]] * data[k]
        k += 1
    return (a + b) + (c + d)


@loop
def squares_csr(indptr, data, out):
    """‖x_j‖² for each row."""
    for j in range(out.shape[0]):
        total = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            total += np.float64(data[k]) * data[k]
        out[j] = total


@loop
def add_column_squares_csr(indptr, indices, data, weights, out):
    """out_k += Σ_j weight_j x_jk²."""
    for j in range(weights.shape[0]):
        for k in range(indptr[j], indptr[j + 1]):
            out[indices[k]] += weights[j] * data[k] * data[k]
