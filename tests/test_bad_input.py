"""Bad and odd input: each case has its sentence, and none of them changes the estimator."""

import copy
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning, NotFittedError

from maxmargin import (
    SVC,
    ConvergenceWarning,
    HardMarginSVC,
    InvalidInputError,
    LinearSVC,
    NotSeparableError,
    NotSupportedError,
    separability,
)

X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]])
Y = np.array([0, 0, 1, 1])


def with_entry(value):
    out = X.copy()
    out[1, 0] = value
    return out


def unchanged_after(error, match, call, model):
    """The call raises that error with that message, and the estimator is as before it."""
    before = copy.deepcopy(vars(model))
    with pytest.raises(error, match=match):
        call(model)
    assert list(vars(model)) == list(before)
    for name, value in vars(model).items():
        np.testing.assert_equal(value, before[name])


@pytest.fixture(params=["fresh", "fitted"])
def model(request):
    """An estimator without parameters of its own, before or after a fit."""
    return HardMarginSVC() if request.param == "fresh" else HardMarginSVC().fit(X, Y)


# ----------------------------------------------------------------------------------------------------------------- data

DATA = {
    "NaN": (with_entry(np.nan), Y, ValueError, "Input X contains NaN"),
    "inf": (with_entry(np.inf), Y, ValueError, "Input X contains infinity"),
    "-inf": (with_entry(-np.inf), Y, ValueError, "Input X contains infinity"),
    "NaN in CSR": (sp.csr_array(with_entry(np.nan)), Y, ValueError, "Input X contains NaN"),
    "one class": (X, np.ones(4), InvalidInputError, "at least two classes, got 1 class"),
    "one sample": (X[:1], Y[:1], InvalidInputError, "at least two classes, got 1 class"),
    "no sample": (np.empty((0, 2)), np.empty(0), ValueError, re.escape("0 sample(s)")),
    "no feature": (np.empty((4, 0)), Y, ValueError, re.escape("0 feature(s)")),
    "no data": (None, Y, ValueError, "Expected 2D array"),
    "one dimension": (X[:, 0], Y, ValueError, "Expected 2D array, got 1D array"),
    "three dimensions": (X[None], Y, ValueError, "dim 3"),
    "ragged rows": ([[1.0, 2.0], [3.0]], [0, 1], ValueError, "inhomogeneous"),
    "too few labels": (X, Y[:3], ValueError, r"inconsistent numbers of samples: \[4, 3\]"),
    "too many labels": (X, [0, 1, 0, 1, 1], ValueError, r"inconsistent numbers of samples: \[4, 5\]"),
    "no labels": (X, None, ValueError, "requires y to be passed"),
    "words": (np.array([["a", "b"]] * 4), Y, ValueError, "could not convert string to float"),
    "words among numbers": ([[0.0, "x"], [1.0, 2.0]], [0, 1], ValueError, "could not convert string to float"),
    "complex numbers": (X + 1j, Y, ValueError, "Complex data not supported"),
    "continuous labels": (X, [0.1, 0.2, 0.3, 0.4], ValueError, "Unknown label type: continuous"),
    "several labels each": (X, [[0, 1], [1, 1], [0, 0], [1, 0]], ValueError, "y should be a 1d array"),
    "NaN labels": (X, [0.0, 0.0, 1.0, np.nan], ValueError, "Input y contains NaN"),
    "missing labels": (X, np.array(["a", "a", "b", None], dtype=object), (ValueError, TypeError), "not supported|None"),
    "squares that overflow": (
        1e200 * X,
        Y,
        InvalidInputError,
        r"largest value of X is 4e\+200; its square overflows\. Scale",
    ),
    "squares that vanish": (
        1e-200 * X,
        Y,
        InvalidInputError,
        "largest value of X is 4e-200; its square vanishes. Scale",
    ),
    "subnormal values": (1e-310 * X, Y, InvalidInputError, "largest value of X is 4e-310; its square vanishes. Scale"),
    "identical rows": (np.ones((4, 2)), Y, NotSeparableError, "No hyperplane separates 1 from 0"),
    "a row with both labels": (X[[0, 0, 2]], [0, 1, 1], NotSeparableError, "No hyperplane separates 1 from 0"),
}


@pytest.mark.parametrize("name", DATA)
def test_data_that_cannot_be_used_are_refused_with_a_sentence(name, model):
    data, labels, error, match = DATA[name]
    unchanged_after(error, match, lambda m: m.fit(data, labels), model)


@pytest.mark.parametrize("name", ["NaN", "one class", "too few labels", "squares that overflow", "continuous labels"])
def test_separability_refuses_the_same_data(name):
    data, labels, error, match = DATA[name]
    with pytest.raises(error, match=match):
        separability(data, labels)


def test_the_one_class_is_called_by_its_name():
    with pytest.raises(InvalidInputError) as caught:
        HardMarginSVC().fit(X, ["left"] * 4)
    assert "'left'" in str(caught.value)
    assert "np." not in str(caught.value)


def test_a_column_of_labels_is_taken_with_scikit_learns_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        fitted = HardMarginSVC().fit(X, Y[:, None])
    np.testing.assert_array_equal(fitted.predict(X), Y)


# -------------------------------------------------------------------------------------------------------------- weights

WEIGHTS = {
    "all zero": (np.zeros(4), ValueError, "at least one non-zero number"),
    "a class without": ([0, 0, 1, 1], InvalidInputError, "No sample of class 0 has a positive sample_weight"),
    "negative": (
        [1, 1, 1, -1],
        InvalidInputError,
        "Negative values in sample_weight: .*-1.* Use 0 to leave a sample out",
    ),
    "NaN": ([1, 1, 1, np.nan], ValueError, "sample_weight contains NaN"),
    "infinite": ([1, 1, 1, np.inf], ValueError, "sample_weight contains infinity"),
    "too few": ([1, 1, 1], ValueError, re.escape("sample_weight.shape == (3,), expected (4,)")),
    "two dimensions": ([[1, 1, 1, 1]], ValueError, "must be 1D array or scalar"),
    "words": (["a", "b", "c", "d"], ValueError, "could not convert string to float"),
    "one negative number": (-1.0, InvalidInputError, "all samples have zero or negative weights"),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_that_cannot_be_used_are_refused_with_a_sentence(name, model):
    weights, error, match = WEIGHTS[name]
    unchanged_after(error, match, lambda m: m.fit(X, Y, sample_weight=weights), model)


# ----------------------------------------------------------------------------------------------------------- parameters

PARAMETERS = [
    ({"kernel": "nope"}, "kernel='nope' is unknown. Use one of 'linear', 'poly', 'rbf'"),
    ({"kernel": None}, "kernel=None is unknown"),
    ({"kernel": 3}, "kernel=3 is unknown"),
    ({"kernel": "rbf", "gamma": -1}, "gamma=-1 is no width of a kernel. Use 'scale', 'auto' or a number ≥ 0"),
    ({"kernel": "rbf", "gamma": "wide"}, "gamma='wide' is no width of a kernel. Use 'scale', 'auto' or a number ≥ 0"),
    ({"kernel": "rbf", "gamma": np.nan}, "gamma=nan is not a finite real number"),
    ({"kernel": "poly", "degree": 1.5}, "degree=1.5 is not a whole number ≥ 0"),
    ({"kernel": "poly", "degree": -2}, "degree=-2 is not a whole number ≥ 0"),
    ({"kernel": "poly", "coef0": "one"}, "coef0='one' is not a finite real number"),
    ({"tol": -1}, "tol is the relative gap to reach and must be a number ≥ 0, got -1"),
    ({"tol": "a"}, "tol is the relative gap to reach and must be a number ≥ 0, got 'a'"),
    ({"tol": np.nan}, "tol is the relative gap to reach and must be a number ≥ 0, got nan"),
    ({"tol": True}, "tol is the relative gap to reach and must be a number ≥ 0, got True"),
    ({"max_iter": 0.5}, "max_iter must be an integer ≥ −1 .*, got 0.5"),
    ({"max_iter": -2}, "max_iter must be an integer ≥ −1 .*, got -2"),
    ({"max_iter": True}, "max_iter must be an integer ≥ −1 .*, got True"),
    ({"max_seconds": 0}, "max_seconds must be a positive number or None .*, got 0"),
    ({"max_seconds": -1.0}, "max_seconds must be a positive number or None .*, got -1.0"),
    ({"max_seconds": "soon"}, "max_seconds must be a positive number or None .*, got 'soon'"),
    ({"cache_size": -1}, 'cache_size must be "auto" or a positive number of megabytes, got -1'),
    ({"cache_size": 0}, 'cache_size must be "auto" or a positive number of megabytes, got 0'),
    ({"cache_size": "huge"}, "cache_size must be \"auto\" or a positive number of megabytes, got 'huge'"),
    ({"solver": "nope"}, "solver must be 'auto', one of .*'constraint_generation'.*, got 'nope'"),
    ({"solver": None}, "solver must be 'auto', one of .*, got None"),
    ({"decision_function_shape": "x"}, r"decision_function_shape must be one of \('ovr', 'ovo'\), got 'x'"),
    ({"decision_function_shape": None}, r"decision_function_shape must be one of \('ovr', 'ovo'\), got None"),
]


@pytest.mark.parametrize(("parameters", "match"), PARAMETERS, ids=[str(parameters) for parameters, _ in PARAMETERS])
def test_wrong_parameters_are_refused_with_a_sentence(parameters, match, model):
    model.set_params(**parameters)
    unchanged_after(InvalidInputError, match, lambda m: m.fit(X, Y), model)


def test_a_solver_of_a_wrong_type_is_refused_with_a_sentence():
    with pytest.raises(InvalidInputError, match="solver must be 'auto', one of"):
        HardMarginSVC(solver=["interior_point"]).fit(X, Y)


@pytest.mark.parametrize("parameters", [{"fit_intercept": "no"}, {"fit_intercept": None}, {"break_ties": "never"}])
def test_a_switch_takes_true_and_false_alone(parameters):
    with pytest.raises(InvalidInputError, match=next(iter(parameters))):
        HardMarginSVC(**parameters).fit(X, Y)


def test_ties_of_pairs_cannot_be_broken(model):
    model.set_params(break_ties=True, decision_function_shape="ovo")
    model.fit(X, Y)  # decision values are the same
    unchanged_after(InvalidInputError, "break_ties must be False when", lambda m: m.predict(X), model)


def test_a_kernel_that_is_not_positive_semidefinite_is_refused(model):
    model.set_params(kernel="sigmoid")
    unchanged_after(NotSupportedError, "positive semi-definite kernel, got Sigmoid", lambda m: m.fit(X, Y), model)


def test_a_solver_that_cannot_take_so_many_samples_says_so():
    rng = np.random.default_rng(0)
    many = rng.standard_normal((4100, 2))
    with pytest.raises(NotSupportedError, match=r"InteriorPoint takes up to 4000 samples.*got n = 4100"):
        HardMarginSVC(kernel="rbf", solver="interior_point").fit(many, np.arange(4100) % 2)


def test_wrong_parameters_are_found_before_training_starts(monkeypatch):
    from maxmargin.solvers import InteriorPoint

    def started(*args):
        raise AssertionError("training started")

    monkeypatch.setattr(InteriorPoint, "init", started)
    for parameters, _ in PARAMETERS:
        with pytest.raises(InvalidInputError):
            HardMarginSVC(**parameters).fit(X, Y)


# -------------------------------------------------------------------------------------------------------------- predict


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_nothing_is_predicted_before_a_fit(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(HardMarginSVC(), method)(X)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (X[:, :1], "X has 1 features, but HardMarginSVC is expecting 2 features"),
        (np.hstack([X, X]), "X has 4 features, but HardMarginSVC is expecting 2 features"),
        (with_entry(np.nan), "Input X contains NaN"),
        (with_entry(np.inf), "Input X contains infinity"),
        (X[0], "Expected 2D array, got 1D array"),
        (np.empty((0, 2)), re.escape("0 sample(s)")),
    ],
)
def test_new_data_must_look_like_the_training_data(data, match):
    for kernel in ("linear", "rbf"):
        fitted = HardMarginSVC(kernel=kernel).fit(X, Y)
        unchanged_after(ValueError, match, lambda m: m.predict(data), fitted)
        unchanged_after(ValueError, match, lambda m: m.decision_function(data), fitted)


def test_a_precomputed_matrix_must_be_square(model):
    model.set_params(kernel="precomputed")
    unchanged_after(InvalidInputError, r"must be square at training, got shape \(4, 2\)", lambda m: m.fit(X, Y), model)


def test_a_precomputed_matrix_needs_a_column_for_each_training_sample():
    fitted = HardMarginSVC(kernel="precomputed").fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="X has 3 features, but HardMarginSVC is expecting 4"):
        fitted.predict((X @ X.T)[:, :3])


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (lambda U, V: np.zeros((1, 1)), "returned shape"),
        (lambda U, V: "similar", "wanted real numbers"),
        (lambda U, V: np.full((len(U), len(V)), np.nan), "finite|NaN"),
    ],
)
def test_a_function_that_is_no_kernel_is_found_out(kernel, match):
    with pytest.raises(InvalidInputError, match=match):
        HardMarginSVC(kernel=kernel).fit(X, Y)


# ----------------------------------------------------------------------------------------------- odd, but good, input


@pytest.mark.parametrize("scale", [1e-130, 1e-100, 1e-30, 1e30, 1e100, 1e130])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_large_and_small_scales_are_solved(scale, kernel):
    plain, scaled = HardMarginSVC(kernel=kernel).fit(X, Y), HardMarginSVC(kernel=kernel).fit(scale * X, Y)
    assert scaled.certificate_.relative_gap <= 1e-9
    np.testing.assert_allclose(scaled.decision_function(scale * X), plain.decision_function(X), rtol=1e-7)
    if kernel == "linear":
        assert scaled.certificate_.margin == pytest.approx(scale * plain.certificate_.margin, rel=1e-9)


def test_features_of_very_different_scales_are_solved():
    scales = np.array([1e-4, 1e4])
    fitted = HardMarginSVC().fit(X * scales, Y)
    assert fitted.certificate_.relative_gap <= 1e-6
    assert fitted.score(X * scales, Y) == 1.0


def test_subnormal_values_among_others_do_no_harm():
    tiny = np.column_stack([X, [1e-310, 0.0, -1e-310, 5e-324]])
    np.testing.assert_allclose(HardMarginSVC().fit(tiny, Y).coef_[0, :2], HardMarginSVC().fit(X, Y).coef_[0], rtol=1e-9)


def test_constant_features_get_no_weight():
    constant = np.column_stack([X, np.full(4, 7.0), np.zeros(4)])
    fitted = HardMarginSVC().fit(constant, Y)
    np.testing.assert_allclose(fitted.coef_[0], [*HardMarginSVC().fit(X, Y).coef_[0], 0.0, 0.0], atol=1e-12)


def test_repeated_rows_change_nothing():
    once, twice = HardMarginSVC().fit(X, Y), HardMarginSVC().fit(np.vstack([X, X]), np.append(Y, Y))
    np.testing.assert_allclose(twice.coef_, once.coef_, rtol=1e-9)
    assert twice.certificate_.margin == pytest.approx(once.certificate_.margin)


def test_rows_that_repeat_a_hundredfold_change_nothing():
    many = HardMarginSVC().fit(np.repeat(X, 100, axis=0), np.repeat(Y, 100))
    np.testing.assert_allclose(many.coef_, HardMarginSVC().fit(X, Y).coef_, rtol=1e-9)


def test_numbers_written_as_words_are_numbers_as_in_scikit_learn():
    np.testing.assert_array_equal(HardMarginSVC().fit(X.astype(str), Y).coef_, HardMarginSVC().fit(X, Y).coef_)


def test_an_empty_row_of_a_sparse_matrix_is_a_sample_at_the_origin():
    rows = sp.csr_array(X)
    assert rows[[0]].nnz == 0
    np.testing.assert_allclose(HardMarginSVC().fit(rows, Y).coef_.toarray(), HardMarginSVC().fit(X, Y).coef_, rtol=1e-9)
    nothing = sp.csr_array((4, 2))
    with pytest.raises(NotSeparableError):
        HardMarginSVC().fit(nothing, Y)


def test_a_sparse_matrix_with_unsorted_and_repeated_entries_is_summed():
    parts = np.array([1.0, 2.0, 1.0, 4.0, 1.0]), np.array([0, 0, 1, 0, 0]), np.array([0, 0, 1, 3, 5])
    rows = sp.csr_array(parts, shape=(4, 2))
    expected = HardMarginSVC().fit(rows.toarray(), Y)
    np.testing.assert_allclose(HardMarginSVC().fit(rows, Y).coef_.toarray(), expected.coef_, rtol=1e-9)


# --------------------------------------------------------------------------------------------------------------- memory


def wide(n, d, each=5):
    """A sparse matrix with a handful of entries in each row, and alternating labels."""
    rng = np.random.default_rng(0)
    where = np.repeat(np.arange(n), each), rng.integers(0, d, size=n * each)
    return sp.csr_array((rng.standard_normal(n * each), where), shape=(n, d)), np.arange(n) % 2


def peak_of(call):
    """The megabytes that a call has in use at its peak, and what it returns."""
    tracemalloc.start()
    try:
        value = call()
        return tracemalloc.get_traced_memory()[1] / 2**20, value
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_two_million_sparse_features_are_never_made_dense(kernel):
    data, labels = wide(30, 2_000_000)
    peak, fitted = peak_of(lambda: HardMarginSVC(kernel=kernel, gamma=0.5).fit(data, labels))
    assert peak < 200, "thirty dense rows would take 458 MB"
    assert fitted.certificate_.relative_gap <= 1e-9
    np.testing.assert_array_equal(fitted.predict(data), labels)


def test_a_proof_about_many_sparse_features_does_not_make_them_dense():
    data, labels = wide(20, 100_000)
    twice, both = sp.vstack([data, data[[0]]], format="csr"), np.append(labels, 1 - labels[0])
    peak, verdict = peak_of(lambda: separability(twice, both))
    assert verdict.is_separable is False
    assert verdict.check()
    assert peak < 10, "200 MB for two million features are 10 MB for these"


# ---------------------------------------------------------------------------------------------------- the range of float64

FAR = {
    "C": (LinearSVC(C=1e308), None, "may leave the range of float64"),
    "C with a kernel": (SVC(C=1e308), None, "may leave the range of float64"),
    "C of the squared hinge": (LinearSVC(C=1e120, loss="squared_hinge"), None, "may leave the range of float64"),
    "C of L1": (LinearSVC(C=1e308, penalty="l1"), None, "may leave the range of float64"),
    "scale of the bias": (LinearSVC(intercept_scaling=1e200), None, "may leave the range of float64"),
    "C times weights": (LinearSVC(C=1e308), np.full(4, 10.0), "C × sample weight × class weight leaves the range"),
    "C times class weights": (
        LinearSVC(C=1e308, class_weight={0: 10.0}),
        None,
        "C × sample weight × class weight leaves",
    ),
    "vanishing weights": (
        LinearSVC(C=1e-300),
        np.array([1.0, 1.0, 1.0, 1e-100]),
        "C × sample weight × class weight leaves",
    ),
    "class weight beyond float64": (LinearSVC(class_weight={0: 10**400}), None, "positive for every class, and finite"),
    "tol beyond float64": (LinearSVC(tol=10**400), None, "tol is the relative gap"),
    "seconds beyond float64": (SVC(max_seconds=10**400), None, "max_seconds must be"),
    "bias beyond float64": (LinearSVC(intercept_scaling=10**400), None, "scale of a penalized bias"),
}


@pytest.mark.parametrize("name", list(FAR))
def test_numbers_that_leave_float64_have_their_sentence(name):
    model, weights, words = FAR[name]
    unchanged_after(InvalidInputError, words, lambda estimator: estimator.fit(X, Y, weights), model)


def test_a_kernel_with_enormous_values_does_not_raise_an_overflow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=40) > 0
    with pytest.warns(ConvergenceWarning, match="Not certified: the gap is"):
        SVC(kernel="poly", degree=400).fit(X, y)
    with pytest.raises(InvalidInputError, match="not finite in float64"):
        SVC(kernel="poly", degree=4000).fit(X, y)
