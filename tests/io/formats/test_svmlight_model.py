"""SVM-light's models: out and in again the same, and read as its manual says."""

import numpy as np
import pytest

from maxmargin import SVC, LinearSVC, ModelFileError, NotSupportedError, export, load
from tests.io.models import samples

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


def test_what_the_format_cannot_hold_is_refused(tmp_path):
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
def test_damaged_models_are_refused_by_the_name_of_the_part(old, new, part, tmp_path):
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
