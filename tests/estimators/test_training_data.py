"""The fingerprint of training data: the same for the same numbers, however they are stored, and for no others."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons

from maxmargin import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron, bounds, certify, report, xi_alpha
from maxmargin.core.certificate.certify import QUESTION
from maxmargin.estimators.training_data import (
    Fingerprint,
)
from maxmargin.kernels.tiles import TILE_BYTES

OTHER_ORDER = "These are the training rows in another order."
MIXED = "These are the training rows in another order, and their labels or weights did not move with them."
OTHER_LABELS = "These are the training rows, but labels differ from those of the fit."
OTHER_WEIGHTS = "These are the training rows, but weights differ from those of the fit."
OTHER_BOTH = "These are the training rows, but labels and weights differ from those of the fit."
OTHER_VALUES = "These are not the rows that the model was trained on: their values differ."

RNG = np.random.default_rng(0)
N_VALUES = TILE_BYTES // 24
"""Three times as many are more than a compiled call reads."""
DENSE = np.where(RNG.random((50, 9)) < 0.4, RNG.standard_normal((50, 9)), 0.0).astype(np.float32).astype(np.float64)
LABELS, WEIGHTS = np.arange(50) % 3, 0.5 + RNG.random(50)
KEPT = Fingerprint.of(DENSE, LABELS, WEIGHTS)
X, Y = make_moons(60, noise=0.2, random_state=0)


def unsorted(X):
    X = sp.csr_array(X)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:stop], X.data[start:stop] = X.indices[start:stop][::-1].copy(), X.data[start:stop][::-1].copy()
    X.has_sorted_indices = False
    return X


def with_stored_zeros(X):
    rows, columns = np.indices(X.shape)
    return sp.csr_array((X.ravel(), (rows.ravel(), columns.ravel())), shape=X.shape)


def halves(X):
    """Each value stored twice, as two halves."""
    X = sp.csr_array(X)
    return sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def wide_indices(X):
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


@pytest.mark.parametrize(
    "stored",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.astype(np.float32),
        lambda X: np.asfortranarray(X.astype(np.float32)),
        lambda X: np.where(X == 0, -0.0, X),
        sp.csr_array,
        sp.csr_matrix,
        lambda X: sp.csr_array(X.astype(np.float32)),
        wide_indices,
        unsorted,
        with_stored_zeros,
        halves,
    ],
)
def test_the_same_numbers_have_the_same_fingerprint_however_they_are_stored(stored):
    assert Fingerprint.of(stored(DENSE), LABELS, WEIGHTS) == KEPT


@pytest.mark.parametrize("shape", [(3, 4 * N_VALUES), (4 * N_VALUES, 3)])
def test_blocks_do_not_change_the_fingerprint(shape):
    big = np.random.default_rng(1).integers(-3, 4, shape).astype(np.float64)
    labels, weights = np.arange(shape[0]) % 2, np.ones(shape[0])
    found = {
        Fingerprint.of(one, labels, weights)
        for one in (
            big,
            np.asfortranarray(big),
            big.astype(np.float32),
            sp.csr_array(big),
            sp.csr_array(big, dtype="f4"),
        )
    }
    assert len(found) == 1


def test_plain_python_gives_the_same_numbers():
    code = (
        "import numpy as np; from maxmargin.estimators.training_data import Fingerprint; "
        "print(tuple(Fingerprint.of(np.arange(6.0).reshape(3, 2), np.array([0, 1, 0]), np.ones(3))))"
    )
    shown = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**os.environ, "MAXMARGIN_JIT": jit},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for jit in ("0", "1")
    ]
    assert shown[0] == shown[1] != ""


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


ORDER = np.random.default_rng(2).permutation(50)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ((DENSE, LABELS, WEIGHTS), None),
        ((DENSE[ORDER], LABELS[ORDER], WEIGHTS[ORDER]), OTHER_ORDER),
        ((DENSE[ORDER], LABELS, WEIGHTS), MIXED),
        ((DENSE[ORDER], LABELS[ORDER], WEIGHTS), MIXED),
        ((10 * DENSE, LABELS, WEIGHTS), OTHER_VALUES),
        ((-DENSE, LABELS, WEIGHTS), OTHER_VALUES),
        ((DENSE[:, ::-1], LABELS, WEIGHTS), OTHER_VALUES),
        ((changed(DENSE, (7, 3), np.nextafter(DENSE[7, 3], np.inf)), LABELS, WEIGHTS), OTHER_VALUES),
        ((changed(DENSE, 4, DENSE[5]), LABELS, WEIGHTS), OTHER_VALUES),
        ((DENSE, changed(LABELS, 0, 1), WEIGHTS), OTHER_LABELS),
        ((DENSE, LABELS, 2 * WEIGHTS), OTHER_WEIGHTS),
        ((DENSE, LABELS[ORDER], WEIGHTS[ORDER]), OTHER_BOTH),
    ],
)
def test_it_tells_what_differs(data, sentence):
    assert Fingerprint.of(*data).told_from(KEPT) == sentence


def test_every_change_of_one_value_is_noticed():
    found = {KEPT.rows}
    for i in range(50):
        for j in range(9):
            for value in (1.0, 2.0, -1.0, 1e-300):
                found.add(Fingerprint.of(changed(DENSE, (i, j), value), LABELS, WEIGHTS).rows)
    assert len(found) == 1 + 50 * 9 * 4


def test_rows_of_few_different_values_have_different_fingerprints():
    """All rows of 14 features that are 0 or 1."""
    rows = np.array(np.meshgrid(*[[0.0, 1.0]] * 14)).reshape(14, -1).T
    found = {Fingerprint.of(row[None], np.zeros(1, dtype=np.intp), np.ones(1)).rows_in_any_order for row in rows}
    assert len(found) == 2**14


# -- in estimators ---------------------------------------------------------------------------------------------------

FITTED = [
    SVC(C=2),
    SVC(kernel="linear"),
    LinearSVC(),
    LinearSVC(loss="ramp"),
    HardMarginSVC(kernel="rbf", gamma=50.0),
    PegasosSVC(n_epochs=20, tol=None),
]


@pytest.mark.parametrize("estimator", FITTED, ids=repr)
def test_a_model_knows_its_training_rows_in_any_storage(estimator):
    model = pickle.loads(pickle.dumps(clone(estimator).fit(X, Y)))
    for same in (X, np.asfortranarray(X), sp.csr_array(X)):
        judged = certify(model, same, Y)
        assert judged.data is None
        assert "training rows" not in str(judged)
    order = np.random.default_rng(3).permutation(len(Y))
    assert certify(model, X[order], Y[order]).data == OTHER_ORDER
    assert certify(model, 10 * X, Y).data == OTHER_VALUES
    assert certify(model, X, Y[order]).data == OTHER_LABELS
    assert certify(model, X, Y, np.full(len(Y), 2.0)).data == OTHER_WEIGHTS
    del model.fingerprint_
    assert certify(model, X, Y).data == QUESTION


def test_no_weights_are_weights_of_one():
    model = SVC().fit(X, Y, np.ones(len(Y)))
    assert certify(model, X, Y).data is None
    assert certify(SVC().fit(X, Y), X, Y, np.ones(len(Y))).data is None


def test_shuffled_training_rows_are_not_certified():
    order = np.random.default_rng(3).permutation(len(Y))
    judged = certify(SVC(C=10).fit(X, Y), X[order], Y[order])
    assert not judged.is_certified
    assert str(judged).startswith("Not certified: the gap is ")
    assert "These are the training rows in another order. Give the data of the fit, in their order." in str(judged)


def test_raw_instead_of_scaled_rows_are_not_certified():
    model = SVC(C=10).fit((X - X.mean(0)) / X.std(0), Y)
    judged = certify(model, X, Y)
    assert not judged.is_certified
    assert "These are not the rows that the model was trained on: their values differ." in str(judged)


def test_other_data_that_the_model_is_optimal_for_are_certified_and_named():
    model = HardMarginSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    judged = certify(model, [[-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert judged.is_certified
    assert f"{OTHER_VALUES} What is proved is about the data given." in str(judged)


def test_several_classes_are_told_of_other_data_too():
    iris = load_iris()
    model = LinearSVC().fit(iris.data, iris.target)
    order = np.random.default_rng(4).permutation(150)
    judged = certify(model, iris.data[order], iris.target[order])
    assert {one.data for one in judged} == {OTHER_ORDER}
    assert not judged.is_certified
    assert "Not certified: the gap is" in str(judged)
    assert OTHER_ORDER in str(judged)


def test_a_report_names_other_data():
    order = np.random.default_rng(3).permutation(len(Y))
    model = SVC(C=10).fit(X, Y)
    with pytest.warns(UserWarning, match="These are the training rows in another order"):
        page = report(model, X[order], Y[order])
    assert "Not certified: the gap is" in page
    assert OTHER_ORDER in page
    assert OTHER_ORDER not in report(model, X, Y)


def test_bounds_and_estimates_warn_of_other_data():
    model = SVC().fit(X, Y)
    for ask in (bounds.of_model, xi_alpha):
        with pytest.warns(UserWarning, match="their values differ. Give the data of the fit, in their order"):
            ask(model, 2 * X, Y)
        ask(model, X, Y)


def test_a_stream_has_no_fingerprint_and_a_perceptron_has_one():
    model = PegasosSVC(tol=None, n_epochs=2).fit(X, Y)
    assert isinstance(model.fingerprint_, Fingerprint)
    assert not hasattr(model.partial_fit(X[:3], Y[:3]), "fingerprint_")
    separable = Perceptron().fit(X[:2], [0, 1])
    assert separable.fingerprint_ == Fingerprint.of(X[:2], np.array([0, 1]), np.ones(2))


def test_a_failed_fit_keeps_the_fingerprint_of_the_last_one():
    model = SVC().fit(X, Y)
    before = model.fingerprint_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
    assert model.fingerprint_ == before
