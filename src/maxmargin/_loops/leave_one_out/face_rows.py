"""Conjugate gradients on the face of the samples inside their box, on the rows of a CSR matrix; compiled.

    min_Δ  ½‖w + Σ_{j ∈ S} Δ_j y_j x̃_j‖² − Σ_{j ∈ S} (1 − y_j b₀) Δ_j,      S = {j ≠ i : 0 < α_j < c_j}

The step is clipped into the box; where that loses, it is shortened until it stays inside.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.linear.csr import dot_csr

ENOUGH = 1e-6
"""The share of the first squared residual at which the equations count as solved."""


@loop
def shift_row(indptr, indices, data, y, alpha, w, s, j, value):
    """Set α_j, and update w."""
    move = (value - alpha[j]) * y[j]
    if move != 0.0:
        for k in range(indptr[j], indptr[j + 1]):
            w[indices[k]] += move * data[k]
        w[w.shape[0] - 1] += move * s
        alpha[j] = value


@loop
def dual_value(y, alpha, w, b0):
    """Σ (1 − y b₀) α − ½‖w‖²."""
    total = 0.0
    for j in range(alpha.shape[0]):
        total += (1.0 - y[j] * b0) * alpha[j]
    for k in range(w.shape[0]):
        total -= 0.5 * w[k] * w[k]
    return total


@loop
def face_step(indptr, indices, data, y, cost, alpha, w, s, b0, i, iterations):
    """Move the samples inside their box together; changes alpha and w. O(iterations · non-zeros of their rows)."""
    n, last = y.shape[0], w.shape[0] - 1
    members, size = np.empty(n, np.int64), 0
    for j in range(n):
        if j != i and 0.0 < alpha[j] < cost[j]:
            members[size] = j
            size += 1
    r, step, old = np.empty(size), np.zeros(size), np.empty(size)
    rr = 0.0
    for k in range(size):
        j = members[k]
        r[k] = 1.0 - y[j] * (b0 + s * w[last] + dot_csr(indices, data, w, indptr[j], indptr[j + 1]))
        rr += r[k] * r[k]
        old[k] = alpha[j]
    p, image, first = r.copy(), np.empty(size), rr
    q = np.empty(last + 1)
    for _ in range(iterations):
        if rr <= ENOUGH * first or rr == 0.0:
            break
        q[:] = 0.0
        for k in range(size):
            j = members[k]
            signed = p[k] * y[j]
            for h in range(indptr[j], indptr[j + 1]):
                q[indices[h]] += signed * data[h]
            q[last] += signed * s
        curvature = 0.0
        for k in range(size):
            j = members[k]
            image[k] = y[j] * (s * q[last] + dot_csr(indices, data, q, indptr[j], indptr[j + 1]))
            curvature += p[k] * image[k]
        if curvature <= 0.0:
            break
        a, new = rr / curvature, 0.0
        for k in range(size):
            step[k] += a * p[k]
            r[k] -= a * image[k]
            new += r[k] * r[k]
        for k in range(size):
            p[k] = r[k] + new / rr * p[k]
        rr = new
    before = dual_value(y, alpha, w, b0)
    longest = 1.0
    for k in range(size):
        j = members[k]
        room = cost[j] - old[k] if step[k] > 0.0 else old[k]
        if abs(step[k]) > room:
            longest = min(longest, room / abs(step[k]))
        shift_row(indptr, indices, data, y, alpha, w, s, j, min(max(old[k] + step[k], 0.0), cost[j]))
    if dual_value(y, alpha, w, b0) < before:
        for k in range(size):
            j = members[k]
            inside = min(max(old[k] + longest * step[k], 0.0), cost[j])
            shift_row(indptr, indices, data, y, alpha, w, s, j, inside)
