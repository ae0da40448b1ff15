import dataclasses
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import RBF, Custom, FeatureMap, Linear, Polynomial, Precomputed, Sigmoid, interactions
from tests.kernels import draws

KERNELS = [Linear(), Polynomial(3, 0.5, 1.0), RBF(0.5), Sigmoid(0.5, 1.0), FeatureMap(interactions), Custom(np.matmul)]
NAMED = KERNELS[:5]


def each(kernels):
    return pytest.mark.parametrize("kernel", kernels, ids=lambda kernel: type(kernel).__name__)


@each(NAMED)
@draws.given(draws.pairs(scale=1.0), st.sampled_from([None, np.float32, np.float64]))
def test_the_form_in_which_rows_are_stored_does_not_matter(kernel, pair, dtype):
    X, Z = pair
    K = kernel.block(X, Z, dtype=dtype)
    both_float32 = X.dtype == Z.dtype == np.float32
    assert K.dtype == (dtype or (np.float32 if both_float32 else np.float64))
    plain = kernel.block(draws.dense(X), draws.dense(Z))
    tolerance = 1e-3 if K.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(K, plain, rtol=tolerance, atol=tolerance * max(1.0, np.abs(plain).max()))


@each(NAMED)
@draws.given(draws.pairs(scale=1.0))
def test_the_diagonal_is_that_of_the_block(kernel, pair):
    X = pair[0]
    K = kernel.between(X, dtype=np.float64)
    np.testing.assert_allclose(kernel.diag(X), K.diagonal(), rtol=1e-9)
    assert kernel.diag(X, dtype=np.float32).dtype == np.float32


@each(NAMED)
@pytest.mark.parametrize("form", draws.FORMS)
def test_between_is_a_part_of_the_gram_matrix(kernel, form):
    X = draws.in_form(np.random.default_rng(0).standard_normal((6, 3)), form)
    K = kernel.block(X, X)
    i, j = np.array([4, 0]), np.array([1, 5, 1])
    for rows in (None, slice(1, 4), slice(None, None, 2), i, [2], [], np.arange(6) % 2 == 0):
        picked = np.arange(6)
        if rows is not None:
            picked = picked[np.array(rows, dtype=int) if isinstance(rows, list) else rows]
        np.testing.assert_allclose(kernel.between(X, rows, j), K[picked][:, j], rtol=1e-12)
        np.testing.assert_allclose(kernel.between(X, j, rows), K[j][:, picked], rtol=1e-12)
    np.testing.assert_allclose(kernel.block(X, kernel.reference(X, j)), K[:, j], rtol=1e-12)


@each(KERNELS[:4])
def test_the_same_inputs_give_the_same_bits_whatever_their_layout(kernel):
    X = np.random.default_rng(1).standard_normal((300, 20))
    K = kernel.block(X, X)
    for form in draws.DENSE:
        np.testing.assert_array_equal(kernel.block(draws.in_form(X, form), X.copy()), K)
    np.testing.assert_array_equal(kernel.block(X, X, out=np.empty((300, 300), order="F")), K)


@each(KERNELS[:4])
@pytest.mark.parametrize("arithmetic", [np.float32, np.float64])
def test_float32_rows_are_never_copied_as_a_whole(kernel, arithmetic):
    X = np.random.default_rng(2).standard_normal((40_000, 300), dtype=np.float32)
    out = np.empty((20, len(X)), dtype=arithmetic)
    kernel = kernel if kernel != RBF(0.5) else RBF(1e3)  # so large that float32 results take float64 arithmetic
    tracemalloc.start()
    try:
        kernel.block(X[:20], X, out=out, dtype=arithmetic)
        kernel.diag(X)
        RBF("scale").resolve(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert X.nbytes > 40 << 20
    assert peak <= 32 << 20


@each(KERNELS)
def test_empty_blocks_are_empty(kernel):
    X = np.eye(3)
    assert kernel.block(X[:0], X).shape == (0, 3)
    assert kernel.block(X, X[:0]).shape == (3, 0)
    assert kernel.diag(X[:0]).shape == (0,)


@each([*KERNELS, Precomputed(), RBF("auto")])
def test_kernels_are_values(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(dataclasses.replace(kernel)) == hash(kernel)
    assert dataclasses.replace(kernel) == kernel
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.gamma = 3.0


def test_parameters_are_normalised_so_that_equal_kernels_are_equal():
    assert RBF(1) == RBF(np.float32(1.0)) == RBF(1.0)
    assert repr(Polynomial(np.int64(2), 1, 0)) == "Polynomial(degree=2, gamma=1.0, coef0=0.0)"


def test_features_that_do_not_agree_are_refused():
    with pytest.raises(InvalidInputError, match="X has 2 features, Z has 3"):
        Linear().block(np.eye(2), np.eye(3))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "has 1 dimensions"),
        (np.ones((1, 1, 1)), "has 3 dimensions"),
        (np.ones((1, 2), dtype=complex), "real numbers"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.array([[None, 1]]), "real numbers"),
        (sp.csc_array(np.eye(2)), "tocsr"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(X, message):
    with pytest.raises(InvalidInputError, match=message):
        Linear().block(X, np.eye(2))
    with pytest.raises(InvalidInputError, match=message):
        Linear().check_input(X)
    with pytest.raises(InvalidInputError, match=message):
        Linear().diag(X)


def test_whole_numbers_are_read_as_float64():
    K = RBF(1.0).block(np.array([[1, 2]]), np.array([[True, False]]))
    np.testing.assert_allclose(K, np.exp(-4.0))


@pytest.mark.parametrize("dtype", [np.float16, int, "text", np.longdouble])
def test_other_arithmetics_are_refused(dtype):
    with pytest.raises(InvalidInputError, match="float32"):
        Linear().block(np.eye(2), np.eye(2), dtype=dtype)


def test_results_are_written_where_they_were_asked_for():
    out = np.full((4, 4), np.nan)
    K = RBF(0.5).block(np.eye(2), np.eye(2), out=out[::2, ::2])
    assert K.base is out
    np.testing.assert_allclose(out[::2, ::2], RBF(0.5).block(np.eye(2), np.eye(2)))
    assert np.isnan(out[1::2]).all()


@pytest.mark.parametrize(
    "out", [np.empty((2, 3)), np.empty((2, 2), dtype=np.float32), [[0.0] * 2] * 2, np.broadcast_to(0.0, (2, 2))]
)
def test_an_out_that_does_not_fit_is_refused(out):
    with pytest.raises(InvalidInputError, match=r"writable ndarray of shape \(2, 2\) and dtype float64"):
        Linear().block(np.eye(2), np.eye(2), out=out)


@each(NAMED)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_values_are_not_computed_with(kernel, value):
    X = np.array([[1.0, value], [0.0, 1.0]])
    with pytest.raises(InvalidInputError, match="NaN"):
        kernel.block(X, np.eye(2))
