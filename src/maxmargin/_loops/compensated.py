"""Sums of products in twice the working precision, compiled without any freedom to reorder.

Dot2 of Ogita, Rump & Oishi (SIAM J. Sci. Comput. 2005): each product and each sum is split into its rounded value and its
rounding error (Dekker, Knuth), and the errors are summed too. The result errs by u|result| + γ_k² Σ|x_i w_i|: where float64
has lost all digits to cancellation, this has them.
"""

import numpy as np

from maxmargin._loops.jit import loop_exact

SPLITTER = 134217729.0
"""2²⁷ + 1: Dekker's constant, which cuts a float64 into two halves of 26 bits."""


@loop_exact
def two_product(a, b):
    """(p, e): p = fl(ab) and ab = p + e exactly, unless something over- or underflows."""
    p = a * b
    c = SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = SPLITTER * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


@loop_exact
def two_sum(a, b):
    """(s, e): s = fl(a + b) and a + b = s + e exactly."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@loop_exact
def sum_twice(values):
    """(high, low): Σ of the values = high + low up to γ_k² Σ|values|."""
    high, low = 0.0, 0.0
    for k in range(values.shape[0]):
        high, e = two_sum(high, values[k])
        low += e
    return high, low


@loop_exact
def slacks_dense(X, rows, w, b, y, target, out):
    """out_k = target_k − y_k(⟨w, x⟩ + b) for the chosen rows x."""
    for k in range(rows.shape[0]):
        high, low = two_sum(target[k], -y[k] * b)
        for f in range(w.shape[0]):
            p, e = two_product(np.float64(X[rows[k], f]), -y[k] * w[f])
            high, t = two_sum(high, p)
            low += e + t
        out[k] = high + low


@loop_exact
def slacks_csr(indptr, indices, data, rows, w, b, y, target, out):
    """The same for rows of a CSR matrix."""
    for k in range(rows.shape[0]):
        high, low = two_sum(target[k], -y[k] * b)
        for j in range(indptr[rows[k]], indptr[rows[k] + 1]):
            p, e = two_product(np.float64(data[j]), -y[k] * w[indices[j]])
            high, t = two_sum(high, p)
            low += e + t
        out[k] = high + low


@loop_exact
def combine_dense(X, rows, beta, high, low):
    """high + low = Σ_k β_k x over the chosen rows x; both came as zeros."""
    for k in range(rows.shape[0]):
        for f in range(high.shape[0]):
            p, e = two_product(np.float64(X[rows[k], f]), beta[k])
            high[f], t = two_sum(high[f], p)
            low[f] += e + t


@loop_exact
def combine_csr(indptr, indices, data, rows, beta, high, low):
    """The same for rows of a CSR matrix."""
    for k in range(rows.shape[0]):
        for j in range(indptr[rows[k]], indptr[rows[k] + 1]):
            f = indices[j]
            p, e = two_product(np.float64(data[j]), beta[k])
            high[f], t = two_sum(high[f], p)
            low[f] += e + t


@loop_exact
def times(a_high, a_low, b_high, b_low):
    """The product of two numbers that are each a sum of two floats, as such a sum."""
    p, e = two_product(a_high, b_high)
    e += a_high * b_low + a_low * b_high
    return two_sum(p, e)


@loop_exact
def power_sums(X, Z, weights, gamma, constant, degree, out):
    """out_i = Σ_j weights_j (γ⟨x_i, z_j⟩ + constant)^degree, in twice the working precision throughout."""
    for i in range(X.shape[0]):
        total, rest = 0.0, 0.0
        for j in range(Z.shape[0]):
            high, low = 0.0, 0.0
            for f in range(X.shape[1]):
                p, e = two_product(X[i, f], Z[j, f])
                high, t = two_sum(high, p)
                low += e + t
            high, low = two_sum(high, low)
            high, low = times(high, low, gamma, 0.0)
            high, t = two_sum(high, constant)
            high, low = two_sum(high, low + t)
            power, power_low = weights[j], 0.0
            for _ in range(degree):
                power, power_low = times(power, power_low, high, low)
            total, t = two_sum(total, power)
            rest += t + power_low
        out[i] = total + rest
