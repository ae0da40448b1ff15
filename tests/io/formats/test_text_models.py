"""Text models: LIBSVM itself and we predict the same from the same file, either way; SVM-light's models come and go."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, LinearSVC, ModelFileError, NotSupportedError, Perceptron, export, load, save
from tests.io.models import model, new_samples, samples

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
NUMBERS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3, "precomputed": 4}

TWO_CLASSES = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 3
rho 0.25
label 1 -1
nr_sv 2 1
SV
0.5 1:1 2:0.5
0.25 1:2
-0.75 2:-1
"""


def data(n_classes, order=1):
    """Labels in an order of appearance that is not sorted, so that LIBSVM's numbering is not ours."""
    X, y = samples(n_classes, 30, seed=n_classes)
    return X, np.array([5, -2, 3, 11])[y] if order else y


def gram(X, Z):
    return X @ Z.T + 1.0


def rows(X, is_precomputed=False):
    entries = [{j + 1: float(v) for j, v in enumerate(row)} for row in X]
    return [{0: i + 1, **row} for i, row in enumerate(entries)] if is_precomputed else entries


def libsvm():
    return pytest.importorskip("libsvm.svmutil", reason="LIBSVM itself is not installed: pip install libsvm-official")


def answers(theirs, X, is_precomputed):
    """(labels, decisions) of real LIBSVM."""
    labels, _, decisions = libsvm().svm_predict([0] * len(X), rows(X, is_precomputed), theirs, "-q")
    return np.array(labels), np.array(decisions)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_files_of_real_libsvm_predict_the_same_here(kernel, n_classes, tmp_path):
    X, y = data(n_classes)
    T = samples(3, 200, seed=5)[0]
    is_precomputed = kernel == "precomputed"
    A, B = (gram(X, X), gram(T, X)) if is_precomputed else (X, T)
    theirs = libsvm().svm_train(y.tolist(), rows(A, is_precomputed), f"-q -c 2 -g 0.3 -r 0.5 -d 2 -t {NUMBERS[kernel]}")
    path = str(tmp_path / "theirs.model")
    libsvm().svm_save_model(path, theirs)
    theirs = libsvm().svm_load_model(path)  # the file has fewer digits than the model
    ours = load(path, n_features=A.shape[1]).set_params(decision_function_shape="ovo")
    labels, decisions = answers(theirs, B, is_precomputed)
    np.testing.assert_array_equal(ours.predict(B), labels)
    np.testing.assert_allclose(ours.decision_function(B).reshape(len(B), -1), decisions, rtol=1e-9, atol=1e-9)
    assert ours.n_support_.sum() == theirs.get_nr_sv()


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_our_files_predict_the_same_in_real_libsvm(kernel, n_classes, tmp_path):
    X, y = data(n_classes)
    T = samples(3, 200, seed=5)[0]
    is_precomputed = kernel == "precomputed"
    A, B = (gram(X, X), gram(T, X)) if is_precomputed else (X, T)
    ours = SVC(kernel=kernel, C=2.0, gamma=0.3, coef0=0.5, degree=2, decision_function_shape="ovo").fit(A, y)
    export(ours, tmp_path / "ours.libsvm")
    labels, decisions = answers(libsvm().svm_load_model(str(tmp_path / "ours.libsvm")), B, is_precomputed)
    np.testing.assert_array_equal(labels, ours.predict(B))
    np.testing.assert_allclose(decisions, ours.decision_function(B).reshape(len(B), -1), rtol=1e-9, atol=1e-9)
    twin = load(tmp_path / "ours.libsvm", n_features=A.shape[1])
    np.testing.assert_array_equal(twin.predict(B), ours.predict(B))
    np.testing.assert_array_equal(twin.classes_, ours.classes_)


def test_a_model_from_libsvm_can_be_saved_as_ours(tmp_path):
    (tmp_path / "a.libsvm").write_text(TWO_CLASSES)
    first = load(tmp_path / "a.libsvm")
    save(first, tmp_path / "a.maxmargin")
    X = samples(2, d=2)[0]
    np.testing.assert_array_equal(load(tmp_path / "a.maxmargin").decision_function(X), first.decision_function(X))
    assert not hasattr(first, "certificate_")


def test_a_decision_is_the_formula(tmp_path):
    (tmp_path / "a.libsvm").write_text(TWO_CLASSES)
    ours = load(tmp_path / "a.libsvm")
    x, Z, a = np.array([0.3, 0.4]), np.array([[1, 0.5], [2, 0], [0, -1]]), np.array([0.5, 0.25, -0.75])
    F = a @ np.exp(-0.5 * ((Z - x) ** 2).sum(axis=1)) - 0.25
    np.testing.assert_allclose(ours.decision_function([x]), [F], rtol=1e-14)
    assert ours.classes_.tolist() == [-1, 1]
    assert ours.n_support_.tolist() == [1, 2]
    assert ours.predict([x]) == (1 if F > 0 else -1)


def test_a_decision_of_zero_is_the_second_label_as_in_libsvm(tmp_path):
    text = TWO_CLASSES.replace("rbf\ngamma 0.5", "linear").replace("rho 0.25", "rho 0")
    (tmp_path / "a.libsvm").write_text(text.replace("label 1 -1", "label 7 9"))
    assert load(tmp_path / "a.libsvm").predict([[0.0, 0.0]]) == 9
    theirs = libsvm().svm_load_model(str(tmp_path / "a.libsvm"))
    assert answers(theirs, np.zeros((1, 2)), False)[0] == 9


@pytest.mark.parametrize("kind", [LinearSVC, Perceptron])
def test_linear_models_of_two_classes_go_out_by_their_weights(kind, tmp_path):
    X, y = samples(2)
    ours = kind().fit(sp.csr_array(X), y)
    export(ours, tmp_path / "a.libsvm")
    twin = load(tmp_path / "a.libsvm", n_features=3)
    np.testing.assert_array_equal(twin.coef_, ours.coef_)
    np.testing.assert_array_equal(twin.intercept_, ours.intercept_)
    assert libsvm().svm_load_model(str(tmp_path / "a.libsvm")).get_nr_sv() == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("svc_rbf", "whole numbers"),
        ("linear_3", "one-vs-rest"),
        ("perceptron_voted", "voted"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(name, reason, tmp_path):
    with pytest.raises(NotSupportedError, match=reason):
        export(model(name), tmp_path / "a.libsvm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["libsvm", "svmlight"])
def test_the_steps_of_a_pipeline_are_refused_with_a_way_out(suffix, tmp_path):
    X, y = samples(2)
    fitted = make_pipeline(StandardScaler(), SVC()).fit(X, 2 * y - 1)
    with pytest.raises(NotSupportedError, match=r"StandardScaler\(\).*pipeline\[-1\]"):
        export(fitted, tmp_path / f"a.{suffix}")
    assert list(tmp_path.iterdir()) == []
    export(fitted[-1], tmp_path / f"a.{suffix}")
    raw = make_pipeline("passthrough", SVC()).fit(X, 2 * y - 1)
    export(raw, tmp_path / f"a.{suffix}")
    np.testing.assert_array_equal(load(tmp_path / f"a.{suffix}").predict(X), raw.predict(X))


def test_a_rule_for_ties_that_libsvm_lacks_is_refused(tmp_path):
    with pytest.raises(NotSupportedError, match="break_ties"):
        export(SVC(break_ties=True).fit(*data(3)), tmp_path / "a.libsvm")


def test_counts_that_lead_out_of_range_are_refused(tmp_path):
    """CVE-2020-28975: a model with a large entry of n_support_ made LIBSVM read beyond its support vectors."""
    for counts in ("2000000 1", "2 1000000", "-1 4", "2 1 0", "3 1"):
        (tmp_path / "a.libsvm").write_text(TWO_CLASSES.replace("nr_sv 2 1", f"nr_sv {counts}"))
        with pytest.raises(ModelFileError) as caught:
            load(tmp_path / "a.libsvm")
        assert caught.value.part == "nr_sv"
    both = TWO_CLASSES.replace("nr_sv 2 1", "nr_sv 2 1000000").replace("total_sv 3", "total_sv 1000002")
    (tmp_path / "a.libsvm").write_text(both)
    with pytest.raises(ModelFileError, match="truncated") as caught:
        load(tmp_path / "a.libsvm")
    assert caught.value.part == "SV"
    fitted = SVC(gamma=0.5).fit(*samples(2))  # the exploit itself: a fitted model, tampered with, then stored
    fitted.n_support_ = fitted.n_support_.copy()
    fitted.n_support_[0] = 1_000_000
    with pytest.raises(ValueError, match="n_support"):
        save(fitted, tmp_path / "a.maxmargin")


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("gamma 0.5", "gamma nan", "gamma"),
        ("gamma 0.5", "gamma -1", "kernel"),
        ("gamma 0.5\n", "", "gamma"),
        ("gamma 0.5", "gamma 0.5\ngamma 0.5", "gamma"),
        ("gamma 0.5", "gamma 1_0", "gamma"),
        ("rbf", "fourier", "kernel_type"),
        ("rbf", "precomputed", "SV"),
        ("nr_class 2", "nr_class 3", "rho"),
        ("nr_class 2", "nr_class 1", "nr_class"),
        ("nr_class 2", "nr_class 99999999999999999999", "nr_class"),
        ("label 1 -1", "label 1 1", "label"),
        ("label 1 -1", "label 1 x", "label"),
        ("rho 0.25", "rho 1e999", "rho"),
        ("2:0.5", "2:inf", "SV"),
        ("1:1 2:0.5", "2:0.5 1:1", "SV"),
        ("1:1 2:0.5", "0:1 2:0.5", "SV"),
        ("1:2", "999999999:2", "SV"),
        ("1:2", "1", "SV"),
        ("-0.75 2:-1\n", "", "SV"),
        ("-0.75 2:-1\n", "-0.75 2:-1\n1 1:1\n", "SV"),
        ("SV\n", "SW\n", "header"),
        ("total_sv 3", "total_sv 4", "nr_sv"),
    ],
)  # fmt: skip
def test_damaged_models_are_refused_by_the_name_of_the_part(old, new, part, tmp_path):
    assert old in TWO_CLASSES
    (tmp_path / "a.libsvm").write_text(TWO_CLASSES.replace(old, new, 1))
    with pytest.raises(ModelFileError) as caught:
        load(tmp_path / "a.libsvm")
    assert caught.value.part == part, str(caught.value)


def test_other_machines_of_libsvm_are_refused(tmp_path):
    (tmp_path / "a.libsvm").write_text(TWO_CLASSES.replace("c_svc", "epsilon_svr"))
    with pytest.raises(NotSupportedError, match="epsilon_svr"):
        load(tmp_path / "a.libsvm")


def test_probabilities_of_libsvm_do_not_stand_in_the_way(tmp_path):
    (tmp_path / "a.libsvm").write_text(TWO_CLASSES.replace("nr_sv", "probA -1.5\nprobB 0.25\nnr_sv"))
    assert load(tmp_path / "a.libsvm").predict([[1.0, 0.5]]) == 1
    (tmp_path / "a.libsvm").write_text(TWO_CLASSES.replace("nr_sv", "probA x\nnr_sv"))
    with pytest.raises(ModelFileError, match="probA"):
        load(tmp_path / "a.libsvm")


def test_features_that_no_support_vector_has_can_be_said(tmp_path):
    (tmp_path / "a.libsvm").write_text(TWO_CLASSES)
    assert load(tmp_path / "a.libsvm", n_features=5).n_features_in_ == 5
    with pytest.raises(ModelFileError, match="n_features=1"):
        load(tmp_path / "a.libsvm", n_features=1)


def test_models_of_other_estimators_with_kernels_go_out(tmp_path):
    ours = model("pegasos_rbf")
    export(ours, tmp_path / "a.libsvm")
    X = new_samples(ours)
    twin = load(tmp_path / "a.libsvm", n_features=3)
    np.testing.assert_allclose(twin.decision_function(X), ours.decision_function(X), rtol=1e-10, atol=1e-12)


# what svm_learn -t 1 -d 2 -s 0.5 -r 1 writes, but for the numbers
POLYNOMIAL = """SVM-light Version V6.02
1 # kernel type
2 # kernel parameter -d 
1 # kernel parameter -g 
0.5 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
3 # highest feature index 
10 # number of training documents 
3 # number of support vectors plus 1 
0.25 # threshold b, each following line is a SV (starting with alpha*y)
0.5 1:1 3:2 #
-0.75 2:-1 #a comment
"""  # noqa: W291


def test_a_decision_is_the_formula_of_the_manual(tmp_path):
    (tmp_path / "model").write_text(POLYNOMIAL)
    ours = load(tmp_path / "model")
    x = np.array([0.3, 0.4, -0.2])
    Z, a = np.array([[1.0, 0, 2], [0, -1, 0]]), np.array([0.5, -0.75])
    np.testing.assert_allclose(ours.decision_function([x]), [a @ (0.5 * Z @ x + 1) ** 2 - 0.25], rtol=1e-14)
    assert ours.classes_.tolist() == [-1, 1]


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_what_goes_out_comes_in_the_same(kernel, tmp_path):
    X, y = samples(2)
    ours = SVC(kernel=kernel, degree=2, coef0=0.5, gamma=0.3).fit(X, 2 * y - 1)
    export(ours, tmp_path / "a.svmlight")
    twin, T = load(tmp_path / "a.svmlight", n_features=3), samples(3, 100, seed=5)[0]
    np.testing.assert_allclose(twin.decision_function(T), ours.decision_function(T), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(twin.predict(T), ours.predict(T))


def test_what_svmlights_format_cannot_hold_is_refused(tmp_path):
    X, y = samples(2)
    for fitted, reason in (
        (SVC().fit(X, y), "−1 from"),
        (SVC().fit(*samples(3)), "−1 from"),
        (LinearSVC().fit(X, np.array(["-1", "1"])[y]), "whole numbers"),
        (SVC(kernel="precomputed").fit(X @ X.T, 2 * y - 1), "precomputed"),
    ):
        with pytest.raises(NotSupportedError, match=reason):
            export(fitted, tmp_path / "a.svmlight")


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("1 # kernel type", "x # kernel type", "kernel type"),
        ("2 # kernel parameter -d", "-2 # kernel parameter -d", "-d"),
        ("0.5 # kernel parameter -s", "nan # kernel parameter -s", "-s"),
        ("3 # highest", "2 # highest", "highest feature index"),
        ("3 # number of support", "4 # number of support", "support vectors"),
        ("3 # number of support", "2 # number of support", "support vectors"),
        ("0.25 # threshold", "# threshold", "threshold b"),
        ("0.5 1:1", "1:1", "support vectors"),
        ("2:-1", "2:x", "support vectors"),
    ],
)
def test_damaged_models_of_svmlight_are_refused_by_the_name_of_the_part(old, new, part, tmp_path):
    assert old in POLYNOMIAL
    (tmp_path / "a").write_text(POLYNOMIAL.replace(old, new, 1))
    with pytest.raises(ModelFileError) as caught:
        load(tmp_path / "a")
    assert caught.value.part == part, str(caught.value)


def test_a_truncated_model_is_refused(tmp_path):
    for lines in range(1, 12):
        (tmp_path / "a").write_text("\n".join(POLYNOMIAL.splitlines()[:lines]) + "\n")
        with pytest.raises(ModelFileError, match="truncated"):
            load(tmp_path / "a")


def test_a_kernel_of_its_own_is_refused(tmp_path):
    (tmp_path / "a").write_text(POLYNOMIAL.replace("1 # kernel type", "4 # kernel type"))
    with pytest.raises(NotSupportedError, match="kernel type 4"):
        load(tmp_path / "a")
