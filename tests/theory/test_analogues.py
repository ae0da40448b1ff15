"""Ridge, logistic and ν-machines: against scikit-learn and their optimality conditions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import NuSVC

from maxmargin import LinearSVC, theory
from maxmargin.errors import InvalidInputError


def overlapping(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.standard_normal((n, d))
    X[:, 0] += 0.8 * y
    return X, y


@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_ridge_is_scikit_learns(lam):
    X, y = overlapping()
    ours, theirs = theory.ridge(X, y, lam), Ridge(alpha=lam).fit(X, y)
    np.testing.assert_allclose(ours.w, theirs.coef_, rtol=1e-9)
    assert ours.b == pytest.approx(theirs.intercept_)


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
def test_l2_logistic_regression_is_scikit_learns(lam):
    X, y = overlapping(1)
    ours, theirs = theory.logistic(X, y, lam), LogisticRegression(C=1 / (2 * lam), tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.w, theirs.coef_[0], atol=1e-5)
    assert ours.b == pytest.approx(theirs.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("lam", [1.0, 4.0, 40.0])
def test_l1_logistic_regression_meets_its_conditions_and_has_zeros(lam):
    """|Σℓ'(z) y x_k| ≤ λ, with equality and the opposite sign where w_k ≠ 0."""
    X, y = overlapping(2)
    plane = theory.logistic(X, y, lam, penalty="l1")
    slope = -y / (1 + np.exp(plane.fits(X, y)))
    pull, used = slope @ X, plane.w != 0
    assert (np.abs(pull) <= lam + 1e-4).all()
    np.testing.assert_allclose(pull[used], -lam * np.sign(plane.w[used]), atol=1e-4)
    assert slope.sum() == pytest.approx(0, abs=1e-4)
    assert not used.all()


@pytest.mark.parametrize("nu", [0.3, 0.5, 0.8])
def test_the_nu_machine_is_scikit_learns_and_the_soft_margin_that_it_names(nu):
    X, y = overlapping(3)
    X[:, 0] += y
    found, theirs = theory.nu_margin(X, y, nu), NuSVC(nu=nu, kernel="linear", tol=1e-8).fit(X, y)
    directions = [w / np.linalg.norm(w) for w in (found.halfspace.w, theirs.coef_[0])]  # ρ need not be unique
    np.testing.assert_allclose(*directions, atol=1e-4)
    soft = LinearSVC(C=found.cost, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(found.halfspace.w, soft.coef_[0], rtol=1e-3, atol=1e-4)
    assert found.errors <= nu <= found.support


def test_what_has_no_solution_is_refused():
    X, y = overlapping()
    with pytest.raises(InvalidInputError, match="nu = "):
        theory.nu_margin(X, y, 1.5)
    with pytest.raises(InvalidInputError, match="margin ρ is 0"):
        theory.nu_margin([[0.0], [0.0], [1.0], [1.0]], [-1, 1, -1, 1], 0.4)
    with pytest.raises(InvalidInputError, match="two classes"):
        theory.logistic([[0.0]], [1], 1.0)
    for function in (theory.ridge, theory.logistic):
        with pytest.raises(InvalidInputError, match="lam = "):
            function(X, y, 0.0)
    with pytest.raises(InvalidInputError, match="penalty"):
        theory.logistic(X, y, 1.0, penalty="l0")
