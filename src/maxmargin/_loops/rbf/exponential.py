"""exp of non-positive numbers, in vectors.

    e^x = 2^k e^t,   k = ⌊x / ln 2 + ½⌋,   |t| ≤ ½ ln 2

e^t by a polynomial (Taylor's of degree 13 in float64; Cephes' of degree 7 in float32), 2^k by its bits. Without branches, so
that the compiler makes vectors of it: three times as fast as `numpy.exp` where that has no AVX-512. Errors: 4 units
of the last place at
most. Positive numbers count as 0, NaN stays, and what is below e^−708 (e^−87) is 0.
"""

import numpy as np

from maxmargin._loops.jit import by_precision, loop_as_written


@loop_as_written
def exp64_of(given):
    """exp(min(x, 0)) of one float64."""
    x = min(max(given, -708.0), 0.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    t = x - k * 6.93145751953125e-1 - k * 1.42860682030941723212e-6
    p = 1.0 / 6227020800.0
    p = p * t + 1.0 / 479001600.0
    p = p * t + 1.0 / 39916800.0
    p = p * t + 1.0 / 3628800.0
    p = p * t + 1.0 / 362880.0
    p = p * t + 1.0 / 40320.0
    p = p * t + 1.0 / 5040.0
    p = p * t + 1.0 / 720.0
    p = p * t + 1.0 / 120.0
    p = p * t + 1.0 / 24.0
    p = p * t + 1.0 / 6.0
    p = p * t + 0.5
    p = p * t + 1.0
    p = p * t + 1.0
    power = np.int64((np.int64(np.int32(k)) + 1023) << 52).view(np.float64)
    value = p * power if given >= -708.0 else 0.0
    return value if given == given else given


@loop_as_written
def exp32_of(given):
    """exp(min(x, 0)) of one float32."""
    lowest, zero, one = np.float32(-87.0), np.float32(0.0), np.float32(1.0)
    x = min(max(given, lowest), zero)
    k = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    t = x - k * np.float32(0.693359375) - k * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * t + np.float32(1.3981999507e-3)
    p = p * t + np.float32(8.3334519073e-3)
    p = p * t + np.float32(4.1665795894e-2)
    p = p * t + np.float32(1.6666665459e-1)
    p = p * t + np.float32(5.0000001201e-1)
    p = p * t * t + t + one
    power = np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
    value = p * power if given >= lowest else zero
    return value if given == given else given


exp_of = by_precision(exp32_of, exp64_of)
"""`exp32_of` or `exp64_of`, as the number is; for compiled loops."""


@loop_as_written
def exponentiate(values):
    """Replace each x of a vector by exp(min(x, 0)); O(1.5 ns) a value in float64, O(0.4 ns) in float32."""
    for k in range(values.shape[0]):
        values[k] = exp_of(values[k])


@loop_as_written
def exponentiate_less(values, left, right):
    """Replace each x_ij of a matrix by exp(min(x_ij − left_i − right_j, 0))."""
    for i in range(values.shape[0]):
        row, own = values[i], left[i]
        for j in range(row.shape[0]):
            row[j] = exp_of(row[j] - own - right[j])
