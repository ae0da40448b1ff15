"""What scikit-learn's programs pass and import: parameters with one possible value, levels, names, samples of any kind."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.calibration import CalibratedClassifierCV  # noqa: F401 (the error's line uses it)
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError

import maxmargin
from maxmargin import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron, certify, l1_min_c, leave_one_out, load, report, save
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.kernels import Custom

X, Y = make_classification(60, 4, random_state=0)

WORDS = ["A A", "A", "B", "B B", "A B", "B B A", "A A A", "B B B"]
OF_WORDS = [1, 1, 2, 2, 1, 2, 1, 2]


def letters(A, B):
    assert isinstance(A[0], str)
    return np.array([[a.count("A") * b.count("A") + a.count("B") * b.count("B") for b in B] for a in A], dtype=float)


def common(A, B):
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)


@pytest.mark.parametrize("dual", ["auto", True, False, np.True_])
def test_dual_has_no_effect(dual):
    model = LinearSVC(dual=dual).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, LinearSVC().fit(X, Y).coef_)
    assert model.get_params()["dual"] is dual


@pytest.mark.parametrize("dual", ["yes", 1, None])
def test_what_scikit_learn_refuses_as_dual_is_refused(dual):
    with pytest.raises(ValueError, match="dual"):
        sklearn.svm.LinearSVC(dual=dual).fit(X, Y)
    with pytest.raises(InvalidInputError, match='dual must be "auto", True or False; it has no effect'):
        LinearSVC(dual=dual).fit(X, Y)


def test_multi_class_takes_the_values_of_scikit_learn():
    assert LinearSVC(multi_class="crammer_singer").fit(X, Y).certificate_.is_certified
    with pytest.raises(InvalidInputError, match="multi_class must be one of"):
        LinearSVC(multi_class="ovo").fit(X, Y)


@pytest.mark.parametrize("model", [SVC(C=2.0), LinearSVC(tol=1e-4)], ids=repr)
def test_the_error_about_probabilities_holds_a_line_that_works(model):
    assert model.set_params(probability=False).fit(X, Y).probability is False
    with pytest.raises(NotSupportedError) as info:
        model.set_params(probability=True).fit(X, Y)
    line = str(info.value).partition("use ")[2].partition(", which")[0]
    calibrated = eval(line)  # the line to copy
    assert calibrated.fit(X, Y).predict_proba(X).shape == (60, 2)


@pytest.mark.parametrize("kind", [SVC, LinearSVC, HardMarginSVC, PegasosSVC])
@pytest.mark.parametrize("level", [True, 1, 2, np.int64(3)])
def test_verbose_may_be_a_level(kind, level, capsys):
    data = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    kind(verbose=level).fit(*data)
    assert "certified" in capsys.readouterr().err
    kind(verbose=0).fit(*data)
    assert capsys.readouterr().err == ""


def test_the_new_parameters_are_kept_in_model_files(tmp_path):
    save(LinearSVC(dual=False, multi_class="ovr", verbose=0).fit(X, Y), tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.dual, loaded.multi_class, loaded.probability, loaded.verbose) == (False, "ovr", False, 0)


def test_the_weights_of_a_kernel_machine_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        SVC(kernel="linear").fit(X, Y).coef_[0, 0] = 1.0


def test_every_parameter_of_scikit_learn_is_taken():
    assert set(sklearn.svm.SVC().get_params()) <= set(SVC().get_params())
    assert set(sklearn.svm.LinearSVC().get_params()) <= set(LinearSVC().get_params())
    for name in ("SVR", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"):
        assert set(getattr(sklearn.svm, name)().get_params()) <= set(getattr(maxmargin, name)().get_params())


def test_every_name_of_scikit_learns_module_is_here():
    assert set(sklearn.svm.__all__) <= set(dir(maxmargin))


def test_l1_min_c_of_several_classes_is_that_of_scikit_learn():
    many, y = load_iris(return_X_y=True)
    many = many - many.mean(axis=0)
    ours = l1_min_c(many, y, loss="squared_hinge", fit_intercept=False)
    assert ours == pytest.approx(sklearn.svm.l1_min_c(many, y, fit_intercept=False))
    assert ours == min(l1_min_c(many, y == k, loss="squared_hinge", fit_intercept=False) for k in range(3))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_above_l1_min_c_some_class_has_a_weight_and_below_none(loss):
    many, y = load_iris(return_X_y=True)
    least = l1_min_c(many, y, loss=loss)
    below, above = (LinearSVC("l1", loss, C=C, tol=1e-6).fit(many, y).coef_ for C in (0.99 * least, 1.01 * least))
    assert not below.any()
    assert above.any()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array])
def test_sparse_data_make_sparse_coefficients_of_the_type_of_the_support_vectors(kernel, form, tmp_path):
    rows, y = load_iris(return_X_y=True)
    model, dense = (SVC(kernel=kernel, tol=1e-9).fit(samples, y) for samples in (form(rows), rows))
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        for name in ("dual_coef_", "coef_") if kernel == "linear" else ("dual_coef_",):
            found = getattr(one, name)
            assert type(found) is type(one.support_vectors_)
            assert not found.data.flags.writeable
            np.testing.assert_allclose(found.toarray(), getattr(dense, name), atol=1e-5)
        np.testing.assert_array_equal(one.predict(form(rows)), dense.predict(rows))
        assert certify(one, form(rows), y).worst.relative_gap <= 1e-9
    report(model, form(rows), y, path=tmp_path / "page.html")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_model_of_scikit_learn_on_sparse_data_is_certified_by_its_attributes(kernel):
    theirs = sklearn.svm.SVC(kernel=kernel, tol=1e-8).fit(sp.csr_array(X), Y)
    judge = SVC(kernel=kernel).fit(sp.csr_array(X), Y)
    for name in ("support_", "support_vectors_", "intercept_", "dual_coef_"):
        setattr(judge, name, getattr(theirs, name))
    if kernel == "rbf":
        assert certify(judge, sp.csr_array(X), Y).relative_gap <= 1e-6
    np.testing.assert_allclose(judge.dual_coef_.toarray(), theirs.dual_coef_.toarray())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_converters_read_is_what_scikit_learn_has(form, n_classes):
    rows, y = load_iris(return_X_y=True)
    rows, y = form(rows[y < n_classes]), y[y < n_classes]
    ours, theirs = SVC(tol=1e-9).fit(rows, y), sklearn.svm.SVC(tol=1e-9).fit(rows, y)
    assert ours._gamma == pytest.approx(theirs._gamma)
    np.testing.assert_array_equal(ours._n_support, theirs._n_support)
    np.testing.assert_allclose(ours._intercept_, theirs._intercept_, atol=1e-5)
    one, other = (model._dual_coef_ @ model.support_vectors_ for model in (ours, theirs))
    one, other = (sums.toarray() if sp.issparse(sums) else sums for sums in (one, other))
    np.testing.assert_allclose(one, other, atol=1e-4)
    assert not hasattr(SVC(), "_gamma")


def test_weights_may_be_kept_as_a_sparse_matrix(tmp_path):
    rows, y = load_iris(return_X_y=True)
    model = LinearSVC("l1", tol=1e-6).fit(rows, y)
    weights, F = model.coef_, model.decision_function(rows)
    _, is_certain = model.certified_predictions(rows)
    assert model.sparsify() is model
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        assert sp.issparse(one.coef_)
        for form in (np.asarray, sp.csr_array):
            np.testing.assert_allclose(one.decision_function(form(rows)), F, rtol=1e-12)
        np.testing.assert_array_equal(one.certified_predictions(rows)[1], is_certain)
        assert certify(one, rows, y).worst.relative_gap <= 1e-6
        np.testing.assert_array_equal(one.densify().coef_, weights)
    np.testing.assert_array_equal(model.sparsify().fit(rows, y).coef_, weights)
    for method in ("sparsify", "densify"):
        with pytest.raises(NotFittedError):
            getattr(LinearSVC(), method)()


@pytest.mark.parametrize("kind", [SVC, LinearSVC])
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([-1, -1, 0, -2], "Invalid input - all samples have zero or negative weights."),
        ([0, -1, 3, 1], "Invalid input - all samples with positive weights belong to the same class.*class 'a'.*weigh it"),
        ([1, -1, 3, 1], "Negative values in sample_weight: -1.0. Use 0 to leave a sample out"),
    ],
)
def test_weights_are_refused_in_scikit_learns_words(kind, weights, words):
    with pytest.raises(InvalidInputError, match=words):
        kind().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"], sample_weight=weights)


FORMS = {"list": list, "tuple": tuple, "array": np.array, "objects": lambda words: np.array(words, object), "series": pd.Series}


@pytest.mark.parametrize("form", FORMS)
def test_a_kernel_function_takes_strings_as_scikit_learn_does(form):
    words = FORMS[form](WORDS)
    ours = SVC(kernel=letters, tol=1e-9).fit(words, OF_WORDS)
    theirs = sklearn.svm.SVC(kernel=letters, tol=1e-9).fit(list(WORDS), OF_WORDS)
    np.testing.assert_allclose(ours.decision_function(words), theirs.decision_function(WORDS), atol=1e-6)
    assert list(ours.support_vectors_) == [WORDS[k] for k in ours.support_]
    assert certify(ours, words, OF_WORDS).relative_gap <= 1e-9
    np.testing.assert_array_equal(ours.predict(words[:1]), [1])
    gram = leave_one_out(SVC(kernel="precomputed", tol=1e-9), letters(WORDS, WORDS), OF_WORDS)
    np.testing.assert_array_equal(leave_one_out(ours, words, OF_WORDS).predictions, gram.predictions)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict(words), ours.predict(words))


@pytest.mark.parametrize("form", [np.array, lambda rows: np.array(rows, object), pd.DataFrame])
def test_a_kernel_function_takes_tables_of_strings(form):
    rows = form([["a", "b"], ["a", "c"], ["d", "b"], ["e", "f"]])
    model = SVC(kernel=lambda A, B: (A[:, None] == B[None]).sum(axis=2)).fit(rows, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict(rows), [0, 0, 1, 1])
    assert model.n_features_in_ == 2
    assert model.support_vectors_.shape[1] == 2


@pytest.mark.parametrize(
    "samples",
    [[["a"], ["a", "b"], ["b"], ["b", "b", "c"]], [[1], [1, 2], [2], [2, 2, 3]], [{"a"}, {"a", "b"}, {"b"}, {"b", "c"}]],
)
def test_samples_may_be_of_any_kind(samples):
    y = [0, 0, 1, 1]
    ours, theirs = (kind(kernel=common).fit(samples, y) for kind in (SVC, sklearn.svm.SVC))
    np.testing.assert_array_equal(ours.predict(samples), theirs.predict(samples))
    np.testing.assert_array_equal(ours.predict(samples[1:2]), theirs.predict(samples[1:2]))


def test_other_estimators_take_them_too():
    np.testing.assert_array_equal(HardMarginSVC(kernel=letters).fit(WORDS[:4], OF_WORDS[:4]).predict(WORDS[:4]), OF_WORDS[:4])
    assert Perceptron(kernel=letters).fit(WORDS[:4], OF_WORDS[:4]).score(WORDS[:4], OF_WORDS[:4]) == 1.0
    pairwise = Custom(lambda a, b: float(len(set(a) & set(b))), pairwise=True)
    assert SVC(kernel=pairwise).fit(WORDS, OF_WORDS).predict(WORDS).shape == (8,)


def test_numbers_stay_numbers():
    seen = []
    SVC(kernel=lambda A, B: (seen.append((A.dtype, B.dtype)), A @ B.T)[1]).fit(X.tolist(), Y)
    assert set(seen) == {(np.dtype(np.float64),) * 2}


def test_numbers_in_a_table_of_objects_are_given_as_they_came():
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X.astype(object), Y)
    np.testing.assert_array_equal(model.predict(X.astype(object)), SVC(kernel=lambda A, B: A @ B.T).fit(X, Y).predict(X))


@pytest.mark.parametrize("bad", [5, "abc", np.arange(8.0), []])
def test_what_is_no_samples_is_refused_and_the_rest_keeps_its_kernel(bad):
    with pytest.raises(ValueError, match=r"array|convert"):
        SVC(kernel=letters).fit(bad, OF_WORDS)
    with pytest.raises(ValueError, match="could not convert string"):
        SVC().fit(WORDS, OF_WORDS)
