"""Bounds of rounding errors, against exact arithmetic; numbers in sentences, on the safe side."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin._loops.compensated import two_product, two_sum
from maxmargin.core import products
from maxmargin.rounding import gamma, length_above, shown_above, shown_below, sum_above
from tests.strategies import examples, generators

numbers = st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-100)


@examples(300)
@given(numbers, numbers)
def test_a_product_and_a_sum_come_with_their_exact_errors(a, b):
    p, e = two_product(a, b)
    assert Fraction(p) + Fraction(e) == Fraction(a) * Fraction(b)
    s, t = two_sum(a, b)
    assert Fraction(s) + Fraction(t) == Fraction(a) + Fraction(b)


@examples(100)
@given(generators(), st.integers(1, 60))
def test_no_sum_and_no_length_exceeds_its_bound(rng, n):
    v = rng.standard_normal(n) * 10.0 ** rng.integers(-8, 9, n)
    assert sum(Fraction(abs(x)) for x in v.tolist()) <= Fraction(sum_above(np.abs(v)))
    assert sum(Fraction(x) ** 2 for x in v.tolist()) <= Fraction(length_above(v)) ** 2


def offset_rows(rng, n, d, kind):
    X = 1.7e9 + rng.integers(0, 50, (n, d)).astype(float) + rng.standard_normal((n, d)) * 1e-3
    return sp.csr_array(X) if kind == "csr" else X.astype(np.float32) if kind == "float32" else X


@pytest.mark.parametrize("kind", ["dense", "csr", "float32"])
@examples(40)
@given(generators(), st.integers(1, 12), st.integers(1, 8))
def test_slacks_in_twice_the_precision_keep_their_digits_where_float64_has_none(kind, rng, n, d):
    X, y = offset_rows(rng, n, d, kind), rng.choice([-1.0, 1.0], n)
    w = rng.standard_normal(d)
    b = -float((X @ w).mean())
    rows = rng.permutation(n)
    found = products.slacks(X, rows, w, b, y[rows], np.ones(len(rows)))
    dense = X.toarray() if sp.issparse(X) else X
    for at, j in enumerate(rows):
        terms = [Fraction(float(x)) * Fraction(c) for x, c in zip(dense[j], w.tolist(), strict=True)]
        exact = 1 - int(y[j]) * (sum(terms) + Fraction(b))
        bulk = float(sum(map(abs, terms))) + abs(b) + 1.0
        assert abs(Fraction(found[at]) - exact) <= 2.0**-53 * abs(exact) + Fraction(gamma(d + 3) ** 2 * bulk)


@pytest.mark.parametrize("kind", ["dense", "csr", "float32"])
@examples(40)
@given(generators(), st.integers(1, 12), st.integers(1, 8))
def test_weights_in_twice_the_precision_keep_their_digits(kind, rng, n, d):
    X, beta = offset_rows(rng, n, d, kind), rng.standard_normal(n) * (rng.random(n) < 0.8)
    high, low = products.combine_twice(X, beta)
    dense = X.toarray() if sp.issparse(X) else X
    bulk = float(np.abs(beta) @ products.lengths_above(X))
    for k in range(d):
        exact = sum(Fraction(c) * Fraction(float(x)) for c, x in zip(beta.tolist(), dense[:, k], strict=True))
        assert abs(Fraction(high[k]) + Fraction(low[k]) - exact) <= Fraction(4 * gamma(n + 2) ** 2 * bulk)


def test_lengths_of_rows_are_bounded_even_where_columns_are_stored_twice():
    X = sp.csr_array((np.array([3.0, -3.0, 1.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert products.lengths_above(X)[0] >= math.hypot(6.0, 1.0)


@given(st.floats(-1e300, 1e300), st.integers(1, 6))
def test_what_is_shown_is_on_the_safe_side(value, digits):
    above, below = float(shown_above(value, digits)), float(shown_below(value, digits))
    assert below <= value <= above
    if abs(value) > 1e-300:
        assert abs(above - value) <= abs(value) * 10.0 ** (1 - digits) * (1 + 1e-9)


@pytest.mark.parametrize("text", ["0.001", "0.1", "1e-09", "0.95", "2"])
def test_a_number_with_few_digits_is_shown_as_it_is(text):
    assert shown_above(float(text), 2) == shown_below(float(text), 2) == text


def test_infinite_numbers_are_shown():
    assert (shown_above(math.inf, 2), shown_below(-math.inf, 2)) == ("inf", "-inf")
