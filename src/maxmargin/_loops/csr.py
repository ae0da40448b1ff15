"""Loops over the rows of a CSR matrix that several solvers need, compiled."""

import numpy as np

from maxmargin._loops.jit import loop


@loop
def squares_csr(indptr, data, out):
    """‖x_j‖² for each row."""
    for j in range(out.shape[0]):
        total = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            total += np.float64(data[k]) * data[k]
        out[j] = total
