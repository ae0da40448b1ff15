"""Weights of the hard margin: 0 is absent, anything else is present."""

import numpy as np
import pytest

from maxmargin import HardMarginSVC, InvalidInputError, NotSeparableError, certify

RNG = np.random.default_rng(0)
Y = np.arange(30) % 2
X = RNG.standard_normal((30, 3))
X[:, 0] += np.where(Y == 1, 3.0, -3.0)
KERNELS = [{}, {"kernel": "rbf", "gamma": 0.2}]
SOLVERS = ["interior_point", "constraint_generation"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_weight_changes_nothing_where_the_margin_is_hard(kernel, solver):
    plain = HardMarginSVC(solver=solver, **kernel).fit(X, Y)
    weighted = HardMarginSVC(solver=solver, **kernel).fit(X, Y, sample_weight=np.geomspace(0.01, 100.0, 30))
    np.testing.assert_array_equal(weighted.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(weighted.support_, plain.support_)
    np.testing.assert_array_equal(weighted.intercept_, plain.intercept_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_weight_zero_is_absent(kernel, solver):
    first = HardMarginSVC(solver=solver, **kernel).fit(X, Y)
    weight = np.ones(30)
    weight[first.support_[[0, -1]]] = 0.0
    here = np.flatnonzero(weight)
    model = HardMarginSVC(solver=solver, **kernel).fit(X, Y, sample_weight=weight)
    fewer = HardMarginSVC(solver=solver, **kernel).fit(X[here], Y[here])
    np.testing.assert_array_equal(model.support_, here[fewer.support_])
    np.testing.assert_allclose(model.dual_coef_, fewer.dual_coef_, rtol=1e-7)
    np.testing.assert_allclose(model.decision_function(X), fewer.decision_function(X), rtol=1e-7, atol=1e-9)
    assert model.certificate_.margin > first.certificate_.margin
    assert model.certificate_.margin == pytest.approx(fewer.certificate_.margin, rel=1e-9)
    assert certify(model, X, Y, sample_weight=weight) == model.certificate_
    assert sum(model.certificate_.groups) == len(here)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_outlier_of_weight_zero_does_not_make_data_inseparable(solver):
    labels, weight = Y.copy(), np.ones(30)
    labels[4] = 1 - labels[4]
    with pytest.raises(NotSeparableError):
        HardMarginSVC(solver=solver).fit(X, labels)
    weight[4] = 0
    model = HardMarginSVC(solver=solver).fit(X, labels, sample_weight=weight)
    assert model.predict(X[[4]]) == [Y[4]]


def test_weights_are_copies_for_the_width_that_depends_on_the_data():
    weight = 1 + np.arange(30) % 3
    model = HardMarginSVC(kernel="rbf").fit(X, Y, sample_weight=weight)
    copies = HardMarginSVC(kernel="rbf").fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert model.kernel_.gamma == pytest.approx(copies.kernel_.gamma, rel=1e-12)
    np.testing.assert_allclose(model.decision_function(X), copies.decision_function(X), rtol=1e-6, atol=1e-8)


def test_one_weight_for_all_may_be_given_as_a_number():
    np.testing.assert_array_equal(HardMarginSVC().fit(X, Y, sample_weight=3.0).coef_, HardMarginSVC().fit(X, Y).coef_)


def test_a_class_of_several_without_weight_is_refused():
    labels = np.arange(30) % 3
    with pytest.raises(InvalidInputError, match=r"No sample of class 2 has a positive sample_weight"):
        HardMarginSVC(kernel="rbf").fit(X, labels, sample_weight=(labels != 2).astype(float))


def test_the_class_without_weight_is_called_by_its_name():
    with pytest.raises(InvalidInputError) as caught:
        HardMarginSVC().fit(X, np.array(["left", "right"])[Y], sample_weight=Y)
    assert "'left'" in str(caught.value)
    assert "np." not in str(caught.value)
