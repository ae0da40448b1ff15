"""Stochastic subgradient steps over rows, compiled.

    min_w  (λ/2)‖w‖² + mean_j weight_j max(0, 1 − y_j⟨w, x̃_j⟩)

x̃_j is x_j with a constant feature s behind it (s = 0: none). Before step t the iterate is w = scale · v / (λτ), with τ = t for
SGD (Shalev-Shwartz & Ben-David, section 15.5) and τ = t − 1 for Pegasos; at τ = 0 it is 0. A step looks at a batch of visits and
adds their violations to v: O(non-zeros of its rows). So does the sum of the iterates,

    Σ_t m_t v_t = M v − u,    m_t = scale / (λτ),    M = Σ_t m_t,    u = Σ_t M_t (v_{t+1} − v_t)

which is never formed while stepping (Xu, "Towards optimal one pass large scale learning", 2011).
"""

import numpy as np

from maxmargin._loops.csr import dot_csr
from maxmargin._loops.jit import loop

# The numbers that a run carries along, by position: steps made, M, Σ of the losses met, scale, ‖v‖².
T, MASS, LOSS, SCALE, SQUARE, N_NUMBERS = 0, 1, 2, 3, 4, 5

NEVER = np.finfo(np.float64).tiny
"""The threshold at w = 0: every sample violates its margin there."""

FINE = 1e-3
"""A scale below this costs the sums their digits: the steps end early, for the scale to be multiplied into v."""


@loop
def threshold_of(lam, tau):
    """λτ, which y⟨v, x̃⟩ · scale has to reach."""
    return lam * tau if tau > 0 else NEVER


@loop
def look(y, score, threshold, weight, numbers):
    """Whether a sample of that score violates its margin; its loss is added up."""
    z = y * score * numbers[SCALE]
    if z < threshold:
        numbers[LOSS] += weight * (1.0 - z / threshold)
        return True
    return False


@loop
def end_step(lam, offset, radius, numbers):
    """Count the step, and shrink w into the ball of that radius."""
    numbers[T] += 1
    if radius < np.inf:
        length = np.sqrt(max(numbers[SQUARE], 0.0)) * numbers[SCALE]
        limit = radius * threshold_of(lam, numbers[T] + 1 + offset)
        if length > limit:
            numbers[SCALE] *= limit / length


@loop
def steps_csr(
    indptr, indices, data, y, weight, s, visits, batch, lam, offset, radius, v, u, numbers, draws, violations, flags
):
    """Step through the visits (row numbers of a CSR matrix), a batch at a time, and say how many were made.

    `flags` has room for a batch.
    """
    last = v.shape[0] - 1
    start = 0
    while start < visits.shape[0] and numbers[SCALE] >= FINE:
        size = min(batch, visits.shape[0] - start)
        tau = numbers[T] + 1 + offset
        threshold = threshold_of(lam, tau)
        if tau > 0:
            numbers[MASS] += numbers[SCALE] / threshold
        for i in range(size):
            j = visits[start + i]
            score = dot_csr(indices, data, v, indptr[j], indptr[j + 1]) + s * v[last]
            flags[i] = look(y[j], score, threshold, weight[j], numbers)
            draws[j] += 1
        for i in range(size):
            if flags[i]:
                j = visits[start + i]
                violations[j] += 1
                g = y[j] * weight[j] / (size * numbers[SCALE])
                later, grown = numbers[MASS] * g, 0.0
                for k in range(indptr[j], indptr[j + 1]):
                    at, add = indices[k], g * data[k]
                    grown += add * (2.0 * v[at] + add)
                    v[at] += add
                    u[at] += later * data[k]
                grown += g * s * (2.0 * v[last] + g * s)
                v[last] += g * s
                u[last] += later * s
                numbers[SQUARE] += grown
        end_step(lam, offset, radius, numbers)
        start += size
    return start


@loop
def steps_dense(X, y, weight, s, visits, batch, lam, offset, radius, v, u, numbers, draws, violations, flags):
    """The same for the rows of a dense matrix."""
    last = v.shape[0] - 1
    start = 0
    while start < visits.shape[0] and numbers[SCALE] >= FINE:
        size = min(batch, visits.shape[0] - start)
        tau = numbers[T] + 1 + offset
        threshold = threshold_of(lam, tau)
        if tau > 0:
            numbers[MASS] += numbers[SCALE] / threshold
        for i in range(size):
            j = visits[start + i]
            score = s * v[last]
            for k in range(last):
                score += v[k] * X[j, k]
            flags[i] = look(y[j], score, threshold, weight[j], numbers)
            draws[j] += 1
        for i in range(size):
            if flags[i]:
                j = visits[start + i]
                violations[j] += 1
                g = y[j] * weight[j] / (size * numbers[SCALE])
                later, grown = numbers[MASS] * g, 0.0
                for k in range(last):
                    add = g * X[j, k]
                    grown += add * (2.0 * v[k] + add)
                    v[k] += add
                    u[k] += later * X[j, k]
                grown += g * s * (2.0 * v[last] + g * s)
                v[last] += g * s
                u[last] += later * s
                numbers[SQUARE] += grown
        end_step(lam, offset, radius, numbers)
        start += size
    return start


@loop
def steps_gram(
    G, y, weight, visits, begin, end, scores, batch, lam, offset, radius, v, u, numbers, draws, violations, flags
):
    """The same with a kernel, for visits begin … end − 1; where the next one would be is returned.

    v and u hold coefficients of the samples, `scores` ⟨v, φ̃⟩ of all visits, later ones included, and G their Gram matrix.
    """
    start = begin
    while start < end and numbers[SCALE] >= FINE:
        size = min(batch, end - start)
        tau = numbers[T] + 1 + offset
        threshold = threshold_of(lam, tau)
        if tau > 0:
            numbers[MASS] += numbers[SCALE] / threshold
        for i in range(size):
            j = visits[start + i]
            flags[i] = look(y[j], scores[start + i], threshold, weight[j], numbers)
            draws[j] += 1
        for i in range(size):
            if flags[i]:
                at = start + i
                j = visits[at]
                violations[j] += 1
                g = y[j] * weight[j] / (size * numbers[SCALE])
                numbers[SQUARE] += g * (2.0 * scores[at] + g * G[at, at])
                v[j] += g
                u[j] += numbers[MASS] * g
                for k in range(visits.shape[0]):
                    scores[k] += g * G[at, k]
        end_step(lam, offset, radius, numbers)
        start += size
    return start


@loop
def draw_with_replacement(samples, seed, out):
    """Fill `out` with samples drawn uniformly, each draw by itself (xorshift64; the state is seed[0])."""
    state = seed[0]
    for i in range(out.shape[0]):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        out[i] = samples[np.int64(state % np.uint64(samples.shape[0]))]
    seed[0] = state
