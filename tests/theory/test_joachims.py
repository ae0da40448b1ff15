"""The printed leave-one-out algorithm: by hand, against n retrainings, and against the exact one."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC, LinearSVC, leave_one_out, theory
from maxmargin.errors import InvalidInputError
from maxmargin.theory import InfluenceCase as Case


def retrained_without_each(model, X, y):
    """n retrainings, the definition."""
    wrong = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        wrong.append(model.fit(X[others], y[others]).predict(X[[i]])[0] != y[i])
    return np.array(wrong)


def words(seed=0, n=60, d=12):
    """Non-negative rows of length 1, as texts have them, and labels with noise."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.5) + 0.01
    X /= np.linalg.norm(X, axis=1)[:, None]
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + 0.2 * rng.normal(size=n) > np.median(scores), "b", "a")


@pytest.mark.parametrize("C", [0.2, 0.45, 2.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_a_free_bias_or_where_it_is_unique_it_finds_what_n_retrainings_find(kernel, C):
    X, y = words()
    models = [SVC(kernel="rbf", gamma=1.0, C=C, tol=1e-8)] if kernel == "rbf" else []
    models += [LinearSVC(C=C, tol=1e-8, fit_intercept=False), LinearSVC(C=C, tol=1e-8)] if kernel == "linear" else []
    for model in models:
        found = theory.joachims_leave_one_out(model, X, y)
        assert found.is_error.tolist() == retrained_without_each(model, X, y).tolist()
        assert found.error == found.is_error.mean() == leave_one_out(model, X, y).error
        assert found.error <= found.upper
        assert found.share == len(found.retrained) / 60


def test_every_case_is_the_one_that_its_criterion_names():
    X, y = words(1)
    seen = set()
    for C in (0.1, 0.2, 0.45, 2.0):
        found = theory.joachims_leave_one_out(LinearSVC(C=C, tol=1e-8), X, y)
        seen |= set(found.cases)
        for row, alpha, xi in zip(found.table(), found.alpha, found.xi, strict=True):
            assert row.number == pytest.approx(2 * alpha * found.radius2 + xi)
            if row.case is Case.NOT_SUPPORT:
                assert alpha == 0
            if row.case is Case.LOW_INFLUENCE:
                assert 0 < alpha < C
                assert alpha < 0.5 / found.radius2
            if row.case is Case.SMALL_ERROR:
                assert alpha == pytest.approx(C, rel=1e-9)
                assert xi < 1 - 2 * C * found.radius2
            if row.case is Case.TRAINING_ERROR:
                assert xi > 1
                assert row.is_error
            assert (row.number < 1) == (row.case in (Case.NOT_SUPPORT, Case.LOW_INFLUENCE, Case.SMALL_ERROR))
        assert sum(found.counts().values()) == 60
        assert all(str(case) in str(found) for case in found.counts())
    assert seen == set(Case)


def test_the_lemma_can_make_it_miss_an_error_that_the_exact_one_finds():
    """The counterexample of the errata: 2αR² + ξ = 0.951 < 1, and yet the left-out machine errs."""
    X = np.array([[-0.9743, -0.0149], [0.9735, -0.0118], [1.0908, -0.0025], [1.0043, -0.0744]])
    y = np.array([1, 1, 0, 0])
    model = LinearSVC(C=4.694, tol=1e-9)
    found = theory.joachims_leave_one_out(model, X, y)
    assert found.number[0] < 1
    assert not found.is_error[0]
    assert retrained_without_each(model, X, y)[0]
    assert leave_one_out(model, X, y).error > found.error


def test_a_larger_radius_retrains_more_and_a_smaller_one_is_refused():
    X, y = words(2)
    model = LinearSVC(C=0.4, tol=1e-8)
    tight, loose = (theory.joachims_leave_one_out(model, X, y, R=R) for R in (1.0, 2.0))
    assert loose.radius2 == 4.0
    assert loose.share > tight.share
    assert loose.is_error.tolist() == tight.is_error.tolist()
    with pytest.raises(InvalidInputError, match="no bound"):
        theory.joachims_leave_one_out(model, X, y, R=0.5)


def test_sparse_rows_and_lists_give_the_same():
    X, y = words(3, n=25)
    model = LinearSVC(C=0.4, tol=1e-8)
    dense = theory.joachims_leave_one_out(model, X, y)
    for rows in (sp.csr_array(X), sp.coo_matrix(X), X.tolist()):
        assert theory.joachims_leave_one_out(model, rows, y.tolist()).cases.tolist() == dense.cases.tolist()
    assert not hasattr(model, "coef_")


def test_the_only_sample_of_its_class_is_an_error_and_three_classes_are_refused():
    model = LinearSVC(C=10.0, tol=1e-8)
    found = theory.joachims_leave_one_out(model, [[0.0], [1.0], [3.0]], [0, 0, 1])
    assert found.is_error[2]
    with pytest.raises(InvalidInputError, match="two classes"):
        theory.joachims_leave_one_out(model, [[0.0], [1.0], [3.0]], [0, 1, 2])
