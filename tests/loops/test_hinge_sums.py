"""What samples with the hinge add to a certificate: bounds of exact sums."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core.certificate.parts import Part, Samples, count_groups
from maxmargin.core.losses import Hinge
from tests.strategies import examples, generators


def exact(values):
    return [Fraction(float(value)) for value in values]


def drawn(rng, n, unit):
    """Slacks with errors, α in its box or at its ends, costs of many sizes and none."""
    cost = unit * 10.0 ** rng.integers(-3, 4, n) * (rng.random(n) < 0.9)
    alpha = cost * np.clip(rng.uniform(-0.5, 1.5, n), 0.0, 1.0)
    slack = rng.standard_normal(n) * 10.0 ** rng.integers(-12, 3, n)
    error = np.abs(slack) * 10.0 ** rng.integers(-17, -1, n)
    return Samples(slack, error, alpha, cost, np.where(rng.random(n) < 0.5, -1.0, 1.0))


@examples(60)
@given(rng=generators(), n=st.integers(1, 40), unit=st.sampled_from([1e-200, 1e-9, 1.0, 1e9, 1e200]))
def test_sums_are_bounds_of_exact_sums(rng, n, unit):
    samples = drawn(rng, n, unit)
    part = Part.of(Hinge(), samples)
    rows = list(zip(*(exact(column) for column in samples[:5]), strict=True))
    ends = [(m - e, m + e, a, c) for m, e, a, c, _ in rows]
    residual = sum(max((c - a) * max(m, 0) + a * max(-m, 0) for m in (low, high)) for low, high, a, c in ends)
    assert residual <= Fraction(part.residual)
    assert sum(c * max(high, 0) for _, high, _, c in ends) <= Fraction(part.loss)
    assert sum(c * max(low, 0) for low, _, _, c in ends) >= Fraction(part.loss_below)
    assert sum(a for *_, a, _ in ends) >= Fraction(part.gain)
    total = sum(a * y for _, _, a, _, y in rows)
    assert abs(Fraction(part.high) + Fraction(part.low) - total) <= Fraction(part.low_error)
    assert min(1 - high for _, high, _, _ in ends) >= Fraction(part.closest)
    assert part.groups == count_groups(Hinge(), samples.cost, samples.alpha)
    assert part.residual == pytest.approx(float(residual), rel=1e-12, abs=n * 1e-300)  # and not much more


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["slack", "error"])
def test_what_is_no_number_proves_nothing(field, value):
    samples = drawn(np.random.default_rng(1), 6, 1.0)
    getattr(samples, field)[3] = value
    assert Part.of(Hinge(), samples).residual == np.inf
