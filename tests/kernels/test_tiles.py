import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.kernels.tiles import TILE_BYTES, TILE_COLUMNS, as_matrix, cast, cut, row_width, rows_that_fit, take


@pytest.mark.parametrize("width", [0, 1, 100, 10_000, 10**6, 10**9])
def test_a_tile_holds_at_least_one_row_and_at_most_its_bytes(width):
    rows = rows_that_fit(width, TILE_COLUMNS)
    assert 1 <= rows <= TILE_COLUMNS
    assert rows == 1 or 8 * width * rows <= TILE_BYTES


def test_what_is_a_matrix_already_is_not_copied():
    X = np.eye(3)
    S = sp.csr_array(X)
    for rows in (X, S):
        assert as_matrix(rows) is rows
        assert cut(rows, 0, 3) is rows
        assert take(rows, None) is rows
    assert cast(X, X.dtype) is X
    assert np.shares_memory(cut(X, 1, 2), X)
    assert np.shares_memory(cast(S, S.dtype).data, S.data)


def test_the_width_of_sparse_rows_is_that_of_the_fullest():
    assert row_width(sp.csr_array(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))) == 2 * 2
    assert row_width(sp.csr_array((0, 5))) == 0
    assert row_width(np.empty((2, 5))) == 5
