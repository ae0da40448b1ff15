"""Penalties: conjugates, and residuals that do not cancel."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.core.penalties import L1, L2, Penalty, penalty_from_name
from maxmargin.errors import InvalidInputError

PENALTIES = [L1(), L2()]
vectors = hnp.arrays(np.float64, 4, elements=st.floats(-100, 100))
in_cube = hnp.arrays(np.float64, 4, elements=st.floats(-1, 1))
quick = settings(deadline=None, max_examples=60)


def by_penalty(penalty):
    return penalty.name


@quick
@given(w=vectors)
def test_values_are_the_norms(w):
    assert L2().value(w) == pytest.approx(0.5 * math.fsum(x * x for x in w))
    assert L1().value(w) == pytest.approx(math.fsum(abs(x) for x in w))


@pytest.mark.parametrize("penalty", PENALTIES, ids=by_penalty)
@quick
@given(w=vectors, u=in_cube)
def test_the_residual_is_value_plus_conjugate_minus_product_and_never_negative(penalty, w, u):
    r = penalty.residual(w, u)
    assert r >= 0
    assert r == pytest.approx(penalty.value(w) + penalty.conjugate(u) - w @ u, abs=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES, ids=by_penalty)
@quick
@given(w=vectors)
def test_the_residual_vanishes_at_the_subgradient(penalty, w):
    assert penalty.residual(w, penalty.subgradient(w)) == 0.0


@pytest.mark.parametrize("penalty", PENALTIES, ids=by_penalty)
@quick
@given(w=vectors, v=vectors)
def test_the_subgradient_supports_the_penalty_from_below(penalty, w, v):
    assert penalty.value(v) >= penalty.value(w) + penalty.subgradient(w) @ (v - w) - 1e-9


@pytest.mark.parametrize("penalty", PENALTIES, ids=by_penalty)
@pytest.mark.parametrize("u", [0.0, 0.3, -0.99, 1.0])
def test_the_conjugate_is_the_supremum_on_a_grid(penalty, u):
    grid = np.linspace(-3, 3, 6001)
    best = max(u * x - penalty.value(np.array([x])) for x in grid)
    assert penalty.conjugate(np.array([u])) == pytest.approx(best, abs=1e-6)


def test_outside_the_cube_the_l1_conjugate_grows_without_bound():
    u = np.array([0.0, np.nextafter(1.0, 2.0)])
    assert L1().conjugate(u) == L1().residual(np.ones(2), u) == math.inf
    w = np.array([0.0, 1.0])
    assert [(1000.0 * k) * (w @ (2 * u) - L1().value(w)) for k in (1, 2)] == pytest.approx([1e3, 2e3])


def test_the_l2_residual_keeps_its_digits_where_subtraction_loses_them():
    w = np.array([1e8, 1.0])
    u = w + np.array([0.0, 2.0**-20])
    assert L2().residual(w, u) == 0.5 * 2.0**-40
    assert L2().value(w) + L2().conjugate(u) - w @ u != pytest.approx(0.5 * 2.0**-40, rel=0.5)


@quick
@given(u=hnp.arrays(np.float64, 3, elements=st.floats(-1e6, 1e6)))
def test_shrinking_brings_u_into_the_domain_and_no_further_than_needed(u):
    t = L1().shrink(u)
    assert 0 < t <= 1
    assert L1().conjugate(t * u) == 0.0
    largest = np.abs(u).max()
    assert t == 1.0 if largest <= 1 else t * largest == pytest.approx(1.0, rel=1e-15)
    assert L2().shrink(u) == 1.0


def test_only_l2_is_strongly_convex():
    """With λ = ½: Ω((a+b)/2) ≤ ½Ω(a) + ½Ω(b) − ⅛‖a − b‖², which L1 misses between two points of one orthant."""
    a, b = np.array([1.0]), np.array([3.0])
    for penalty in PENALTIES:
        room = 0.5 * penalty.value(a) + 0.5 * penalty.value(b) - penalty.value(0.5 * (a + b))
        assert (room >= 0.125 * float((a - b) @ (a - b))) == penalty.strongly_convex


@pytest.mark.parametrize("penalty", PENALTIES, ids=by_penalty)
def test_they_are_values_and_read_only_input_is_fine(penalty):
    assert pickle.loads(pickle.dumps(penalty)) == penalty
    w = np.array([1.0, -2.0])
    w.flags.writeable = False
    assert np.isfinite([penalty.value(w), penalty.residual(w, 0.5 * w)]).all()
    gradient = penalty.subgradient(w)
    gradient[0] = 7.0
    assert w[0] == 1.0
    assert penalty.value(np.empty(0)) == penalty.conjugate(np.empty(0)) == 0.0


def test_nan_stays_visible():
    u = np.array([np.nan, 0.0])
    assert math.isnan(L1().conjugate(u))
    assert math.isnan(L1().residual(np.ones(2), u))
    assert math.isnan(L2().residual(np.ones(2), u))


def test_names_become_penalties():
    assert penalty_from_name("l1") == L1()
    assert penalty_from_name("l2") == L2()
    own = L1()
    assert penalty_from_name(own) is own
    for bad in ("l0", "L2", None, 2):
        with pytest.raises(InvalidInputError, match="Use one of 'l2', 'l1'"):
            penalty_from_name(bad)


def test_penalty_is_abstract():
    with pytest.raises(TypeError):
        Penalty()
