"""How the bounds of one problem, or of each of several, make up its certificate; compiled as written, nothing is reordered.

    gap ≤ Σ R_j + (Ω(w) + Ω*(w(β)) − ⟨w, w(β)⟩) + the price of Σβ = τ

Each function takes and returns numbers; `core.certificate` says what they mean. Sums are made by `hinge_sums`; every bound
covers any order of its terms.
"""

import math

import numpy as np

from maxmargin._loops.hinge_sums import (
    CLOSEST,
    HIGH,
    INSIDE,
    IS_LOST,
    LOSS,
    LOSS_BELOW,
    LOW,
    N_SUMS,
    ON,
    OUTSIDE,
    PLAIN,
    RESIDUAL,
    SIZE,
    UNIT,
    VIOLATION,
    hinge_sums,
)
from maxmargin._loops.jit import loop, loop_exact

SMALLEST = 2.0**-1022
"""The smallest normal float64: also more than a product can lose where it underflows."""

N_NUMBERS = 12
"""Numbers of a certificate, in the order of its first fields."""


@loop_exact
def gamma(k):
    """As `rounding.gamma`."""
    ku = k * UNIT * (1.0 + 4.0 * UNIT)
    return ku / (1.0 - ku) * (1.0 + 8.0 * UNIT) if ku < 1.0 else math.inf


@loop_exact
def raised(value, k):
    """As `rounding.raised`."""
    return value * (1.0 + gamma(k + 4))


@loop_exact
def bounds_of_sums(sums, n):
    """(residual, loss, loss below, gain, error of Σβ, closest) of n samples, from their `hinge_sums`."""
    up, lost = 1.0 + 8.0 * UNIT, sums[IS_LOST] * (n * SMALLEST)
    share = gamma(n)
    return (
        raised(sums[RESIDUAL] * up, n) + lost,
        raised(sums[LOSS] * up, n) + lost,
        sums[LOSS_BELOW] * (1.0 - 8.0 * UNIT) * (1.0 - gamma(n + 4)),
        sums[SIZE] * (1.0 - gamma(n + 4)),
        raised(2.0 * share * share * sums[SIZE] + UNIT * abs(sums[LOW]), 0),
        sums[CLOSEST] - 4.0 * UNIT * (1.0 + abs(sums[CLOSEST])),
    )


@loop_exact
def beyond(high, low, low_error, total):
    """(|Σβ − total| from above, whether Σβ is larger), for Σβ = high + low."""
    apart = high - total
    rest = apart + low
    slip = low_error + 2.0 * UNIT * (abs(apart) + abs(rest))
    return raised(abs(rest) + slip, 0), rest > 0.0


@loop_exact
def price_of_balance(s, alpha, slack, length, diagonal, target, distance, conjugate, count):
    """(what is added to the gap, taken from D, and by how much w(β) moves) where a sample gives up s of its α.

    NaN as the distance is L1's, where w(β) has room for it. Where `count` groups do so at once,
    ½‖Σ s_gφ_g‖² ≤ count · Σ ½s_g²‖φ_g‖².
    """
    if s == 0.0:
        return 0.0, 0.0, 0.0
    if not (alpha >= s and slack < math.inf):
        return math.inf, math.inf, math.inf
    is_l1 = math.isnan(distance)
    moved = 0.0 if is_l1 else s * length  # s² alone may overflow where α is huge
    charge = s * slack + moved * (0.0 if is_l1 else distance)
    charge = charge + 0.5 * (count * moved * moved + s * (s * diagonal))
    lost = s * target + moved * math.sqrt(max(2.0 * conjugate, 0.0)) + 0.5 * count * moved * moved
    return raised(charge, 8), raised(lost, 8), raised(moved, 8)


@loop_exact
def larger(x, y):
    """The larger of two numbers, one of which may be NaN."""
    return x if x > y or math.isnan(y) else y


@loop_exact
def assemble(
    residual, loss, loss_below, gain, closest, value, value_below, conjugate, apart, norm, norm_below, distance, plain,
    charge, lost, moved, shift, slip, least,
):  # fmt: skip
    """(primal, dual, gap, relative gap, margin, distance, rounding): bounds, as in `Certificate`.

    plain : the gap as the formulas gave it. shift, slip : Στb and the bound of its error. least : of the denominator.
    """
    gap = raised(residual + apart + charge, 0)
    primal = value + loss + shift
    primal += 8.0 * UNIT * (abs(value) + abs(loss) + abs(shift)) + slip
    dual = gain - (conjugate + lost)
    dual -= 4.0 * UNIT * (abs(gain) + abs(conjugate) + lost)
    below = value_below + loss_below + shift
    below -= 8.0 * UNIT * (abs(value_below) + abs(loss_below) + abs(shift)) + slip
    dual = larger(dual, below - gap - 4.0 * UNIT * (abs(below) + gap))  # D = P − gap
    size = larger(larger(below, dual), larger(-primal, least))
    norm = norm if closest > 0.0 else norm_below
    margin = closest / norm * (1.0 - math.copysign(4.0 * UNIT, closest)) if norm_below > 0.0 else math.nan
    if moved != 0.0:
        distance = raised(distance + moved, 0)
    if math.isnan(dual):
        dual = -math.inf
    if not abs(gap) < math.inf:
        return math.inf, dual, math.inf, math.inf, margin, distance, math.inf
    if math.isnan(primal):
        primal = math.inf
    return primal, dual, gap, raised(gap / size, 0), margin, distance, larger(gap - plain, 0.0)


@loop_exact
def pair_of_expansion(own, own_error):
    """(Ω above, Ω below, Ω* above, ‖w‖ above, ‖w‖ below) from Σβ_jf_j = ‖w‖², which errs by so much; w = w(β)."""
    high, low = own + own_error, own - own_error
    value = 0.5 * (high + 16.0 * UNIT * abs(high))
    norm_below = math.sqrt(max(low, 0.0)) * (1.0 - 4.0 * UNIT)
    return value, 0.5 * (low - 16.0 * UNIT * abs(low)), value, raised(math.sqrt(max(high, 0.0)), 0), norm_below


@loop
def sums_of_expansion(beta, f, error, share):
    """Σβf, and Σ|β|(error + share·|f|)."""
    own, its_error = 0.0, 0.0
    for j in range(beta.shape[0]):
        own += beta[j] * f[j]
        its_error += abs(beta[j]) * (error[j] + share * abs(f[j]))
    return own, its_error


@loop
def square_of(w):
    """Σw²; the smallest normal number where it is 0 only because it underflows."""
    total, used = 0.0, False
    for k in range(w.shape[0]):
        total += w[k] * w[k]
        used = used or w[k] != 0.0
    return max(total, SMALLEST) if used else 0.0


@loop_exact
def length_of(w):
    """Bounds of ‖w‖, from above and from below."""
    square, d = square_of(w), w.shape[0]
    if square == 0.0:
        return 0.0, 0.0
    above = math.sqrt(raised(square + 2.0 * d * SMALLEST, d + 2)) * (1.0 + 4.0 * UNIT)
    return above, math.sqrt(max(square - (2.0 * d + 2.0) * SMALLEST, 0.0)) * (1.0 - gamma(d + 8))


@loop
def bulk_of(beta, lengths, rows):
    """(Σ|β_j|‖x_j‖, how many β are not 0)."""
    total, used = 0.0, 0
    for j in range(beta.shape[0]):
        total += abs(beta[j]) * lengths[rows[j]]
        used += beta[j] != 0.0
    return total, used


@loop_exact
def giver(slack, error, beta, s, sign):
    """(which sample can give up s of its α at the least price, its slack from above); of the class with that sign."""
    best, nearest = 0, math.inf
    for j in range(slack.shape[0]):
        if sign * beta[j] >= s and abs(slack[j]) + error[j] < nearest:
            best, nearest = j, abs(slack[j]) + error[j]
    return best, nearest


@loop_exact
def slacks_of(f, error, y, biases, starts, slack, slack_error):
    """m = 1 − y(f + b) of all samples, with bounds: two roundings more than those of f."""
    for p in range(biases.shape[0]):
        for j in range(starts[p], starts[p + 1]):
            decision = f[j] + biases[p]
            slack[j] = 1.0 - y[j] * decision
            slack_error[j] = (error[j] + UNIT * (abs(decision) + abs(slack[j]))) * (1.0 + 8.0 * UNIT)


@loop_exact
def hinge_certificates(
    f, error, beta, y, cost, biases, rows, starts, lengths, weights, made, width, is_free, slack, slack_error, out
):  # fmt: skip
    """The certificates of hinge problems, whose samples stand one after the other; fills `out` and the slacks.

    f errs by at most `error`. weights, made : the w of linear problems, and w(β) as it was summed, a row each; their columns from
    `width` on belong to a penalised bias. Of no rows where w = w(β) is an expansion.
    """
    slacks_of(f, error, y, biases, starts, slack, slack_error)
    sums = np.empty((biases.shape[0], N_SUMS))
    hinge_sums(slack, slack_error, beta * y, cost, y, starts[:-1], sums)
    for p in range(biases.shape[0]):
        first, last, own = starts[p], starts[p + 1], sums[p]
        n = last - first
        residual, loss, loss_below, gain, low_error, closest = bounds_of_sums(own, n)
        if weights.shape[0] == 0:
            total, its_error = sums_of_expansion(beta[first:last], f[first:last], error[first:last], gamma(n + 4))
            own_error = raised(its_error, n) + 4.0 * n * SMALLEST
            value, value_below, conjugate, norm, norm_below = pair_of_expansion(total, own_error)
            apart, distance, is_psd = 0.0, 0.0, total + own_error >= 0.0
        else:
            whole, below = length_of(weights[p])
            norm, norm_below = length_of(weights[p, :width])
            bulk, used = bulk_of(beta[first:last], lengths, rows[first:last])
            made_error = raised(gamma(used + 2) * raised(bulk, used) + 8.0 * used * math.sqrt(weights.shape[1]) * SMALLEST, 4)
            between = length_of(weights[p] - made[p])[0]
            distance, is_psd = raised(between + 2.0 * UNIT * between + made_error, 0), True
            value, value_below = raised(0.5 * whole * whole, 4), 0.5 * below * below * (1.0 - 8.0 * UNIT)
            size = length_of(made[p])[0] + made_error
            conjugate, apart = raised(0.5 * size * size, 4), raised(0.5 * distance * distance, 0)
            own[PLAIN] += 0.5 * between * between
        charge, lost, moved = 0.0, 0.0, 0.0
        if is_free:
            s, is_more = beyond(own[HIGH], own[LOW], low_error, 0.0)
            j, nearest = giver(slack[first:last], slack_error[first:last], beta[first:last], s, 1.0 if is_more else -1.0)
            spare, length = abs(beta[first + j]), lengths[rows[first + j]]
            charge, lost, moved = price_of_balance(s, spare, raised(nearest, 0), length, 0.0, 1.0, distance, conjugate, 1.0)
        primal, dual, gap, relative, margin, distance, rounding = assemble(
            residual, loss, loss_below, gain, closest, value, value_below, conjugate, apart, norm, norm_below, distance,
            own[PLAIN], charge, lost, moved, 0.0, 0.0, SMALLEST,
        )  # fmt: skip
        line = out[p]
        line[0], line[1], line[2], line[3], line[4] = primal, dual, gap, relative, own[VIOLATION]
        line[5], line[6], line[7] = own[OUTSIDE], own[ON], own[INSIDE]
        line[8], line[9], line[10], line[11] = margin, distance, is_psd, rounding
