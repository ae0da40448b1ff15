"""The passes of the proximal Newton method over samples and their rows, compiled.

With θ = α/c, the signed score z_j = y_j F_j and base_j = θ⁰_j + σ(r_j − z_j), the multipliers are θ_j = clip(base_j, 0, top).
A sample with 0 < base < top is *bent*: it adds c_j x_j x_jᵀ to the Hessian.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.linear.csr import dot_csr


@loop
def respond(centre, sigma, z, target, cost, top, keep, begin, end, base, theta, bent, change, turned):
    """Set base, θ and `bent` of samples begin … end − 1 for their scores z.

    With `keep`, bent samples stay bent and their θ may leave the box: the linear model of the round before, carried on. Notes the
    change of each c_jθ_j, and which samples became bent (1) or straight (−1). Returns the number of bent ones, the shares of the
    gap, and the losses: hinge where top = 1, else squared hinge.
    """
    n_bent, residual, loss = 0, 0.0, 0.0
    for j in range(begin, end):
        m = target[j] - z[j]
        at = centre[j] + sigma * m
        base[j] = at
        stays = keep and bent[j]
        new = at if stays else min(max(at, 0.0), top)
        excess, beyond = max(m, 0.0), max(-m, 0.0)
        if top == 1.0:
            residual += cost[j] * ((1.0 - new) * excess + new * beyond)
            loss += cost[j] * excess
        else:
            residual += cost[j] * ((excess - 0.5 * new) * (excess - 0.5 * new) + new * beyond)
            loss += cost[j] * excess * excess
        change[j] = cost[j] * (new - theta[j])
        theta[j] = new
        is_bent = stays or 0.0 < at < top
        n_bent += is_bent
        turned[j] = np.int8(is_bent) - np.int8(bent[j])
        bent[j] = is_bent
    return n_bent, residual, loss


@loop
def fall(base, dz, cost, sigma, t, top, begin, end):
    """Σ c_j θ_j dz_j over samples begin … end − 1 after a step t along dz: how fast the losses fall there."""
    total = 0.0
    for j in range(begin, end):
        total += cost[j] * min(max(base[j] - sigma * t * dz[j], 0.0), top) * dz[j]
    return total


@loop
def signed_scores_csr(indptr, indices, data, y, w, constant, begin, end, out):
    """out_j = y_j(⟨w, x_j⟩ + constant) for rows begin … end − 1."""
    for j in range(begin, end):
        out[j] = y[j] * (dot_csr(indices, data, w, indptr[j], indptr[j + 1]) + constant)


@loop
def signed_scores_dense(X, y, w, constant, begin, end, out):
    """The same for dense rows."""
    for j in range(begin, end):
        total = 0.0
        for k in range(X.shape[1]):
            total += w[k] * X[j, k]
        out[j] = y[j] * (total + constant)


@loop
def add_rows_csr(indptr, indices, data, rows, weights, constant, out):
    """out += Σ weight_i (x_j, constant) over the listed rows j."""
    last = out.shape[0] - 1
    for i in range(rows.shape[0]):
        j = rows[i]
        for k in range(indptr[j], indptr[j + 1]):
            out[indices[k]] += weights[i] * data[k]
        out[last] += weights[i] * constant


@loop
def add_rows_dense(X, rows, weights, constant, out):
    """The same for dense rows."""
    last = out.shape[0] - 1
    for i in range(rows.shape[0]):
        for k in range(X.shape[1]):
            out[k] += weights[i] * X[rows[i], k]
        out[last] += weights[i] * constant


@loop
def add_squares_csr(indptr, indices, data, rows, weights, constant, out):
    """The lower half of out += Σ weight_i (x_j, constant)(x_j, constant)ᵀ over the listed rows j, whose indices are sorted."""
    last = out.shape[0] - 1
    for i in range(rows.shape[0]):
        j = rows[i]
        for k in range(indptr[j], indptr[j + 1]):
            scaled = weights[i] * data[k]
            a = indices[k]
            for m in range(indptr[j], k + 1):
                out[a, indices[m]] += scaled * data[m]
            out[last, a] += scaled * constant
        out[last, last] += weights[i] * constant * constant
