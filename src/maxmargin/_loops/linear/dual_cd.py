"""Sweeps of dual coordinate descent over rows, compiled.

    min_α  ½‖Σ α_j y_j x̃_j‖² + ½ Σ δ_j α_j² − Σ (r_j − y_j b₀) α_j     s.t.  0 ≤ α ≤ u

x̃_j is x_j with a constant feature s behind it (s = 0: none); w = Σ α_j y_j x̃_j is kept up to date (less sτ in its last
entry, where Σβ is to be τ). One visit minimises over one α_j: O(non-zeros of the row). Algorithm 1 of Hsieh et al. (ICML
2008) with their shrinking rule, over chunks of neighbours in a fresh random order each sweep.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.linear.csr import dot_csr

# What a sweep reports, by position in `report`.
HIGHEST, LOWEST, RESIDUAL, N_ACTIVE, GAIN, N_FIELDS = 0, 1, 2, 3, 4, 5


@loop
def shuffle(order, count, chunk, seed, out):
    """Put the first `count` entries into `out`, in chunks of neighbours in a random order (xorshift64; the state is seed[0]).

    Neighbours stay together because memory is read fastest in order: a row after a random one costs twice its own length.
    """
    n_chunks = (count + chunk - 1) // chunk
    starts = np.arange(n_chunks)
    state = seed[0]
    for i in range(n_chunks - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = np.int64(state % np.uint64(i + 1))
        starts[i], starts[j] = starts[j], starts[i]
    seed[0] = state
    at = 0
    for i in range(n_chunks):
        for k in range(starts[i] * chunk, min(starts[i] * chunk + chunk, count)):
            out[at] = order[k]
            at += 1


@loop
def residual(m, a, u, delta):
    """The sample's share of the duality gap, from its slack m = 1 − yF and its α."""
    if delta > 0.0:  # squared hinge: δ = 1/(2c)
        if m > 0.0:
            return (m - a * delta) * (m - a * delta) / (2.0 * delta)
        return -a * m + 0.5 * a * a * delta
    return (u - a) * m if m > 0.0 else -a * m


@loop
def is_settled(g, a, u, thresholds):
    """Whether α sits on a bound and its gradient pushes it there harder than any gradient of the last sweep: shrink it."""
    return (a == 0.0 and g > thresholds[0]) or (a == u and g < thresholds[1])


@loop
def project(g, a, u):
    """The part of the gradient that the box lets through."""
    return 0.0 if (a == 0.0 and g > 0.0) or (a == u and g < 0.0) else g


@loop
def look(F, a, y, target, u, delta, square, thresholds):
    """(whether the sample stays active, its next α, the gradient that the box lets through, its share of the gap, the gain).

    F is its decision value, a its α now; the next α is the minimum over it alone.
    """
    m = target - y * F
    g = delta * a - m
    if is_settled(g, a, u, thresholds):
        return False, a, 0.0, 0.0, 0.0
    projected = project(g, a, u)
    new = a if projected == 0.0 else min(max(a - g / square, 0.0), u)
    return True, new, projected, residual(m, a, u, delta), -(new - a) * (g + 0.5 * square * (new - a))


@loop
def sweep_csr(
    indptr, indices, data, y, target, upper, delta, square, alpha, w, s, b0, boost,
    order, n_active, thresholds, chunk, seed, visits, report,
):  # fmt: skip
    """Visit the active samples of a CSR matrix once; changes alpha, w, order and seed in place, fills report.

    The first n_active entries of `order` are active; those that remain so are put in front, in the order of their visits. What a
    step adds to w counts `boost` times: 1, or more where others move other samples at the same time (`square` must say so too).
    """
    shuffle(order, n_active, chunk, seed, visits)
    last = w.shape[0] - 1
    highest, lowest, total, gain, kept = -np.inf, np.inf, 0.0, 0.0, 0
    for i in range(n_active):
        j = visits[i]
        a, begin, end = alpha[j], indptr[j], indptr[j + 1]
        F = b0 + s * w[last] + dot_csr(indices, data, w, begin, end)
        stays, new, g, share, gained = look(F, a, y[j], target[j], upper[j], delta[j], square[j], thresholds)
        if stays:
            order[kept] = j
            kept += 1
            highest, lowest, total, gain = max(highest, g), min(lowest, g), total + share, gain + gained
        if new != a:
            alpha[j] = new
            step = boost * (new - a) * y[j]
            for k in range(begin, end):
                w[indices[k]] += step * data[k]
            w[last] += step * s
    report[HIGHEST], report[LOWEST], report[RESIDUAL] = highest, lowest, total
    report[N_ACTIVE], report[GAIN] = kept, gain


@loop
def sweep_dense(
    X, y, target, upper, delta, square, alpha, w, s, b0, boost,
    order, n_active, thresholds, chunk, seed, visits, report,
):  # fmt: skip
    """The same for the rows of a dense matrix."""
    shuffle(order, n_active, chunk, seed, visits)
    last = w.shape[0] - 1
    highest, lowest, total, gain, kept = -np.inf, np.inf, 0.0, 0.0, 0
    for i in range(n_active):
        j = visits[i]
        a, F = alpha[j], b0 + s * w[last]
        for k in range(last):
            F += w[k] * X[j, k]
        stays, new, g, share, gained = look(F, a, y[j], target[j], upper[j], delta[j], square[j], thresholds)
        if stays:
            order[kept] = j
            kept += 1
            highest, lowest, total, gain = max(highest, g), min(lowest, g), total + share, gain + gained
        if new != a:
            alpha[j] = new
            step = boost * (new - a) * y[j]
            for k in range(last):
                w[k] += step * X[j, k]
            w[last] += step * s
    report[HIGHEST], report[LOWEST], report[RESIDUAL] = highest, lowest, total
    report[N_ACTIVE], report[GAIN] = kept, gain
