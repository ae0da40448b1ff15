"""The perceptron as SGD on its loss, and what its ERM chooses."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from maxmargin import Perceptron, separability, theory
from maxmargin.losses import PerceptronLoss
from tests.strategies import examples, generators


def whole_numbers(rng):
    n = int(rng.integers(2, 7))
    return rng.integers(-3, 4, (n, 2)).astype(float), np.where(np.arange(n) % 2, 1, -1)


@examples(60)
@given(generators())
def test_sgd_on_the_perceptron_loss_makes_the_updates_of_the_pseudo_code(rng):
    X, y = whole_numbers(rng)
    for with_bias in (False, True):
        run = theory.perceptron_by_sgd(X, y, n_epochs=4, fit_intercept=with_bias)
        w, b, t = np.zeros(2), 0.0, 0
        for _ in range(4):
            for x, label in zip(X, y, strict=True):
                assert run.w[t].tolist() == w.tolist()
                assert run.b[t] == b
                if label * (w @ x + b) <= 0:
                    w, b = w + label * x, b + label * with_bias
                t += 1


def test_it_ends_where_the_estimator_ends():
    X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0], [3.0, 0.0]]), np.array([1, 1, -1, 1])
    model = Perceptron(shuffle=False, fit_intercept=False).fit(X, y)
    run = theory.perceptron_by_sgd(X, y, n_epochs=20)
    np.testing.assert_array_equal(run.w[-1], model.coef_[0])
    assert int((run.norms > 0).sum()) == model.n_updates_


def test_with_the_subgradient_zero_at_the_corner_it_never_begins():
    X, y = [[1.0, 2.0], [2.0, -1.0]], [1, -1]
    run = theory.descend(X, y, None, "perceptron", batch=1, step=1.0, order="given", n_steps=10)
    assert not run.w.any()


@examples(100)
@given(generators())
def test_erm_of_the_perceptron_loss_is_a_weak_separation_or_the_proof_that_there_is_none(rng):
    X, y = whole_numbers(rng)
    for with_bias in (False, True):
        found = theory.perceptron_erm(X, y, with_bias)
        assert PerceptronLoss().value(y * (X @ np.zeros(2))).sum() == 0  # w = 0 attains the least value on any data
        rows = [[Fraction(v) for v in row] for row in X.tolist()]
        if found.is_trivial_only:
            assert all(p > 0 for p in found.weights)
            for k in range(2):
                assert sum(p * int(label) * row[k] for p, label, row in zip(found.weights, y, rows, strict=True)) == 0
            assert not with_bias or sum(p * int(label) for p, label in zip(found.weights, y, strict=True)) == 0
            assert not separability(X, y, fit_intercept=with_bias).is_separable
        else:
            F = [
                int(label) * (sum(a * v for a, v in zip(found.w, row, strict=True)) + found.b)
                for label, row in zip(y, rows, strict=True)
            ]
            assert min(F) >= 0
            assert max(F) > 0
            assert found.weights is None


@pytest.mark.parametrize("with_bias", [False, True])
def test_a_minimiser_of_the_perceptron_loss_need_not_separate_separable_data(with_bias):
    """The answer to "what happens if we do ERM with this loss": the minimum does not tell separators from w = 0."""
    X, y = np.array([[-1.0, 1.0], [1.0, 1.0], [0.0, 2.0]]), np.array([-1, 1, 1])
    if separability(X, y, fit_intercept=with_bias).is_separable:
        assert not theory.perceptron_erm(X, y, with_bias).is_trivial_only
