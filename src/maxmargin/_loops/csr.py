"""Products with a range of rows of a CSR matrix, compiled: without the GIL, so that ranges can run in threads."""

from maxmargin._loops.jit import loop


@loop
def scores_csr(indptr, indices, data, w, begin, end, out):
    """out_j = ⟨w, x_j⟩ for rows begin … end − 1."""
    for j in range(begin, end):
        total = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            total += w[indices[k]] * data[k]
        out[j] = total


@loop
def combine_csr(indptr, indices, data, beta, begin, end, out):
    """out += Σ β_j x_j over rows begin … end − 1."""
    for j in range(begin, end):
        b = beta[j]
        if b != 0.0:
            for k in range(indptr[j], indptr[j + 1]):
                out[indices[k]] += b * data[k]


@loop
def gram_csr(indptr, indices, data, q, floor, begin, end, out):
    """The lower half of out += Σ q_j x_j x_jᵀ over rows begin … end − 1 with q_j > floor; indices must be sorted in each row."""
    for j in range(begin, end):
        if q[j] > floor:
            for k in range(indptr[j], indptr[j + 1]):
                weight = q[j] * data[k]
                i = indices[k]
                for m in range(indptr[j], k + 1):
                    out[i, indices[m]] += weight * data[m]


@loop
def squares_csr(indptr, data, out):
    """‖x_j‖² for each row."""
    for j in range(out.shape[0]):
        total = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            total += data[k] * data[k]
        out[j] = total
