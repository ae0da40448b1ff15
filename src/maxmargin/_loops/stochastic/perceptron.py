"""Visits of the perceptron over rows, compiled.

    if y_j⟨w, x̃_j⟩ ≤ 0 then w ← w + y_j x̃_j

x̃_j is x_j with a constant feature s behind it (s = 0: none). With u = Σ (visits before the update) · y_j x̃_j the sum of w over
all visits is (visits) · w − u, so that the average costs O(non-zeros) an update.
"""

from maxmargin._loops.jit import loop
from maxmargin._loops.linear.csr import dot_csr


@loop
def visit_csr(indptr, indices, data, y, s, visits, clock, w, u, mistakes, times):
    """Visit rows of a CSR matrix after `clock` visits; lists the mistakes and their times (1, 2, …), and counts them."""
    last = w.shape[0] - 1
    count = 0
    for i in range(visits.shape[0]):
        j = visits[i]
        begin, end = indptr[j], indptr[j + 1]
        if y[j] * (dot_csr(indices, data, w, begin, end) + s * w[last]) <= 0.0:
            later = (clock + i) * y[j]
            for k in range(begin, end):
                w[indices[k]] += y[j] * data[k]
                u[indices[k]] += later * data[k]
            w[last] += y[j] * s
            u[last] += later * s
            mistakes[count], times[count] = j, clock + i + 1
            count += 1
    return count


@loop
def visit_dense(X, y, s, visits, clock, w, u, mistakes, times):
    """The same for dense rows."""
    last = w.shape[0] - 1
    count = 0
    for i in range(visits.shape[0]):
        j = visits[i]
        score = s * w[last]
        for k in range(last):
            score += w[k] * X[j, k]
        if y[j] * score <= 0.0:
            later = (clock + i) * y[j]
            for k in range(last):
                w[k] += y[j] * X[j, k]
                u[k] += later * X[j, k]
            w[last] += y[j] * s
            u[last] += later * s
            mistakes[count], times[count] = j, clock + i + 1
            count += 1
    return count


@loop
def visit_gram(G, y, visits, scores, clock, w, u, mistakes, times):
    """The same with a kernel: w and u hold a coefficient for each sample, `scores` those of the visits, G their Gram matrix."""
    count = 0
    for i in range(visits.shape[0]):
        j = visits[i]
        if y[j] * scores[i] <= 0.0:
            w[j] += y[j]
            u[j] += (clock + i) * y[j]
            for k in range(visits.shape[0]):
                scores[k] += y[j] * G[i, k]
            mistakes[count], times[count] = j, clock + i + 1
            count += 1
    return count
