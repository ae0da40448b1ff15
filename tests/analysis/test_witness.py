"""The witnesses themselves: true ones hold, tampered ones fail."""

import dataclasses
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import NotSeparable, Separable, Undecided, separability
from maxmargin.analysis.witness import Check, margin_bound
from maxmargin.core.problem import Bias, Problem

RNG = np.random.default_rng(0)
Y = np.where(np.arange(30) % 2, 1, -1)
X = RNG.standard_normal((30, 3))
APART = X + np.outer(Y, [4.0, 0.0, 0.0])
FORMS = [np.asarray, sp.csr_array, lambda values: values.astype(np.float32)]


@pytest.fixture(params=FORMS)
def separable(request):
    return separability(request.param(APART), Y)


@pytest.fixture(params=FORMS)
def overlapping(request):
    return separability(request.param(X), Y)


def test_true_witnesses_hold(separable, overlapping):
    for witness in (separable, overlapping):
        check = witness.check()
        assert check
        assert check.holds
        assert check.is_exact
    assert str(separable.check()) == "Each of the 30 samples lies on its right side, exactly."
    count = len(overlapping.exact)
    assert str(overlapping.check()) == f"Exactly: the identity holds for {count} samples, in rational arithmetic."


# ------------------------------------------------------------------------------------------------------------ tampering


def test_a_hyperplane_turned_round_fails(separable):
    check = dataclasses.replace(separable, w=-separable.w, b=-separable.b).check()
    assert not check
    assert check.is_exact
    assert str(check) == "Not all of the 30 samples lie on their right side, exactly."


def test_a_hyperplane_moved_past_the_closest_sample_fails(separable):
    F = separable.problem.decision(separable.w) + separable.b
    shift = np.abs(F).min()
    assert dataclasses.replace(separable, b=separable.b + 0.99 * shift).check()
    assert not dataclasses.replace(separable, b=separable.b + 1.01 * shift).check()
    tilted = separable.w + np.array([0.0, 10.0, 0.0]) * np.abs(separable.w).max()
    assert not dataclasses.replace(separable, w=tilted).check()


def test_the_last_bit_decides():
    """(0.1 + 0.2) − 0.3 is positive as computed and its sign in rationals is the one that counts."""
    X, y = np.array([[0.1, 0.2], [-1.0, -1.0]]), np.array([1.0, -1.0])
    problem = Problem(X, y, cost=np.full(2, np.inf))
    exact = Fraction(0.1) + Fraction(0.2)
    below = float(exact) if Fraction(float(exact)) < exact else np.nextafter(float(exact), 0.0)
    assert Separable(np.ones(2), -below, 0.0, problem).check()
    above = np.nextafter(below, 1.0)
    assert Fraction(above) >= exact
    assert not Separable(np.ones(2), -above, 0.0, problem).check()
    assert not Separable(np.array([1.0, 0.0]), -0.1, 0.0, problem).check(), "on the hyperplane is not beside it"


def test_a_changed_exact_weight_fails(overlapping):
    for j in overlapping.exact:
        exact = dict(overlapping.exact)
        exact[j] += Fraction(1, 10**30)
        check = dataclasses.replace(overlapping, exact=exact).check()
        assert not check
        assert "FAILS" in str(check)


def test_a_negative_weight_fails():
    """The identity holds for these weights, but a mean has no negative ones."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    problem = Problem(X, y, cost=np.full(4, np.inf))
    exact = {0: Fraction(-1), 1: Fraction(2), 2: Fraction(1)}
    assert not NotSeparable(np.array([-1.0, 2.0, 1.0, 0.0]), 0.0, problem, exact).check()


def test_weights_that_do_not_sum_to_one_fail(overlapping):
    exact = {j: 2 * p for j, p in overlapping.exact.items()}
    assert not dataclasses.replace(overlapping, exact=exact).check()
    nothing = {j: Fraction(0) for j in overlapping.exact}
    assert not dataclasses.replace(overlapping, exact=nothing).check()


def test_no_weights_at_all_fail(overlapping):
    assert not dataclasses.replace(overlapping, exact={}).check()


def test_changed_weights_beside_exact_ones_fail(overlapping):
    weights = overlapping.weights.copy()
    weights[np.argmax(weights)] /= 2
    assert not dataclasses.replace(overlapping, weights=weights).check()


def test_changed_float_weights_fail(overlapping):
    floats = dataclasses.replace(overlapping, exact=None, margin_bound=1e-9)
    assert floats.check()
    assert not floats.check().is_exact
    for j in np.flatnonzero(overlapping.weights):
        weights = overlapping.weights.copy()
        weights[j] *= 1.01
        assert not dataclasses.replace(floats, weights=weights).check()
        weights[j] *= -1
        assert not dataclasses.replace(floats, weights=weights).check()


def test_float_weights_that_do_not_sum_to_one_fail(overlapping):
    floats = dataclasses.replace(overlapping, exact=None, margin_bound=1e-9)
    assert not dataclasses.replace(floats, weights=7 * overlapping.weights).check()


def test_a_bound_that_the_weights_do_not_prove_fails(overlapping):
    floats = dataclasses.replace(overlapping, exact=None)
    assert not dataclasses.replace(floats, margin_bound=1e-30).check()
    assert dataclasses.replace(floats, margin_bound=1e-3).check()


def test_a_kernels_witness_says_that_it_is_rounded():
    separable = separability(APART, Y, kernel="rbf", gamma=1.0)
    check = separable.check()
    assert check
    assert not check.is_exact
    assert "beyond the rounding of float64" in str(check)
    assert not dataclasses.replace(separable, w=-separable.w).check()
    twice, labels = np.vstack([X[:5], X[:1]]), [1, 0, 1, 0, 1, 0]
    overlapping = separability(twice, labels, kernel="rbf", gamma=1.0)
    assert overlapping.check()
    assert not overlapping.check().is_exact
    weights = overlapping.weights.copy()
    weights[1] += 0.01
    assert not dataclasses.replace(overlapping, weights=weights).check()


def test_absent_samples_are_not_looked_at():
    problem = Problem(np.array([[1.0], [-1.0], [-5.0]]), np.array([1.0, -1.0, 1.0]), cost=np.array([np.inf, np.inf, 0.0]))
    assert Separable(np.array([1.0]), 0.0, 1.0, problem).check()
    present = dataclasses.replace(problem, cost=np.full(3, np.inf))
    assert not Separable(np.array([1.0]), 0.0, 1.0, present).check()


# -------------------------------------------------------------------------------------------------------- what is proved


def test_samples_in_another_order_than_their_rows_are_looked_at_in_theirs():
    X, order = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([3, 0, 2, 1])
    problem = Problem(X, np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, np.inf), rows=order)
    assert Separable(np.array([2.0]), -3.0, 0.5, problem).check()
    assert not Separable(np.array([-2.0]), 3.0, 0.5, problem).check()


def test_the_bound_is_half_the_distance_of_two_points_of_the_hulls():
    problem = Problem(np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), np.array([-1.0, -1.0, 1.0]), cost=np.full(3, np.inf))
    assert margin_bound(problem, np.array([0.5, 0.5, 1.0])) == pytest.approx(0.5 * np.hypot(3.0, 1.0))
    assert margin_bound(problem, np.array([1.0, 0.0, 1.0])) == pytest.approx(1.5)
    through = dataclasses.replace(problem, bias=Bias.none())
    assert margin_bound(through, np.array([0.25, 0.25, 0.5])) == pytest.approx(np.hypot(1.5, -0.5))


def test_no_margin_exceeds_the_bound_of_any_weights():
    separable = separability(APART, Y)
    for seed in range(20):
        weights = np.random.default_rng(seed).random(30)
        weights[Y > 0] /= weights[Y > 0].sum()
        weights[Y < 0] /= weights[Y < 0].sum()
        assert separable.margin <= margin_bound(separable.problem, weights)


def test_undecided_claims_nothing():
    verdict = Undecided(1e-13, 2.0)
    assert verdict.is_separable is None
    assert not verdict.check()
    assert "a margin above 1e-13 is impossible" in str(verdict)
    assert str(verdict.check()) == str(verdict)


def test_a_check_is_a_truth_value_with_a_sentence():
    assert Check(True, True, "Yes.")
    assert not Check(False, True, "No.")
    assert str(Check(False, True, "No.")) == "No."


def test_witnesses_survive_pickling(separable, overlapping):
    for witness in (separable, overlapping):
        twin = pickle.loads(pickle.dumps(witness))
        assert twin.check()
        assert str(twin) == str(witness)
        assert twin.is_separable is witness.is_separable


def test_witnesses_do_not_print_their_data(separable, overlapping):
    assert "Problem" not in repr(separable)
    assert "Fraction" not in repr(overlapping)
