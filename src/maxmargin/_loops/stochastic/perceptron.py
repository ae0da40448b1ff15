"""Visits of the perceptron, compiled.

    if y_j⟨w, x̃_j⟩ ≤ 0 then w ← w + y_j x̃_j

x̃_j is x_j with a constant feature s behind it (s = 0: none). With u = Σ (visits before the update) · y_j x̃_j the sum of w over
all visits is (visits) · w − u, so that the average costs O(non-zeros) an update.
"""

from maxmargin._loops.jit import loop
from maxmargin._loops.linear.csr import dot_csr
from maxmargin._loops.stochastic.pegasos import add_csr


@loop
def visit(X, indptr, indices, data, G, scores, y, s, visits, clock, w, u, mistakes, times):
    """Visit samples after `clock` visits; lists the mistakes and their times (1, 2, …), and counts them.

    With a kernel w and u hold a coefficient for each sample, `scores` those of the visits, and G is their Gram matrix. Else both
    are empty, and the rows are those of X, or of the CSR matrix (indptr, indices, data) where X has none.
    """
    has_kernel, is_dense, last, count = scores.shape[0] > 0, X.shape[0] > 0, w.shape[0] - 1, 0
    for i in range(visits.shape[0]):
        j = visits[i]
        if has_kernel:
            score = scores[i]
        elif is_dense:
            score = s * w[last]
            for k in range(last):
                score += w[k] * X[j, k]
        else:
            score = dot_csr(indices, data, w, indptr[j], indptr[j + 1]) + s * w[last]
        if y[j] * score > 0.0:
            continue
        later = (clock + i) * y[j]
        if has_kernel:
            w[j] += y[j]
            u[j] += later
            for k in range(visits.shape[0]):
                scores[k] += y[j] * G[i, k]
        else:
            if is_dense:
                for k in range(last):
                    w[k] += y[j] * X[j, k]
                    u[k] += later * X[j, k]
            else:
                add_csr(indices, data, indptr[j], indptr[j + 1], y[j], later, w, u)
            w[last] += y[j] * s
            u[last] += later * s
        mistakes[count], times[count] = j, clock + i + 1
        count += 1
    return count
