"""OneClassSVM: scikit-learn's, with a proof and both promises of ν."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import InvalidInputError, OneClassSVM, certify
from tests.strategies import examples, generators


def cloud(n=150, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("model", [OneClassSVM(), OneClassSVM(kernel="linear", nu=0.1)], ids=str)
def test_scikit_learns_checks_pass_without_an_expected_failure(model):
    results = check_estimator(model, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("nu", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_model_and_attributes_are_those_of_scikit_learn(nu, kernel):
    X = cloud() + 3.0
    ours = OneClassSVM(nu=nu, kernel=kernel, gamma=0.3, tol=1e-9).fit(X)
    theirs = svm.OneClassSVM(nu=nu, kernel=kernel, gamma=0.3, tol=1e-9).fit(X)
    size = np.abs(theirs.offset_[0])
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-4 * size)
    assert ours.dual_coef_.sum() == pytest.approx(nu * len(X))
    for name in ("dual_coef_", "support_", "support_vectors_", "intercept_", "offset_", "n_support_"):
        own, other = getattr(ours, name), getattr(theirs, name)
        assert (own.dtype, own.ndim) == (other.dtype, other.ndim), name
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-2)


@examples(60)
@given(
    generators(), st.integers(1, 40), st.sampled_from([1e-3, 0.02, 0.1, 0.5, 0.73, 1.0]), st.booleans(),
    st.sampled_from(["rbf", "linear"]), st.sampled_from([1e-1, 1e-3, 1e-8]),
)  # fmt: skip
def test_nu_bounds_the_outliers_from_above_and_the_support_vectors_from_below_whatever_the_gap(rng, n, nu, ties, kernel, tol):
    X = rng.standard_normal((n, 2)) + 1.0
    if ties:
        X = np.round(X)
    weights = rng.integers(1, 4, n).astype(float)
    model = OneClassSVM(nu=nu, kernel=kernel, gamma=0.5, tol=tol).fit(X, sample_weight=weights)
    outliers = weights[model.predict(X) < 0].sum() / weights.sum()
    supports = weights[model.support_].sum() / weights.sum()
    assert outliers <= nu * (1.0 + 1e-9)
    assert supports >= nu * (1.0 - 1e-9)
    assert model.certificate_.is_certified


def test_three_points_are_not_all_rejected():
    """scikit-learn's issue 4195: ν = 0.02 of three samples allows no outlier, and rounding rejected all of them."""
    X = np.array([[1.0], [2.0], [3.0]])
    for kernel in ("rbf", "linear"):
        model = OneClassSVM(kernel=kernel, nu=0.02, tol=1e-9).fit(X)
        np.testing.assert_array_equal(model.predict(X), [1, 1, 1])
        assert model.certificate_.is_certified
    assert (model.decision_function(X) >= 0.0).all()


def test_samples_on_the_boundary_have_a_decision_of_zero():
    X = cloud(60)
    model = OneClassSVM(nu=0.01, gamma=0.5, tol=1e-10).fit(X)  # νn < 1: no outlier
    F = model.decision_function(X)
    assert F.min() == 0.0
    assert (F == 0.0).any()


@examples(20)
@given(generators(), st.integers(3, 20), st.sampled_from([0.1, 0.4, 0.8]))
def test_the_optimum_is_that_of_an_independent_program(rng, n, nu):
    X = rng.standard_normal((n, 2))
    model = OneClassSVM(nu=nu, gamma=0.7, tol=1e-9).fit(X)
    K = np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = sp.vstack([sp.csc_matrix(np.ones((1, n))), -sp.eye_array(n), sp.eye_array(n)], format="csc")
    b = np.concatenate([[nu * n], np.zeros(n), np.ones(n)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    P = sp.triu(sp.csc_matrix(K), format="csc")
    found = clarabel.DefaultSolver(P, np.zeros(n), A, b, cones, settings).solve()
    assert model.certificate_.dual == pytest.approx(-found.obj_val, rel=1e-6)


def test_it_is_svdd_where_all_samples_are_as_long():
    """min R² + 1/(νn) Σ max(0, ‖φ(x_j) − a‖² − R²): with k(x, x) = 1 its centre is w/(νn), and it leaves out the same samples."""
    X, nu = cloud(40, 2), 0.2
    n = len(X)
    model = OneClassSVM(nu=nu, gamma=0.5, tol=1e-10).fit(X)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # the dual of SVDD: max Σ a_j k_jj − aᵀKa,  Σa = 1,  0 ≤ a ≤ 1/(νn)
    A = sp.vstack([sp.csc_matrix(np.ones((1, n))), -sp.eye_array(n), sp.eye_array(n)], format="csc")
    b = np.concatenate([[1.0], np.zeros(n), np.full(n, 1.0 / (nu * n))])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    a = np.array(
        clarabel.DefaultSolver(sp.triu(sp.csc_matrix(2.0 * K), format="csc"), -K.diagonal(), A, b, cones, settings).solve().x
    )
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0] / (nu * n)
    np.testing.assert_allclose(K @ beta, K @ a, atol=1e-6)
    distances = 1.0 - 2.0 * K @ a + a @ K @ a
    free = (a > 1e-6) & (a < 1.0 / (nu * n) - 1e-6)
    radius = distances[free].mean()
    np.testing.assert_array_equal(model.predict(X)[~free] < 0, distances[~free] > radius)


def test_certain_labels_are_those_of_the_optimum():
    X, Z = cloud(200), cloud(100, seed=1)
    exact = OneClassSVM(nu=0.2, gamma=0.3, tol=1e-12).fit(X).predict(Z)
    shares = []
    for tol in (1e-2, 1e-4, 1e-8):
        labels, is_certain = OneClassSVM(nu=0.2, gamma=0.3, tol=tol).fit(X).certified_predictions(Z)
        np.testing.assert_array_equal(labels[is_certain], exact[is_certain])
        shares.append(is_certain.mean())
    assert shares[0] <= shares[1] <= shares[2]
    assert shares[2] > 0.95


def test_the_certificate_is_that_of_the_stored_numbers():
    X = cloud()
    for settings in ({}, {"kernel": "linear"}, {"nu": 1.0}, {"solver": "interior_point"}, {"nu": 0.01}):
        model = OneClassSVM(**settings).fit(X)
        assert model.certificate_.is_certified
        assert certify(model, X, None) == model.certificate_


def test_weights_are_copies_and_warm_starts_end_at_the_same_optimum():
    X = cloud(60)
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    rows = np.repeat(np.arange(60), weights.astype(int))
    one = OneClassSVM(nu=0.3, gamma=0.3, tol=1e-10).fit(X, sample_weight=weights)
    other = OneClassSVM(nu=0.3, gamma=0.3, tol=1e-10).fit(X[rows])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-5)
    model = OneClassSVM(nu=0.3, warm_start=True).fit(X)
    assert model.set_params(nu=0.4).fit(X).certificate_.is_certified


def test_outliers_in_pipelines_are_found():
    X = np.vstack([cloud(100, 2), [[50.0, 50.0]]])
    labels = make_pipeline(StandardScaler(), OneClassSVM(nu=0.05)).fit_predict(X)
    assert labels[-1] == -1
    assert set(labels) == {-1, 1}


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1, np.nan, "a"])
def test_a_nu_that_is_no_share_is_refused(nu):
    with pytest.raises(InvalidInputError, match=r"nu must be a share in \(0, 1\]"):
        OneClassSVM(nu=nu).fit(cloud())
