"""The compiled copies of bounds are those of `rounding`."""

import math

import pytest

from maxmargin import rounding
from maxmargin._loops import certificate


@pytest.mark.parametrize("k", [0, 1, 7, 1000, 2**30, 2**52, 2**53, 2**54])
def test_the_bounds_of_rounding_are_the_same(k):
    assert certificate.gamma(k) == rounding.gamma(k)
    for value in (0.0, 1e-300, 1.0, 3e7, math.inf):
        expected, found = rounding.raised(value, k), certificate.raised(value, k)
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_a_sample_gives_up_only_what_it_has():
    assert certificate.price_of_balance(0.0, 0.0, math.inf, math.inf, math.inf, 1.0, 0.0, 0.0, 1.0) == (0.0, 0.0, 0.0)
    assert certificate.price_of_balance(1.0, 0.5, 0.1, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0) == (math.inf,) * 3
    charge, lost, moved = certificate.price_of_balance(0.5, 0.5, 0.1, 2.0, 0.0, 1.0, 0.0, 2.0, 1.0)
    assert charge >= 0.5 * 0.1 + 0.5 * (0.5 * 2.0) ** 2
    assert lost >= 0.5 + 2.0 + 0.5
    assert moved >= 1.0
