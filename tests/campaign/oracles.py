"""The objective without rounding: what P(w, b) of stored numbers is, as rational numbers.

    P(w, b) = Ω(w) + Σ_j c_j ℓ(1 − y_j F_j),      F_j = ⟨w, φ(x_j)⟩ + b

This module shares no code with `maxmargin.core`. Doubles are integers times a power of two, so sums and products of them are
exact in Python's integers. Values of exp come from `decimal`, which rounds correctly, with 64 digits; the error that this leaves
is charged, so `Value` is an interval that holds P. It is one point where the kernel is rational.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

DIGITS = Context(prec=64, Emin=-(10**9), Emax=10**9)
"""Decimal digits of exp and tanh: 2^-205 and more of absolute error are left."""

KERNEL_BITS = 256
"""Bits behind the point of a rounded kernel value."""

KERNEL_ERROR = Fraction(1, 2**200)
"""Bound of |rounded − true| of a kernel value in [−1, 1]: 3 · 10^-64 · |t e^-t| for the exponent, 2^-257 for the last bit."""

VANISHES = 200
"""Exponent from which e^-t is below half a unit of the last bit: e^-200 < 2^-288."""


class Value(NamedTuple):
    """An interval that holds a real number."""

    low: Fraction
    high: Fraction


class Dyadic(NamedTuple):
    """Integers times 2^exponent."""

    whole: Any
    exponent: int

    @property
    def unit(self) -> Fraction:
        """2^exponent."""
        return two_to(self.exponent)

    def floats(self) -> Any:
        """The nearest doubles."""
        unit = self.unit
        return np.array([float(v * unit) for v in self.whole.ravel()]).reshape(self.whole.shape)


def two_to(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)


def dyadic(values: Any) -> Dyadic:
    """Float arrays (float32 too) as integers, exactly."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    exponent = exponent.astype(np.int64) - 53
    used = whole != 0
    lowest = int(exponent[used].min()) if used.any() else 0
    shift = np.where(used, exponent - lowest, 0)
    return Dyadic(whole.astype(object) << shift.astype(object), lowest)


class SparseRows(NamedTuple):
    """CSR rows as integers times 2^exponent."""

    entries: Dyadic
    columns: Any
    ends: Any

    @property
    def exponent(self) -> int:
        """That of the entries."""
        return self.entries.exponent

    def times(self, w: Any) -> Any:
        """⟨x_j, w⟩ of each row, in integers."""
        products = self.entries.whole * w[self.columns]
        return np.array([sum(products[a:b]) for a, b in zip(self.ends[:-1], self.ends[1:], strict=True)], dtype=object)


def exact_rows(X: Any) -> "Dyadic | SparseRows":
    """The rows of a linear problem, exactly."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        return SparseRows(dyadic(X.data), X.indices, X.indptr)
    return dyadic(X)


def dense(X: Any) -> Any:
    """The matrix as float64; nothing is rounded."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


# -- kernels ---------------------------------------------------------------------------------------------------------


class Gram(NamedTuple):
    """Kernel values of all pairs, and a bound of the error of each."""

    values: Dyadic
    error: Fraction = Fraction(0)


def inner_products(X: Dyadic) -> Dyadic:
    """⟨x_i, x_j⟩, exactly."""
    return Dyadic(X.whole @ X.whole.T, 2 * X.exponent)


def rbf(X: Any, gamma: float) -> Gram:
    """exp(−γ‖x_i − x_j‖²): exact distances of the rows as given, then 64 digits."""
    rows = dyadic(dense(X))
    n = len(rows.whole)
    unit = rows.unit**2 * Fraction(gamma)
    out = np.empty((n, n), dtype=object)
    for i in range(n):
        apart = rows.whole[i:] - rows.whole[i]
        out[i, i:] = [_exp(square * unit) for square in (apart * apart).sum(axis=1)]
        out[i:, i] = out[i, i:]
    return Gram(Dyadic(out, -KERNEL_BITS), KERNEL_ERROR)


def _exp(t: Fraction) -> int:
    """e^-t in units of 2^-KERNEL_BITS, t ≥ 0."""
    if t > VANISHES:
        return 0
    return _rounded(DIGITS.exp(-_decimal(t)))


def _decimal(t: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(t.numerator), Decimal(t.denominator))


def _rounded(value: Decimal) -> int:
    numerator, denominator = value.as_integer_ratio()
    return ((numerator << KERNEL_BITS + 1) // denominator + 1) >> 1


def polynomial(X: Any, degree: int, gamma: float, coef0: float) -> Gram:
    """(γ⟨x_i, x_j⟩ + c₀)^degree, exactly."""
    inner, g, c = inner_products(dyadic(dense(X))), dyadic(gamma), dyadic(coef0)
    exponent = inner.exponent + g.exponent
    lowest = min(exponent, c.exponent)
    base = inner.whole * (int(g.whole) << exponent - lowest) + (int(c.whole) << c.exponent - lowest)
    return Gram(Dyadic(base**degree, lowest * degree))


def sigmoid(X: Any, gamma: float, coef0: float) -> Gram:
    """tanh(γ⟨x_i, x_j⟩ + c₀), by 64 digits of e^(−2|s|)."""
    inner = inner_products(dyadic(dense(X)))
    unit = inner.unit * Fraction(gamma)
    one = 1 << KERNEL_BITS

    def tanh(product: int) -> int:
        s = product * unit + Fraction(coef0)
        e = _exp(2 * abs(s))
        value = ((one - e) << KERNEL_BITS) // (one + e)
        return value if s >= 0 else -value

    return Gram(Dyadic(np.vectorize(tanh, otypes=[object])(inner.whole), -KERNEL_BITS), KERNEL_ERROR)


def given(K: Any) -> Gram:
    """Kernel values that are the definition: a precomputed matrix, a function's values."""
    return Gram(dyadic(dense(K)))


# -- the objective ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """A binary problem in exact numbers: rows X where it is linear, else kernel values."""

    y: Any
    cost: Any
    is_squared: bool = False
    is_l1: bool = False
    bias: str = "free"
    scale: float = 0.0
    X: "Dyadic | SparseRows | None" = None
    gram: Gram | None = None

    @property
    def on(self) -> Any:
        """The samples that count."""
        return np.flatnonzero(self.cost > 0)

    @property
    def is_hard(self) -> bool:
        """Whether all costs are infinite."""
        return bool(np.isinf(self.cost).any())

    def point(self, w: Any) -> "Point":
        """What is known of a vector of the feature space: d weights, or n coefficients; doubles."""
        w = dyadic(w)
        if self.X is not None:
            scores = self.X.times(w.whole) if isinstance(self.X, SparseRows) else self.X.whole @ w.whole
            f = Dyadic(scores, self.X.exponent + w.exponent)
            if self.is_l1:
                return Point(f, Fraction(0), int(np.abs(w.whole).sum()) * w.unit)
            return Point(f, Fraction(0), Fraction(int(w.whole @ w.whole), 2) * w.unit**2)
        assert self.gram is not None
        K = self.gram.values
        f = Dyadic(K.whole @ w.whole, K.exponent + w.exponent)
        size = int(np.abs(w.whole).sum()) * w.unit
        square = int(w.whole @ f.whole) * w.unit * f.unit
        return Point(f, size * self.gram.error, square / 2, size**2 * self.gram.error / 2)

    def primal(self, point: "Point", b: Fraction | float) -> Value | None:
        """P(w, b); for the hard margin P of (w, b) divided by the least margin, None where that is not positive."""
        b, f, on = Fraction(b), point.f, self.on
        regular = point.regular
        if self.bias == "penalized":
            weight = b / Fraction(self.scale)
            regular += abs(weight) if self.is_l1 else weight * weight / 2
        # margins yF in units of 1 / whole
        whole = b.denominator * 2 ** max(0, -f.exponent)
        factor, shift = b.denominator * 2 ** max(0, f.exponent), b.numerator * (whole // b.denominator)
        sign = self.y[on].astype(np.int64).astype(object)
        z = sign * (f.whole[on] * factor + shift)
        if self.is_hard:
            closest, e = Fraction(int(z.min()), whole), point.error
            if closest - e <= 0:
                return None
            low = max(regular - point.regular_error, Fraction(0)) / (closest + e) ** 2
            return Value(low, (regular + point.regular_error) / (closest - e) ** 2)
        slack = np.maximum(whole - z, 0)
        cost = dyadic(self.cost[on])
        power = 2 if self.is_squared else 1
        loss = Fraction(int(cost.whole @ slack**power), whole**power) * cost.unit
        error = point.regular_error
        if e := point.error:
            total, weighted = int(cost.whole.sum()) * cost.unit, Fraction(int(cost.whole @ slack), whole) * cost.unit
            error += 2 * e * weighted + total * e * e if self.is_squared else total * e
        return Value(regular + loss - error, regular + loss + error)

    def best_bias(self, point: "Point", start: float = 0.0) -> Fraction:
        """A minimiser of P(w, ·), exact up to the error of kernel values; `start` where the bias is not free."""
        if self.bias != "free":
            return Fraction(start)
        f, on = point.f, self.on
        scores, sign = f.whole[on], self.y[on].astype(np.int64).astype(object)
        if self.is_hard:
            return -Fraction(int(scores[sign > 0].min()) + int(scores[sign < 0].max()), 2) * f.unit
        cost = dyadic(self.cost[on]).whole
        unit = f.unit
        kinks = [s - v * unit for s, v in zip(sign, scores, strict=True)]  # where yF = 1
        order = sorted(range(len(on)), key=kinks.__getitem__)
        if not self.is_squared:
            slope = -int(cost[sign > 0].sum())
            for j in order:
                slope += int(cost[j])
                if slope >= 0:
                    return kinks[j]
        # squared: the slope is linear between kinks; positives count below their kink, negatives above theirs
        weight = sum(cost[j] for j in order if sign[j] > 0)
        moment = sum((cost[j] * kinks[j] for j in order if sign[j] > 0), Fraction(0))
        for place, j in enumerate(order):
            weight -= sign[j] * cost[j]
            moment -= sign[j] * cost[j] * kinks[j]
            last = place + 1 == len(order)
            if weight > 0 and kinks[j] <= (b := moment / weight) and (last or b <= kinks[order[place + 1]]):
                return b
        return kinks[order[len(order) // 2]]


class Point(NamedTuple):
    """Scores f_j = ⟨w, φ(x_j)⟩ with the bound of their errors, and Ω(w) with the bound of its own."""

    f: Dyadic
    error: Fraction
    regular: Fraction
    regular_error: Fraction = Fraction(0)


# -- the dual: only to say how large a gap is, and to know where an optimum lies --------------------------------------


def feasible(machine: Machine, beta: Any) -> list[Fraction] | None:
    """The dual point in rational numbers: clipped into the box, Σβ moved onto samples with room if the bias is free."""
    out = []
    for b, y, c in zip(beta, machine.y, machine.cost, strict=True):
        alpha = max(Fraction(float(b * y)), Fraction(0))
        if c == 0:
            alpha = Fraction(0)
        elif not machine.is_squared and np.isfinite(c):
            alpha = min(alpha, Fraction(float(c)))
        out.append(alpha * int(y))
    if machine.bias != "free":
        return out
    # the sum is lowered at the samples whose α shrinks by that: no upper bound is in the way
    rest = sum(out)
    for j in sorted(machine.on, key=lambda j: -abs(out[j])):
        if rest * int(machine.y[j]) > 0:
            step = min(abs(rest), abs(out[j])) * int(machine.y[j])
            out[j] -= step
            rest -= step
    return out if rest == 0 else None


def dual(machine: Machine, beta: list[Fraction]) -> Value:
    """D(β) of a feasible β of a machine with the L2 penalty."""
    denominator = max((v.denominator for v in beta), default=1)  # all are powers of two
    whole = np.array([v.numerator * (denominator // v.denominator) for v in beta], dtype=object)
    total = Fraction(int(whole.sum()), denominator)
    gain = Fraction(int(sum(abs(v) for v in whole)), denominator)
    if machine.is_squared and not machine.is_hard:
        gain -= sum((v * v / (4 * Fraction(float(c))) for v, c in zip(beta, machine.cost, strict=True) if c > 0), Fraction(0))
    error = Fraction(0)
    if machine.X is not None:
        assert isinstance(machine.X, Dyadic)
        w = machine.X.whole.T @ whole
        square = Fraction(int(w @ w), denominator**2) * machine.X.unit**2
    else:
        assert machine.gram is not None
        K = machine.gram.values
        square = Fraction(int(whole @ (K.whole @ whole)), denominator**2) * K.unit
        error = machine.gram.error * sum((abs(v) for v in beta), Fraction(0)) ** 2 / 2
    if machine.bias == "penalized":
        square += (Fraction(machine.scale) * total) ** 2
    return Value(gain - square / 2 - error, gain - square / 2 + error)
