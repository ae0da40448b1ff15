"""Regression as a problem of two halves."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core.regression import folded, to_regression, unfolded
from maxmargin.kernels import RBF
from tests.strategies import examples, generators


@examples(40)
@given(generators(), st.sampled_from([0.0, 0.3]))
def test_the_two_hinges_are_the_loss_outside_the_tube(rng, epsilon):
    n, d = 9, 3
    X, t, cost = rng.standard_normal((n, d)), rng.standard_normal(n), rng.random(n) + 0.1
    problem = to_regression(X, t, cost, epsilon)
    w, b = rng.standard_normal(d), float(rng.standard_normal())
    expected = 0.5 * w @ w + cost @ np.maximum(np.abs(t - X @ w - b) - epsilon, 0.0)
    np.testing.assert_allclose(problem.primal(w, b), expected, rtol=1e-12)


@examples(40)
@given(generators())
def test_taking_the_smaller_of_both_from_both_keeps_w_and_raises_the_dual(rng):
    n, epsilon = 7, 0.25
    X, t = rng.standard_normal((n, 2)), rng.standard_normal(n)
    problem = to_regression(X, t, np.full(n, 3.0), epsilon, kernel=RBF(gamma=0.5))
    beta = np.concatenate([rng.random(n), -rng.random(n)])
    beta[-1] -= beta.sum()
    beta = beta if abs(beta[-1]) < 3.0 and beta[-1] < 0.0 else np.concatenate([np.ones(n), -np.ones(n)])
    shared = np.minimum(beta[:n], -beta[n:])
    other = unfolded(folded(beta))
    np.testing.assert_allclose(folded(other), folded(beta))
    np.testing.assert_allclose(problem.dual(other) - problem.dual(beta), 2.0 * epsilon * shared.sum(), rtol=1e-9, atol=1e-12)


def test_only_repeated_rows_with_opposite_labels_are_two_halves():
    X, t = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0])
    problem = to_regression(X, t, np.ones(3), 0.1)
    assert problem.period == 3
    assert replace(problem, rows=np.array([0, 1, 2, 0, 2, 1])).period == 6
    assert replace(problem, y=np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])).period == 6


def test_scores_of_both_halves_are_computed_once_and_equal():
    rng = np.random.default_rng(0)
    X, t = rng.standard_normal((40, 3)), rng.standard_normal(40)
    problem = to_regression(X, t, np.ones(40), 0.1, kernel=RBF(gamma=0.3))
    beta = unfolded(np.clip(rng.standard_normal(40), -1.0, 1.0))
    f = problem.decision(problem.combine(beta))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(f, np.tile(K @ folded(beta), 2), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(f[:40], f[40:])
