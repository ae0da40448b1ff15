"""Predictions of SVC: same bits in any number of threads, within the stated error, in bounded memory."""

import tracemalloc
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC, HardMarginSVC
from maxmargin.estimators.multiclass.one_vs_one import vote
from maxmargin.kernels import RBF, Custom, Expansion, Linear, Polynomial, Sigmoid

RNG = np.random.default_rng(0)
Z, A = RNG.standard_normal((2500, 6)), RNG.standard_normal((2, 2500))
NEW = RNG.standard_normal((1300, 6))
KERNELS = {
    "rbf": RBF(0.3),
    "linear": Linear(),
    "poly": Polynomial(3, 0.2, 1.0),
    "sigmoid": Sigmoid(0.1),
    "custom": Custom(lambda U, V: (U @ V.T) ** 2),
}


def twin(kernel, x, groups=(2500,)):
    """The sums from whole blocks in float64."""
    K = kernel.block(x.astype(np.float64), Z)
    ends = np.cumsum([0, *groups])
    return np.stack([A[:, a:b] @ K[:, a:b].T for a, b in pairwise(ends)])


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("groups", [(2500,), (1, 1022, 5, 0, 1472)])
def test_sums_are_those_of_whole_blocks(kernel, groups):
    found = Expansion(kernel, Z, A, groups)(NEW)
    assert found.shape == (len(groups), 2, 1300)
    np.testing.assert_allclose(found, twin(kernel, NEW, groups), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("kernel", [k for n, k in KERNELS.items() if n != "custom"], ids=[n for n in KERNELS if n != "custom"])
@pytest.mark.parametrize("density", [0.02, 0.5])
@pytest.mark.parametrize("which", ["both", "x", "z"])
def test_sparse_rows_are_summed_as_dense_ones(kernel, density, which):
    z = sp.random(300, 90, density, format="csr", random_state=0)
    x = sp.random(700, 90, density, format="csr", random_state=1)
    dense = Expansion(kernel, z.toarray(), A[:, :300])(x.toarray())
    mixed = Expansion(kernel, z if which != "x" else z.toarray(), A[:, :300])(x if which != "z" else x.toarray())
    np.testing.assert_allclose(mixed, dense, rtol=1e-9, atol=1e-9)


def test_rows_too_wide_to_be_made_dense_stay_sparse():
    z, x = (sp.random(40, 200_000, 1e-4, format="csr", random_state=seed) for seed in (0, 1))
    expansion = Expansion(RBF(0.5), z, A[:, :40])
    assert not expansion.becomes_dense(x)
    np.testing.assert_allclose(expansion(x)[0], A[:, :40] @ RBF(0.5).block(x, z).T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_bits_do_not_depend_on_the_threads(kernel, dtype):
    expansion = Expansion(kernel, Z.astype(dtype), A)
    one, two, three = (expansion(NEW.astype(dtype), n_threads) for n_threads in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("gamma", [1e-3, 0.3, 5.0])
def test_the_bound_of_float32_holds_and_is_not_idle(gamma, shift):
    expansion = Expansion(RBF(gamma), Z + shift, A)
    F, bound = expansion.bounded(NEW + shift, np.float32)
    error = np.abs(F - expansion(NEW + shift))
    assert (error <= bound[:, np.newaxis]).all()
    assert bound.max() <= 1e-3 * np.abs(A).sum()


def test_few_values_are_summed_by_a_loop_and_agree_with_tiles(monkeypatch):
    few, rows = Expansion(RBF(0.3), Z[:100], A[:, :100], groups=[30, 70]), NEW[:200]
    assert few.is_small(rows)
    assert not few.is_small(np.tile(rows, (200, 1)))
    assert not Expansion(Polynomial(2, 0.3), Z[:100], A[:, :100]).is_small(rows)
    found = few.bounded(rows)
    monkeypatch.setattr("maxmargin.kernel_matrix.expansion.FEW_PRODUCTS", 0)
    tiles = few.bounded(rows)
    assert (np.abs(found.sums - tiles.sums).max(axis=1) <= found.error + tiles.error).all()
    np.testing.assert_allclose(found.sums, tiles.sums, rtol=1e-11, atol=1e-11)


def test_float32_rows_stay_within_the_stated_error():
    x, z = NEW.astype(np.float32), Z.astype(np.float32)
    for kernel in (RBF(0.3), Polynomial(3, 0.2, 1.0)):
        single, double = Expansion(kernel, z, A)(x), Expansion(kernel, z, A)(x, dtype=np.float64)
        size = np.abs(A) @ np.abs(kernel.block(x, z, dtype=np.float64)).T
        assert np.abs(single - double)[0].max() > 0
        assert (np.abs(single - double)[0] <= 1e-4 * size).all()


def test_what_float32_cannot_hold_is_done_in_float64():
    far = (1e4 * NEW).astype(np.float32)
    for kernel in (RBF(0.3), Polynomial(12, 1.0, 0.0)):
        expansion = Expansion(kernel, Z.astype(np.float32), A * 1e60)
        np.testing.assert_allclose(expansion(far), expansion(far, dtype=np.float64), rtol=1e-5)
        assert np.isfinite(expansion(far)).all()


def test_there_may_be_no_rows_or_no_columns():
    assert Expansion(RBF(1.0), Z[:0], A[:, :0])(NEW).tolist() == np.zeros((1, 2, 1300)).tolist()
    assert Expansion(RBF(1.0), Z, A)(NEW[:0]).shape == (1, 2, 0)


# ----------------------------------------------------------------------------------------------------------------- SVC


def fitted(dtype=np.float64, n_classes=2, **parameters):
    x = RNG.standard_normal((120, 5))
    y = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0 if n_classes == 3 else 0)
    return SVC(**parameters).fit(x.astype(dtype), y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_are_those_of_float64(n_classes, dtype):
    model = fitted(dtype, n_classes, C=100.0)
    new = np.random.default_rng(5).standard_normal((3000, 5)).astype(dtype)
    exact = model.classes_[vote(model._decisions(new, np.float64), n_classes).winner]
    np.testing.assert_array_equal(model.predict(new), exact)
    assert model.decision_function(new).dtype == np.float64


def test_samples_whose_sign_float32_leaves_open_are_done_again(monkeypatch):
    x = np.array([[-1.0], [1.0]])
    model = SVC(tol=1e-12).fit(x, [0, 1])
    asked = []
    decisions = SVC._decisions
    monkeypatch.setattr("maxmargin.kernel_matrix.expansion.FEW_PRODUCTS", 0)  # so few rows would be done in float64 at once
    monkeypatch.setattr(SVC, "_decisions", lambda self, X, dtype=None: asked.append(X.tolist()) or decisions(self, X, dtype))
    np.testing.assert_array_equal(model.predict([[-0.7], [1e-9], [-1e-9], [0.7]]), [0, 1, 0, 1])
    assert asked == [[[1e-9], [-1e-9]]]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_have_the_same_bits_in_one_and_two_threads(n_classes):
    new = np.random.default_rng(5).standard_normal((3000, 5))
    model = fitted(n_classes=n_classes)
    one = model.set_params(n_jobs=1).decision_function(new)
    np.testing.assert_array_equal(one, model.set_params(n_jobs=2).decision_function(new))


def test_the_memory_of_a_prediction_is_bounded():
    model = fitted()
    new = np.zeros((400_000, 5), dtype=np.float32)
    model.predict(new[:10])
    tracemalloc.start()
    model.predict(new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * 400_000 + 30 * 2**20  # the results and their bounds, and the tiles of two threads


def test_read_only_strided_and_fortran_rows_are_taken():
    model = fitted()
    new = RNG.standard_normal((50, 5))
    frozen, wide = new.copy(), np.zeros((50, 10))
    frozen.flags.writeable = False
    wide[:, ::2] = new
    for rows in (frozen, wide[:, ::2], np.asfortranarray(new), new[::-1][::-1]):
        np.testing.assert_allclose(model.decision_function(rows), model.decision_function(new), rtol=1e-12)


def test_many_classes_take_no_more_memory_than_their_sums_at_a_time():
    x = RNG.standard_normal((200, 3))
    model = SVC(gamma=1.0).fit(x, np.arange(200) % 12)
    new = np.zeros((60_000, 3), dtype=np.float32)
    tracemalloc.start()
    labels = model.predict(new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (labels == labels[0]).all()
    assert peak < 130 * 2**20  # the sums of all rows would take 127 MB, and their pairs as much again


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_certain_vote_is_never_overturned_within_the_errors(n_classes):
    n_pairs = n_classes * (n_classes - 1) // 2
    decisions, errors = RNG.standard_normal((n_pairs, 400)), RNG.uniform(0, 1.5, (n_pairs, 400))
    winner, is_certain = vote(decisions, n_classes, errors)
    assert 0.05 < is_certain.mean() < 0.95
    overturned = np.zeros(400, dtype=bool)
    for corner in product([-1, 1], repeat=n_pairs) if n_classes < 5 else RNG.choice([-1, 1], (300, n_pairs)):
        overturned |= vote(decisions + np.array(corner)[:, None] * errors, n_classes).winner != winner
    assert not (overturned & is_certain).any()
    if n_classes == 2:
        np.testing.assert_array_equal(overturned, ~is_certain)


@pytest.mark.parametrize("tol", [3e-2, 1e-3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_certified_prediction_never_changes_at_the_exact_optimum(n_classes, fit_intercept, tol):
    rng = np.random.default_rng(n_classes)
    x = rng.standard_normal((900, 5))
    y = np.floor(4.0 * rng.random(900) * 0.2 + 4.0 * (np.abs(x[:, 0]) > 0.7) * 0.4 + (x[:, 1] > 0)).astype(int) % n_classes
    settings = {"C": 2.0, "fit_intercept": fit_intercept}
    rough, exact = SVC(tol=tol, **settings).fit(x, y), SVC(tol=1e-10, **settings).fit(x, y)
    probe = rng.standard_normal((500, 5))
    labels, is_certain = rough.certified_predictions(probe)
    np.testing.assert_array_equal(labels, rough.predict(probe))
    np.testing.assert_array_equal(labels[is_certain], exact.predict(probe)[is_certain])
    assert exact.certified_predictions(probe)[1].mean() > 0.99


def test_where_convexity_is_only_assumed_no_prediction_is_certain():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((60, 3)), np.arange(60) % 2
    for model in (
        SVC(kernel="sigmoid", coef0=-1.0),
        SVC(kernel=lambda a, b: a @ b.T),
        HardMarginSVC(kernel="rbf", gamma=9.0),
    ):
        labels, is_certain = model.fit(x, y).certified_predictions(x)
        assert len(labels) == 60
        assert not is_certain.any()
