"""RBF values with zeros left out: the same as of the whole rows, and only where that is worth while."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin._loops.jit import loop
from maxmargin._loops.rbf.packed import WIDE, add_gathered, plain
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernel_matrix.tiles import Centre, centre_of, prepared
from maxmargin.kernels import RBF
from maxmargin.solvers.smo.state import LoopColumns
from tests.kernels import draws

PRECISION = {np.float32: 2e-6, np.float64: 1e-13}


@st.composite
def tables(draw):
    """Rows of few and many features: one-hot columns, counts, columns that are mostly one value, plain numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 150)), draw(st.integers(1, 40))
    X = rng.standard_normal((n, d))
    for f in range(d):
        kind = rng.integers(4)
        if kind == 0:
            X[:, f] = rng.random(n) < 0.2
        elif kind == 1:
            X[:, f] = np.where(rng.random(n) < 0.7, 3.5, X[:, f])
        elif kind == 2:
            X[:, f] = rng.poisson(0.5, n)
    return X + draw(st.sampled_from([0.0, 100.0]))


def packed(X, dtype=np.float64, gamma=0.1):
    kernel = RBF(gamma)
    return prepared(kernel, X, np.dtype(dtype), Centre(centre_of(kernel, X).shift, is_packed=True))


@draws.given(tables(), st.sampled_from(list(PRECISION)), st.sampled_from(draws.DENSE), st.sampled_from([0.01, 0.3]))
def test_values_are_those_of_whole_rows(X, dtype, form, gamma):
    rows, half = packed(draws.in_form(X, form), dtype, gamma), slice(0, len(X) // 2 + 1)
    out = np.empty((len(X), len(X[half])), dtype=dtype)
    rows.fill(rows[half], out)
    tolerance = PRECISION[dtype] * (1 + rows.squares.max())
    np.testing.assert_allclose(out, rbf_kernel(X, X[half], gamma=gamma), atol=tolerance)


@pytest.mark.parametrize("is_one_hot", [True, False])
def test_sums_at_the_own_rows_are_those_at_any_rows(is_one_hot):
    rng = np.random.default_rng(0)
    X = (rng.random((2600, 30)) < 0.1).astype(float) if is_one_hot else rng.standard_normal((2600, 30))
    expansion = Expansion(RBF(gamma=0.1), X, rng.standard_normal((1, len(X))))
    own, any_rows = expansion.at_own_rows(n_threads=2), expansion.bounded(X)
    assert expansion.centre.is_packed == is_one_hot
    assert (np.abs(own.sums - any_rows.sums) <= own.error + any_rows.error).all()
    assert np.array_equal(own.sums, expansion.at_own_rows(n_threads=1).sums)


def test_rows_that_are_packed_piece_by_piece_are_those_of_the_whole(monkeypatch):
    X = (np.random.default_rng(0).random((70, 9)) < 0.3) * 1.5
    whole = packed(X)
    monkeypatch.setattr("maxmargin.kernels.tiles.TILE_BYTES", 8 * 9 * 20)
    pieces = packed(X)
    np.testing.assert_array_equal(pieces.rows.toarray(), whole.rows.toarray())
    np.testing.assert_array_equal(pieces.squares, whole.squares)


@draws.given(tables(), st.sampled_from(list(PRECISION)))
def test_sums_over_columns_are_those_of_the_values(X, dtype):
    rng = np.random.default_rng(len(X))
    rows = packed(X, dtype)
    some, columns = rng.integers(0, len(X), 2 * len(X)), rng.permutation(len(X))
    left, right = rows[some], rows[columns]
    K = np.empty((len(some), len(columns)), dtype=dtype)
    left.fill(right, K)
    weights = rng.standard_normal((2, len(columns))).astype(dtype)
    sums = np.ones((2, len(some)))
    left.add_sums(right, weights, sums)
    np.testing.assert_allclose(sums - 1, weights @ K.T, atol=len(X) * PRECISION[dtype])


@draws.given(tables())
def test_single_rows_by_loops_have_the_same_values(X):
    from maxmargin._loops.smo.pair_steps import fill_row

    columns = LoopColumns.of(KernelMatrix(RBF(0.1), X), len(X) + 5)
    out = np.empty(len(X) + 5)
    fill_row(columns.T, columns.squares, 0, 0.0, np.zeros(len(X)), out)
    largest = columns.squares.max()
    np.testing.assert_allclose(out[: len(X)], rbf_kernel(X[:1], X, gamma=0.1)[0], atol=1e-12 * (1 + largest))


def test_a_layout_that_is_not_contiguous_is_filled_too():
    X = np.random.default_rng(0).standard_normal((70, 3))
    rows, out = packed(X), np.empty((70, 70), order="F")
    assert RBF(0.1).join(rows, rows, out)
    np.testing.assert_allclose(out, rbf_kernel(X, gamma=0.1), atol=1e-13)


def test_no_rows_have_no_entries():
    rows = prepared(RBF(1.0), np.empty((0, 3)), np.dtype(np.float64), Centre(np.zeros(3), is_packed=True))
    assert rows.table.shape == (0, 3, WIDE)
    assert rows.rows.nnz == 0


def test_the_shift_is_the_value_that_most_rows_have_and_else_their_median():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    X[:, 1] = np.where(rng.random(200) < 0.6, 5.0, X[:, 1])  # in the middle
    X[:, 2] = np.where(rng.random(200) < 0.4, 0.0, np.abs(X[:, 2]))  # at the lower end
    shift, is_packed = centre_of(RBF(0.1), X)
    assert is_packed
    assert list(shift[1:]) == [5.0, 0.0]
    assert shift[0] == pytest.approx(np.median(X[:, 0]), abs=0.05)


def test_dense_rows_of_many_features_are_left_to_matrix_products():
    X = np.random.default_rng(0).standard_normal((100, 60))
    assert not centre_of(RBF(0.1), X).is_packed
    X[:, ::2] = 0.0
    assert centre_of(RBF(0.1), X).is_packed


def test_wide_exponents_and_no_numbers_are_left_to_matrix_products():
    assert not centre_of(RBF(1e9), np.random.default_rng(0).standard_normal((64, 3))).is_packed
    assert not centre_of(RBF(1.0), np.full((3, 2), np.nan)).is_packed
    assert not centre_of(RBF(1.0), np.array([[1e200, 0.0], [0.0, 1.0], [-1e200, 0.0]])).is_packed


@draws.given(tables())
def test_no_feature_is_more_than_twice_as_far_from_the_shift_as_from_the_mean(X):
    X = X[:64]
    near, far = (np.abs(X - place).max(axis=0) for place in (X.mean(axis=0), centre_of(RBF(0.1), X).shift))
    assert np.all(far <= 2 * near + 1e-9)


def test_without_the_compiler_nothing_is_packed(monkeypatch):
    X = np.eye(5)
    assert centre_of(RBF(0.1), X).is_packed
    monkeypatch.setenv("MAXMARGIN_JIT", "0")
    assert not centre_of(RBF(0.1), X).is_packed


@pytest.mark.parametrize("dtype", list(PRECISION))
@pytest.mark.parametrize("n_sums", [1, 2, 3])
@pytest.mark.parametrize("groups", [None, [100, 200]])
def test_expansions_of_packed_rows_are_those_of_the_block(dtype, n_sums, groups):
    rng = np.random.default_rng(0)
    X = (rng.random((1200, 30)) < 0.1) * rng.standard_normal((1200, 30))
    A, kernel = rng.standard_normal((n_sums, 300)), RBF(0.3)
    expansion = Expansion(kernel, X[:300], A, groups)
    assert expansion.centre.is_packed
    K = rbf_kernel(X, X[:300], gamma=0.3)
    cuts = np.cumsum([0, *(groups or [300])])
    exact = np.stack([A[:, a:b] @ K[:, a:b].T for a, b in pairwise(cuts)])
    np.testing.assert_allclose(expansion(X, 2, dtype), exact, atol=300 * PRECISION[dtype])
    rough = expansion.bounded(X, np.float32)
    assert np.all(np.abs(rough.sums - exact).max(axis=1) <= rough.error)
    np.testing.assert_array_equal(expansion(X, 1, dtype), expansion(X, 2, dtype))


@loop
def gather_once(table, chosen, weight, begin, end, out):
    add_gathered(table, chosen, weight, begin, end, out)


@pytest.mark.parametrize("dtype", list(PRECISION))
def test_registers_sum_what_python_sums(dtype):
    rng = np.random.default_rng(0)
    table, weight = rng.standard_normal((9, WIDE)).astype(dtype), rng.standard_normal(20).astype(dtype)
    chosen = rng.integers(0, 9, 20).astype(np.int32)
    for begin, end in ((0, 20), (3, 4), (5, 5)):
        out, twin = np.ones(WIDE, dtype=dtype), np.ones(WIDE, dtype=dtype)
        gather_once(table, chosen, weight, begin, end, out)
        plain(table, chosen, weight, begin, end, twin)
        np.testing.assert_allclose(out, twin, atol=10 * np.finfo(dtype).eps * 20)
