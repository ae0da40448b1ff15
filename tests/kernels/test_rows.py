import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import RBF, Custom, KernelRows, Linear, Precomputed
from tests.kernels import draws

N = 12
X = np.random.default_rng(0).standard_normal((N, 3))
REQUESTS = st.lists(st.lists(st.integers(0, N - 1), max_size=8), max_size=12)


@draws.given(REQUESTS, st.integers(0, 14 * N * 8))
def test_rows_equal_the_gram_matrix_and_memory_stays_in_its_bounds(requests, max_bytes):
    cache = KernelRows(RBF(0.5), X, max_bytes)
    K = RBF(0.5).between(X)
    asked = 0
    for indices in requests:
        np.testing.assert_allclose(cache.get(indices), K[indices], rtol=1e-13)
        asked += len(indices)
        assert cache.nbytes <= max_bytes
        assert cache.hits + cache.misses == asked


@draws.given(REQUESTS, st.sampled_from([0, 3 * 5 * 8, 10**6]), st.sampled_from([np.asarray, sp.csr_array]))
def test_a_part_of_the_rows_is_a_training_set_of_its_own(requests, max_bytes, form):
    rows = np.array([7, 0, 3, 3, 11])
    cache = KernelRows(RBF(0.5), form(X), max_bytes, rows=rows)
    K = RBF(0.5).between(X[rows])
    for indices in requests:
        local = [i % 5 for i in indices]
        np.testing.assert_allclose(cache.get(local), K[local], rtol=1e-12)
    assert cache.nbytes <= max_bytes


def test_a_part_larger_than_a_tile_is_gathered_piece_by_piece():
    wide = np.random.default_rng(1).standard_normal((5000, 2))
    rows = np.arange(0, 5000, 2)
    cache = KernelRows(Linear(), wide, 0, rows=rows)
    np.testing.assert_allclose(cache.get([3, 2000]), wide[rows[[3, 2000]]] @ wide[rows].T, atol=1e-12)


def test_the_row_used_longest_ago_makes_room():
    cache = KernelRows(Linear(), X, 2 * N * 8)
    for i in (0, 1, 0, 2, 0, 1):  # 2 takes the place of 1, then 1 that of 2
        cache.get([i])
    assert (cache.hits, cache.misses) == (2, 4)


def test_what_is_asked_for_again_is_not_computed_again():
    calls = []

    def count(X, Z):
        calls.append(len(X))
        return X @ Z.T

    cache = KernelRows(Custom(count), X, 10**6)
    cache.get([1, 2])
    cache.get([2, 3, 1, 4])
    cache.get([4, 4, 1])
    assert calls == [2, 2]


def test_a_request_that_does_not_fit_is_answered_and_not_kept():
    cache = KernelRows(Linear(), X, 2 * N * 8)
    np.testing.assert_allclose(cache.get([0, 1, 2]), (X @ X.T)[:3])
    assert cache.nbytes == 0


def test_a_returned_array_may_be_changed():
    cache = KernelRows(Linear(), X, 10**6)
    cache.get([0])[:] = np.nan
    cache.get([0])[:] = np.nan
    np.testing.assert_allclose(cache.get([0]), (X @ X.T)[:1])


def test_memory_is_allocated_at_first_use_and_given_back():
    cache = KernelRows(Linear(), X, 10**6)
    assert cache.nbytes == 0
    cache.get([1])
    assert cache.nbytes == N * N * 8
    cache.clear()
    assert cache.nbytes == 0
    np.testing.assert_allclose(cache.get([1]), (X @ X.T)[1:2])


def test_values_may_be_float32_and_follow_the_data():
    assert KernelRows(Linear(), X, 0, dtype=np.float32).get([0]).dtype == np.float32
    assert KernelRows(Linear(), X.astype(np.float32), 0).dtype == np.float32
    assert KernelRows(Linear(), X, 0).dtype == np.float64


def test_it_serves_a_precomputed_matrix():
    K = X @ X.T
    np.testing.assert_array_equal(KernelRows(Precomputed(), K, 10**6).get([3, 1]), K[[3, 1]])
    rows = np.array([5, 2, 9])
    np.testing.assert_array_equal(KernelRows(Precomputed(), K, 0, rows=rows).get([2]), K[np.ix_([9], rows)])


@pytest.mark.parametrize("max_bytes", [-1, np.nan, np.inf, "1GB"])
def test_a_budget_that_is_no_size_is_refused(max_bytes):
    with pytest.raises(InvalidInputError, match="max_bytes"):
        KernelRows(Linear(), X, max_bytes)


def test_an_unresolved_kernel_is_refused_at_once():
    with pytest.raises(InvalidInputError, match="resolve"):
        KernelRows(RBF(), X, 0)
