"""What samples with the hinge add to a certificate, in one pass; compiled.

The formulas are those of `core.losses.corner.Hinge` for slacks m with an error of at most e, and α in [0, c]:

    residual ≤ (c − α)[m + e]₊ + α[e − m]₊,      c[m − e]₊ ≤ loss ≤ c[m + e]₊
"""

import math

from maxmargin._loops.compensated import sum_twice
from maxmargin._loops.jit import loop

(RESIDUAL, PLAIN, LOSS, LOSS_BELOW, SIZE, HIGH, LOW, CLOSEST, VIOLATION, OUTSIDE, ON, INSIDE, IS_LOST, N_SUMS) = range(14)
"""Positions. RESIDUAL: the bound of Σ residuals. PLAIN: the same without errors. LOSS, LOSS_BELOW: bounds of Σ losses. SIZE: Σα.
HIGH + LOW: Σβ. CLOSEST: the least yF. VIOLATION: the largest. OUTSIDE, ON, INSIDE: how many samples. IS_LOST: 1 if a product may
underflow.
"""

UNIT = 2.0**-53
"""The unit roundoff."""


@loop
def hinge_sums(slack, error, alpha, cost, y, starts, out):
    """out[p] for the samples starts[p] … of each problem, which stand one after the other. Products are rounded: see `Part`."""
    beta = alpha * y
    for p in range(starts.shape[0]):
        end = starts[p + 1] if p + 1 < starts.shape[0] else slack.shape[0]
        sums = out[p]
        sums[:] = 0.0
        sums[CLOSEST] = math.inf
        for j in range(starts[p], end):
            m, a, c = slack[j], alpha[j], cost[j]
            reach = error[j] * (1.0 + 4.0 * UNIT)
            wide = reach + 4.0 * UNIT * (1.0 + abs(m) + reach)  # 1 − m rounds too
            inside, outside = max(m, 0.0), max(-m, 0.0)
            sums[RESIDUAL] += (c - a) * max(m + reach, 0.0) + a * max(reach - m, 0.0)
            sums[PLAIN] += (c - a) * inside + a * outside
            sums[LOSS] += c * max(m + wide, 0.0)
            sums[LOSS_BELOW] += c * max(m - wide, 0.0)
            sums[SIZE] += a
            sums[CLOSEST] = min(sums[CLOSEST], 1.0 - m - error[j])
            if c > 0.0:
                share = a / c
                broken = max(min(inside, 1.0 - share), min(outside, share))
                sums[VIOLATION] = max(sums[VIOLATION], max(broken, max(-share, share - 1.0)))
                sums[OUTSIDE if a <= 0.0 else INSIDE if a >= c * (1.0 - 1e-12) else ON] += 1.0
            if m + reach > 0.0 or (a > 0.0 and reach - m > 0.0):
                sums[IS_LOST] = 1.0
            if not (abs(m) < math.inf and 0.0 <= error[j] < math.inf):  # max and min may hide NaN and infinities
                sums[RESIDUAL] = math.inf
        sums[HIGH], sums[LOW] = sum_twice(beta[starts[p] : end])
