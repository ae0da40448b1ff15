"""Two samples that contradict each other are found in one pass, in every form of the data, and never where there are none."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import HardMarginSVC, NotSeparable, NotSeparableError, leave_one_out, separability
from maxmargin.analysis import separability as decision
from maxmargin.analysis.twins import contradiction, row_numbers
from maxmargin.core.problem import Bias, Problem


def problem(X, y, bias=None, rows=None, cost=None):
    y = np.asarray(y, dtype=float)
    cost = np.full(len(y), np.inf) if cost is None else cost
    return Problem(X, y, cost=cost, bias=Bias.free() if bias is None else bias, rows=rows)


def unsorted_with_zeros(X):
    """CSR whose rows are written backwards, with each zero stored."""
    n, d = X.shape
    indices = np.tile(np.arange(d)[::-1], n)
    return sp.csr_array((X[:, ::-1].ravel().copy(), indices, d * np.arange(n + 1)), shape=X.shape)


def in_two_parts(X):
    """CSR in which each value comes as two halves."""
    n, d = X.shape
    halves = np.repeat(X.ravel() / 2, 2)
    return sp.csr_array((halves, np.tile(np.repeat(np.arange(d), 2), n), 2 * d * np.arange(n + 1)), shape=X.shape)


FORMS = {
    "dense": np.asarray,
    "by columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr, unsorted, with zeros stored": unsorted_with_zeros,
    "csr, values in two parts": in_two_parts,
}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_the_data_hides_equal_samples_with_opposite_labels(form):
    X = np.random.default_rng(0).integers(-3, 4, size=(40, 12)).astype(float)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    X[17] = X[30] + 0.0
    X[17, X[17] == 0] = -0.0
    witness = contradiction(problem(FORMS[form](X), y))
    assert witness.exact == {17: Fraction(1), 30: Fraction(1)}
    assert witness.check()
    assert witness.check().is_exact


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_the_data_invents_a_contradiction(form):
    X = np.random.default_rng(0).integers(-3, 4, size=(40, 12)).astype(float)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    X[3], X[5] = X[7], -X[8]  # equal samples with equal labels; opposite ones with opposite labels
    assert contradiction(problem(FORMS[form](X), y)) is None
    assert contradiction(problem(FORMS[form](X), y, Bias.none())) is None


@pytest.mark.parametrize(
    ("X", "y", "exact"),
    [
        ([[1.0, 2.0], [3.0, 0.0], [1.0, 2.0]], [1, 1, -1], {0: Fraction(1, 2), 2: Fraction(1, 2)}),
        ([[1.0, 2.0], [3.0, 0.0], [-1.0, -2.0]], [1, -1, 1], {0: Fraction(1, 2), 2: Fraction(1, 2)}),
        ([[1.0, 2.0], [-0.0, 0.0], [3.0, 1.0]], [1, -1, 1], {1: Fraction(1)}),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_through_the_origin_opposite_samples_and_the_origin_are_not_overlooked(X, y, exact, form):
    witness = contradiction(problem(form(np.array(X)), y, Bias.none()))
    assert witness.exact == exact
    assert witness.check()
    assert witness.check().is_exact


def test_samples_without_weight_and_rows_outside_the_problem_contradict_nobody():
    X, y = np.array([[1.0], [1.0], [2.0], [1.0]]), np.array([1.0, -1.0, -1.0, 1.0])
    assert contradiction(problem(X, y, cost=np.array([np.inf, 0.0, np.inf, np.inf]))) is None
    assert contradiction(problem(X, y[[0, 2, 3]], rows=np.array([0, 2, 3]))) is None
    found = contradiction(problem(X, y[1:], rows=np.array([1, 2, 3])))
    assert found.exact == {0: Fraction(1), 2: Fraction(1)}


def test_equal_hashes_of_different_samples_prove_nothing(monkeypatch):
    monkeypatch.setattr("maxmargin.analysis.twins.row_numbers", lambda X, rows: np.zeros(len(X), dtype=np.uint64))
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    assert contradiction(problem(X, y)) is None


def test_nothing_is_solved_where_two_samples_are_a_proof(monkeypatch):
    def never(*_, **__):
        raise AssertionError("solved although two samples contradict each other")

    rng = np.random.default_rng(0)
    X = sp.random_array((300, 5000), density=0.01, rng=rng, format="csr")
    X, y = sp.vstack([X, X[[7]]], format="csr"), np.where(np.arange(301) % 2, 1, 0)
    y[300] = 1 - y[7]
    monkeypatch.setattr(decision, "solve", never)
    for fit_intercept in (True, False):
        verdict = separability(X, y, fit_intercept=fit_intercept)
        assert isinstance(verdict, NotSeparable)
        assert set(verdict.exact) == {7, 300}
        assert verdict.check().is_exact
    monkeypatch.setattr("maxmargin.estimators.base.solve", never)
    with pytest.raises(NotSeparableError, match="shown by 2 samples"):
        HardMarginSVC().fit(X, y)
    with pytest.raises(NotSeparableError, match="shown by 2 samples"):
        leave_one_out(HardMarginSVC(), X, y)


def test_words_about_the_origin_do_not_speak_of_means_that_coincide():
    """(1, 0) and (2, 0) with opposite labels: their means differ, and no hyperplane through the origin separates them."""
    X, y = [[1.0, 0.0], [2.0, 0.0]], [-1, 1]
    verdict = separability(X, y, fit_intercept=False)
    assert verdict.check()
    assert str(verdict) == (
        "Not separable by a hyperplane through the origin: Σ p_j y_j x_j = 0 with weights p_j > 0, shown by 2 samples."
    )
    assert separability(X, y).is_separable
    with pytest.raises(NotSeparableError, match=r"^No hyperplane through the origin separates 1 from -1\. Not sep"):
        HardMarginSVC(fit_intercept=False).fit(X, y)
    assert "shown by 1 sample." in str(separability([[0.0], [1.0]], [0, 1], fit_intercept=False))


@pytest.mark.parametrize("form", FORMS)
def test_numbers_of_rows_do_not_depend_on_their_form(form):
    X = np.random.default_rng(0).integers(-3, 4, size=(40, 12)).astype(float)
    some = np.array([3, 30, 7])
    np.testing.assert_array_equal(row_numbers(FORMS[form](X)), row_numbers(X))
    np.testing.assert_array_equal(row_numbers(FORMS[form](X), some, negated=True), row_numbers(-X)[some])
