"""Scores with a bound of their errors: against differences in extended precision, whose own error is a thousandth of ours."""

from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Candidate, Problem, certify
from maxmargin.core.certificate import scores as module
from maxmargin.core.certificate.scores import scores
from maxmargin.kernels import RBF, Expansion, FeatureMap, Polynomial, Sigmoid, interactions
from maxmargin.solvers import SMO, solve
from tests.strategies import examples, generators

WIDE = np.longdouble
EXTRA = float(np.finfo(WIDE).eps)


def exact_rbf(X, Z, A, gamma):
    """Sums of RBF values by differences in extended precision."""
    out = np.empty(X.shape[0], dtype=WIDE)
    Z = Z.astype(WIDE)
    for i, x in enumerate(X.astype(WIDE)):
        out[i] = np.exp(-WIDE(gamma) * np.square(x - Z).sum(axis=1)) @ A.astype(WIDE)
    return out


LAYOUTS = {
    "cloud": lambda rng, n: rng.standard_normal((n, 4)),
    "pairs": lambda rng, n: np.where(
        np.arange(n)[:, None] % 2, 7 * np.sign(rng.standard_normal((n, 1))) + 0.3 * rng.standard_normal((n, 4)),
        2 * rng.standard_normal((n, 4)),
    ),
    "baselines": lambda rng, n: rng.standard_normal((n, 4)) + 1e7 * (np.arange(n)[:, None] % 2),
    "outliers": lambda rng, n: rng.standard_normal((n, 4)) * np.where(rng.random((n, 1)) < 0.01, 1e6, 1.0),
    "offset": lambda rng, n: 1e4 + 1e-3 * rng.standard_normal((n, 4)),
    "one-hot": lambda rng, n: (rng.random((n, 40)) < 0.1).astype(float),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64, "differences"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("gamma", [0.1, 10.0])
def test_no_sum_of_rbf_values_errs_by_more_than_its_bound(layout, dtype, gamma):
    rng = np.random.default_rng(0)
    X = LAYOUTS[layout](rng, 300)
    A = rng.standard_normal(len(X)) * 10.0 ** rng.integers(0, 4, len(X))
    kernel = RBF(gamma / X.std() ** 2 if layout == "offset" else gamma)
    exact = exact_rbf(X, X, A, kernel.gamma)
    for rows in (X, sp.csr_array(X)):
        expansion = Expansion(kernel, rows, A[np.newaxis])
        with mock.patch("maxmargin.kernel_matrix.expansion.FEW_PRODUCTS", 0):
            by = dtype == "differences"
            found = expansion.bounded(rows, np.float64 if by else dtype, by_differences=by)
        assert (np.abs(found.sums[0, 0] - exact) <= found.error[0] + 100 * EXTRA * np.abs(A).sum()).all()
        if dtype == "differences":
            assert found.error.max() <= 1e-13 * np.abs(A).sum()


def test_far_baselines_are_computed_by_differences_and_not_from_norms():
    rng = np.random.default_rng(0)
    X = LAYOUTS["baselines"](rng, 600)
    found = Expansion(RBF(1.0), X, np.ones((1, 600))).bounded(X)
    assert found.error.max() < 1e-9
    np.testing.assert_allclose(RBF(1.0).block(X, X).sum(axis=1), found.sums[0, 0], rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [Polynomial(3, 0.5, 1.0), Polynomial(2, 1.0, -1.0), Sigmoid(0.1, -0.5), FeatureMap(interactions)]
)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_no_sum_of_other_kernels_errs_by_more_than_its_bound(kernel, offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 5)) + offset
    A = rng.standard_normal(150)
    G = X.astype(WIDE) @ X.astype(WIDE).T
    match kernel:
        case Polynomial():
            K = (WIDE(kernel.gamma) * G + WIDE(kernel.coef0)) ** kernel.degree
        case Sigmoid():
            K = np.tanh(WIDE(kernel.gamma) * G + WIDE(kernel.coef0))
        case _:
            Phi = interactions(X).astype(WIDE)  # a map's rows are exact by definition
            K = Phi @ Phi.T
    exact = K @ A.astype(WIDE)
    found = Expansion(kernel, X, A[np.newaxis]).bounded(X)
    assert (np.abs(found.sums[0, 0] - exact) <= found.error[0] + 200 * EXTRA * np.abs(K).max() * np.abs(A).sum()).all()
    assert found.error.max() < (1e-10 if offset == 0 else 1e-6) * float(np.abs(K).max() * np.abs(A).sum())


def solved(rng, n, cost, tol, bias, rows=None):
    X = rng.standard_normal((n, 4)) * rng.choice([0.1, 1.0, 10.0]) + rng.choice([0.0, 100.0])
    y = np.where(X[:, 0] * X[:, 1] > np.median(X[:, 0] * X[:, 1]), 1.0, -1.0) * rng.choice([-1.0, 1.0], n, p=[0.1, 0.9])
    chosen = None if rows is None else rng.permutation(n)[:rows]
    labels = y if chosen is None else y[chosen]
    p = Problem(X, labels, np.full(len(labels), cost), kernel=RBF(gamma=float(1 / (4 * X.var()))), bias=bias, rows=chosen)
    return p, solve(p, SMO(), tol=tol)


@examples(25)
@given(
    rng=generators(),
    cost=st.sampled_from([0.1, 1.0, 100.0]),
    tol=st.sampled_from([0.3, 1e-2, 1e-5]),
    bias=st.sampled_from([Bias.free(), Bias.none()]),
    rows=st.sampled_from([None, 200]),
)
def test_float32_costs_the_gap_at_most_a_tenth_of_what_was_asked_for(rng, cost, tol, bias, rows):
    p, found = solved(rng, 300, cost, tol, bias, rows)
    exact = certify(p, found, tol=1e-9)
    with mock.patch.object(module, "MUCH_WORK", 0):
        mixed = certify(p, found, tol=tol)
    assert exact.gap - exact.rounding <= mixed.gap <= exact.gap + 0.15 * tol * exact.primal
    assert exact.dual - 2 * tol * exact.primal <= mixed.dual <= exact.primal
    assert exact.primal - exact.rounding <= mixed.primal * (1 + 1e-12)
    assert mixed.primal <= exact.primal * (1 + 2 * tol)
    assert mixed.groups == exact.groups


def test_most_samples_that_are_no_support_vectors_stay_in_float32():
    p, found = solved(np.random.default_rng(0), 4000, 1.0, 1e-3, Bias.free())
    with mock.patch.object(module, "MUCH_WORK", 0):
        mixed = scores(p, Candidate(found.w, found.b, found.beta), 1e-3)
    exact = scores(p, Candidate(found.w, found.b, found.beta), 1e-3)
    rough = mixed.error > 100 * exact.error
    assert rough.mean() > 0.9 * (found.w == 0).mean()
    assert (np.abs(mixed.values - exact.values) <= mixed.error + exact.error).all()


def test_the_bits_do_not_depend_on_the_threads():
    p, found = solved(np.random.default_rng(0), 2500, 1.0, 1e-3, Bias.free())
    with mock.patch.object(module, "MUCH_WORK", 0):
        one, two = (scores(p, Candidate(found.w, found.b, found.beta), 1e-3, n) for n in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.error, two.error)


def test_a_fit_in_which_every_sample_is_a_support_vector_is_certified():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 9)), np.where(np.arange(50) % 2, 1.0, -1.0)
    p = Problem(X, y, np.full(50, 1e-3), kernel=RBF(gamma=5.0))
    every = Candidate(1e-3 * y, 0.0, 1e-3 * y)
    with mock.patch.object(module, "MUCH_WORK", 0):
        assert certify(p, every, tol=1e-3).relative_gap <= 1e-3
