"""Loops that visit one sample after another, compiled: stochastic subgradient steps, and the perceptron's mistakes.

x̃_j is x_j with a constant feature s behind it (s = 0: none). Subgradient steps are for

    min_w  (λ/2)‖w‖² + mean_j weight_j max(0, 1 − y_j⟨w, x̃_j⟩)

Before step t the iterate is w = scale · v / (λτ), with τ = t for SGD (Shalev-Shwartz & Ben-David, section 15.5) and τ = t − 1 for
Pegasos; at τ = 0 it is 0. A step looks at a batch of visits and adds their violations to v: O(non-zeros of its rows). So does the
sum of the iterates,

    Σ_t m_t v_t = M v − u,    m_t = scale / (λτ),    M = Σ_t m_t,    u = Σ_t M_t (v_{t+1} − v_t)

which is never formed while stepping (Xu, "Towards optimal one pass large scale learning", 2011). The perceptron's visits are

    if y_j⟨w, x̃_j⟩ ≤ 0 then w ← w + y_j x̃_j

With u = Σ (visits before the update) · y_j x̃_j the sum of w over all visits is (visits) · w − u: O(non-zeros) an update, too.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.linear.csr import dot_csr

# The numbers that a run carries along, by position: steps made, M, Σ of the losses met, scale, ‖v‖².
T, MASS, LOSS, SCALE, SQUARE = 0, 1, 2, 3, 4

NEVER = np.finfo(np.float64).tiny
"""The threshold at w = 0: every sample violates its margin there."""

FINE = 1e-3
"""A scale below this costs the sums their digits: the steps end early, for the scale to be multiplied into v."""


@loop
def add_csr(indices, data, begin, end, g, later, v, u):
    """v += g x and, unless that is nothing, u += later · x for one row."""
    begin, end = np.uint64(begin), np.uint64(end)
    if later == 0.0:
        for k in range(begin, end):
            v[indices[k]] += g * data[k]
    else:
        for k in range(begin, end):
            at = indices[k]
            v[at] += g * data[k]
            u[at] += later * data[k]


@loop
def growth_csr(indices, data, begin, end, g, v):
    """‖v + g x‖² − ‖v‖² for one row."""
    total = 0.0
    for k in range(begin, end):
        add = g * data[k]
        total += add * (2.0 * v[indices[k]] + add)
    return total


@loop
def steps(
    X, indptr, indices, data, G, scores, signed, s, visits, start, end, batch, lam, offset, radius, averages, v, u,
    numbers, counts, flags,
):  # fmt: skip
    """Step through visits start … end − 1, a batch at a time; where the next one would be is returned.

    With a kernel v and u hold coefficients of the samples, `scores` ⟨v, φ̃⟩ of all visits, later ones included, and G their Gram
    matrix. Else both are empty, and the rows are those of X, or of the CSR matrix (indptr, indices, data) where X has none.
    Without `averages` M and u stay as they are. `signed` holds y_j weight_j, `counts` the draws and the violations of
    each sample; `flags` has room for a batch.
    """
    has_kernel, is_dense, projects, last = scores.shape[0] > 0, X.shape[0] > 0, radius < np.inf, v.shape[0] - 1
    t, mass, loss, scale, square = numbers[T], numbers[MASS], numbers[LOSS], numbers[SCALE], numbers[SQUARE]
    while start < end and scale >= FINE:
        size = min(batch, end - start)
        threshold = max(lam * (t + 1 + offset), NEVER)  # which y⟨v, x̃⟩ · scale has to reach
        if averages and threshold > NEVER:
            mass += scale / threshold
        for at in range(start, start + size):
            j = visits[at]
            if has_kernel:
                score = scores[at]
            elif is_dense:
                score = s * v[last]
                for k in range(last):
                    score += v[k] * X[j, k]
            else:
                score = dot_csr(indices, data, v, indptr[j], indptr[j + 1]) + s * v[last]
            z = scale * score if signed[j] > 0.0 else -scale * score
            flags[at - start] = z < threshold
            counts[j, 0] += 1
            if z < threshold:
                counts[j, 1] += 1
                loss += abs(signed[j]) * (1.0 - z / threshold)
        for at in range(start, start + size):
            if not flags[at - start]:
                continue
            j = visits[at]
            g = signed[j] / (size * scale)
            if has_kernel:
                square += g * (2.0 * scores[at] + g * G[at, at])
                v[j] += g
                u[j] += mass * g
                for k in range(visits.shape[0]):
                    scores[k] += g * G[at, k]
                continue
            later = mass * g
            if is_dense:
                if projects:
                    for k in range(last):
                        square += g * X[j, k] * (2.0 * v[k] + g * X[j, k])
                for k in range(last):
                    v[k] += g * X[j, k]
                if later != 0.0:
                    for k in range(last):
                        u[k] += later * X[j, k]
            else:
                if projects:
                    square += growth_csr(indices, data, indptr[j], indptr[j + 1], g, v)
                add_csr(indices, data, indptr[j], indptr[j + 1], g, later, v, u)
            square += g * s * (2.0 * v[last] + g * s)
            v[last] += g * s
            u[last] += later * s
        t += 1
        start += size
        if projects:  # stay in the ball: ‖v‖ · scale ≤ radius · λτ
            length, limit = np.sqrt(max(square, 0.0)) * scale, radius * max(lam * (t + 1 + offset), NEVER)
            scale = scale * limit / length if length > limit else scale
    numbers[T], numbers[MASS], numbers[LOSS], numbers[SCALE], numbers[SQUARE] = t, mass, loss, scale, square
    return start


@loop
def shares_since(before, now, out):
    """The second count over the first of each row, of what came after `before`; of all where nothing came; 0 without any."""
    for j in range(out.shape[0]):
        draws, hits = now[j, 0] - before[j, 0], now[j, 1] - before[j, 1]
        if draws == 0:
            draws, hits = now[j, 0], now[j, 1]
        out[j] = hits / max(draws, 1)


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
