"""What a model makes of each sample: the same numbers as everywhere else."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from maxmargin import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron, certify
from maxmargin.core.certificate.parts import ABSENT, INSIDE, ON, OUTSIDE
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import anatomies, strongest


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1)
    return rng.standard_normal((60, 3)) + np.outer(y, [1.0, 0.5, 0.0]), np.where(y > 0, "yes", "no")


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(C=0.5),
        LinearSVC(C=0.5, loss="squared_hinge"),
        SVC(C=2.0),
        SVC(C=2.0, kernel="linear"),
        PegasosSVC(n_epochs=1000),
        PegasosSVC(kernel="rbf"),
        Perceptron(max_iter=5),
        Perceptron(max_iter=5, kernel="rbf"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_decisions_are_those_of_the_model(model, clouds):
    X, y = clouds
    model.fit(X, y)
    (part,) = anatomies(model, X, y)
    np.testing.assert_allclose(part.F, model.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(part.margins > 0, model.predict(X) == y)
    np.testing.assert_allclose(np.abs(model.dual_coef_[0]), part.alpha[model.support_])
    assert part.name == "yes against no"


def test_groups_and_certificate_are_those_of_certify(clouds):
    X, y = clouds
    model = SVC(C=2.0, kernel="linear").fit(X, y)
    (part,) = anatomies(model, X, y)
    judged = certify(model, X, y)
    assert part.certificate.groups == judged.groups
    assert part.certificate.relative_gap == pytest.approx(judged.relative_gap, abs=1e-12)
    assert part.norm == pytest.approx(np.linalg.norm(model.coef_))
    assert [int((part.groups == g).sum()) for g in (OUTSIDE, ON, INSIDE)] == list(judged.groups)


def test_samples_without_weight_are_absent(clouds):
    X, y = clouds
    weight = np.ones(60)
    weight[:5] = 0.0
    model = LinearSVC().fit(X, y, weight)
    parts = anatomies(model, X, y, weight)
    assert (parts[0].groups[:5] == ABSENT).all()
    assert len(parts[0].present) == 55
    assert (strongest(parts, 60)[1] == ABSENT).sum() == 5


def test_more_classes_have_a_problem_a_pair_or_a_class():
    X, y = load_iris(return_X_y=True)
    pairs = anatomies(SVC().fit(X, y), X, y)
    assert [part.name for part in pairs] == ["0 against 1", "0 against 2", "1 against 2"]
    assert [len(part.y) for part in pairs] == [100, 100, 100]
    rest = anatomies(LinearSVC().fit(X, y), X, y)
    assert [part.name for part in rest] == [f"{k} against the rest" for k in range(3)]
    alpha, groups = strongest(pairs, 150)
    np.testing.assert_array_equal(np.flatnonzero(alpha), np.sort(SVC().fit(X, y).support_))
    np.testing.assert_array_equal(groups > OUTSIDE, alpha > 0)


def test_a_stream_has_decisions_only(clouds):
    X, y = clouds
    model = PegasosSVC().partial_fit(X, y, classes=["no", "yes"])
    (part,) = anatomies(model, X, y)
    assert part.alpha is None
    assert part.groups is None
    assert part.certificate is None
    assert np.isnan(part.norm)
    assert strongest([part], 60) == (None, None)


def test_sparse_and_dense_agree(clouds):
    X, y = clouds
    dense, sparse = (anatomies(LinearSVC(tol=1e-9).fit(Z, y), Z, y)[0] for Z in (X, sp.csr_array(X)))
    np.testing.assert_allclose(dense.F, sparse.F, atol=1e-4)


def test_what_is_not_ours_or_not_fitted_is_refused(clouds):
    from sklearn import svm

    X, y = clouds
    with pytest.raises(InvalidInputError, match="from maxmargin import SVC"):
        anatomies(svm.SVC().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        anatomies(SVC(), X, y)
    with pytest.raises(InvalidInputError, match="training data"):
        anatomies(HardMarginSVC(kernel="rbf").fit(X, y), X[:-1], y[:-1])
    with pytest.raises(InvalidInputError, match="one label of"):
        anatomies(PegasosSVC().partial_fit(X, y, classes=["no", "yes"]), X, np.full(60, "maybe"))
