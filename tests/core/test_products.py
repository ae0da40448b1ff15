"""Products with the data, in every form of the data, against loops."""

import math
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core.products import combine, dense_rows, float64_blocks, lengths_above, scores
from maxmargin.kernels import tiles
from tests.kernels.draws import FORMS, in_form
from tests.kernels.draws import dense as dense_values
from tests.strategies import examples, generators


@st.composite
def data(draw):
    """X in some form, w, β and perhaps rows with repetitions."""
    rng = draw(generators())
    n, d = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)).astype(dtype)
    rows = rng.integers(0, n, size=draw(st.integers(1, 12))) if draw(st.booleans()) else None
    m = n if rows is None else len(rows)
    beta = rng.standard_normal(m) * (rng.random(m) < draw(st.sampled_from([0.2, 1.0])))
    return in_form(X, draw(st.sampled_from(FORMS))), rng.standard_normal(d), beta, rows


@examples(150)
@given(data(), st.sampled_from([1, 64, 2**25]))
def test_scores_and_combinations_are_those_of_loops_in_blocks_of_any_size(case, block_bytes):
    X, w, beta, rows = case
    full = dense_values(X)
    chosen = full if rows is None else full[rows]
    f = [math.fsum(a * b for a, b in zip(x, w, strict=True)) for x in chosen]
    v = [math.fsum(b * x[k] for b, x in zip(beta, chosen, strict=True)) for k in range(full.shape[1])]
    with mock.patch.object(tiles, "TILE_BYTES", block_bytes):
        np.testing.assert_allclose(scores(X, w, rows), f, rtol=0, atol=1e-14)
        np.testing.assert_allclose(combine(X, beta, rows), v, rtol=0, atol=1e-14)


@examples(60)
@given(data())
def test_blocks_cover_each_row_once_in_float64(case):
    X, _, beta, rows = case
    with mock.patch.object(tiles, "TILE_BYTES", 100):
        blocks = list(float64_blocks(X, rows))
    assert [i for at, _ in blocks for i in range(at.start, at.stop)] == list(range(len(beta)))
    assert all(block.dtype == np.float64 for _, block in blocks)
    full = dense_values(X)
    np.testing.assert_array_equal(np.vstack([dense_values(block) for _, block in blocks]), full if rows is None else full[rows])


def test_dense_float64_data_are_not_copied():
    X = np.ones((5, 2))
    ((at, block),) = float64_blocks(X)
    assert (at.start, at.stop) == (0, 5)
    assert block is X


def test_float32_data_are_never_summed_in_float32():
    X = np.array([[1.0, 1.0, -1.0]], dtype=np.float32)
    assert scores(X, np.array([1.0, 2.0**-40, 1.0]))[0] == 2.0**-40
    assert combine(np.array([[1.0], [2.0**-40], [-1.0]], dtype=np.float32), np.ones(3))[0] == 2.0**-40


def test_rows_without_weight_are_not_read():
    X = np.array([[1.0], *[[np.nan]] * 8, [2.0]])
    assert combine(X, np.eye(10)[0] * 3.0)[0] == 3.0


@pytest.mark.parametrize("form", FORMS)
def test_a_handful_of_rows_comes_dense(form):
    values = np.arange(12.0).reshape(4, 3)
    rows = dense_rows(in_form(values, form), np.array([2, 0]))
    assert isinstance(rows, np.ndarray)
    np.testing.assert_array_equal(rows, values[[2, 0]])
    np.testing.assert_array_equal(dense_rows(in_form(values, form)), values)


def test_entries_that_are_stored_twice_are_measured_one_by_one_and_left_alone():
    X = sp.csr_array((np.array([3.0, -3.0, 4.0, 1.0]), np.array([0, 0, 0, 0]), np.array([0, 3, 4])), shape=(2, 1))
    assert (lengths_above(X) >= [10.0, 1.0]).all()  # Σ|x_i| of the column: each of the three products rounds
    np.testing.assert_array_equal(X.data, [3.0, -3.0, 4.0, 1.0])
