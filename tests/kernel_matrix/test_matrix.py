import pickle
import threading
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from maxmargin import SVC
from maxmargin._loops.smo.pair_steps import fill_row
from maxmargin.core import Candidate, Problem, certify
from maxmargin.core.certificate import scores as scores_module
from maxmargin.errors import InvalidInputError
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernel_matrix.tiles import PackedRows
from maxmargin.kernels import RBF, Custom, Linear, Precomputed
from maxmargin.solvers import SMO, solve
from maxmargin.solvers.smo.state import LoopColumns
from tests.kernels import draws

N = 12
X = np.random.default_rng(0).standard_normal((N, 3))
REQUESTS = st.lists(st.lists(st.integers(0, N - 1), max_size=8), max_size=12)


@draws.given(REQUESTS, st.integers(0, 14 * N * 8))
def test_rows_equal_the_gram_matrix_and_memory_stays_in_its_bounds(requests, max_bytes):
    cache = KernelMatrix(RBF(0.5), X, max_bytes)
    K = RBF(0.5).between(X)
    asked = 0
    for indices in requests:
        np.testing.assert_allclose(cache.rows(indices), K[indices], rtol=1e-13)
        asked += len(indices)
        assert cache.nbytes <= max_bytes
        assert cache.hits + cache.misses == asked


@draws.given(REQUESTS, st.sampled_from([0, 3 * 5 * 8, 10**6]), st.sampled_from([np.asarray, sp.csr_array]))
def test_a_part_of_the_rows_is_a_training_set_of_its_own(requests, max_bytes, form):
    rows = np.array([7, 0, 3, 3, 11])
    cache = KernelMatrix(RBF(0.5), form(X), max_bytes, rows=rows)
    K = RBF(0.5).between(X[rows])
    for indices in requests:
        local = [i % 5 for i in indices]
        np.testing.assert_allclose(cache.rows(local), K[local], rtol=1e-12)
    assert cache.nbytes <= max_bytes


def test_a_part_larger_than_a_tile_is_gathered_piece_by_piece():
    wide = np.random.default_rng(1).standard_normal((5000, 2))
    rows = np.arange(0, 5000, 2)
    cache = KernelMatrix(Linear(), wide, 0, rows=rows)
    np.testing.assert_allclose(cache.rows([3, 2000]), wide[rows[[3, 2000]]] @ wide[rows].T, atol=1e-12)


def test_the_row_used_longest_ago_makes_room():
    cache = KernelMatrix(Linear(), X, 2 * N * 8)
    for i in (0, 1, 0, 2, 0, 1):  # 2 takes the place of 1, then 1 that of 2
        cache.rows([i])
    assert (cache.hits, cache.misses) == (2, 4)


def test_what_is_asked_for_again_is_not_computed_again():
    calls = []

    def count(X, Z):
        calls.append(len(X))
        return X @ Z.T

    cache = KernelMatrix(Custom(count), X, 10**6)
    cache.rows([1, 2])
    cache.rows([2, 3, 1, 4])
    cache.rows([4, 4, 1])
    assert calls == [2, 2]


def test_a_request_that_does_not_fit_is_answered_and_kept_as_far_as_there_is_room():
    cache = KernelMatrix(Linear(), X, 2 * N * 8)
    np.testing.assert_allclose(cache.rows([0, 1, 2]), (X @ X.T)[:3])
    assert cache.nbytes == 2 * N * 8
    cache.rows([0, 1, 2])
    assert (cache.hits, cache.misses) == (2, 4)


def test_a_returned_array_may_be_changed():
    cache = KernelMatrix(Linear(), X, 10**6)
    cache.rows([0])[:] = np.nan
    cache.rows([0])[:] = np.nan
    np.testing.assert_allclose(cache.rows([0]), (X @ X.T)[:1])


def test_memory_is_allocated_at_first_use_and_given_back():
    cache = KernelMatrix(Linear(), X, 10**6)
    assert cache.nbytes == 0
    cache.rows([1])
    assert cache.nbytes == N * N * 8
    cache.clear()
    assert cache.nbytes == 0
    np.testing.assert_allclose(cache.rows([1]), (X @ X.T)[1:2])


def test_values_may_be_float32_and_follow_the_data():
    assert KernelMatrix(Linear(), X, 0, dtype=np.float32).rows([0]).dtype == np.float32
    assert KernelMatrix(Linear(), X.astype(np.float32), 0).dtype == np.float32
    assert KernelMatrix(Linear(), X, 0).dtype == np.float64


def test_it_serves_a_precomputed_matrix():
    K = X @ X.T
    np.testing.assert_array_equal(KernelMatrix(Precomputed(), K, 10**6).rows([3, 1]), K[[3, 1]])
    rows = np.array([5, 2, 9])
    np.testing.assert_array_equal(KernelMatrix(Precomputed(), K, 0, rows=rows).rows([2]), K[np.ix_([9], rows)])


@pytest.mark.parametrize("max_bytes", [-1, np.nan, np.inf, "1GB"])
def test_a_budget_that_is_no_size_is_refused(max_bytes):
    with pytest.raises(InvalidInputError, match="max_bytes"):
        KernelMatrix(Linear(), X, max_bytes)


def test_an_unresolved_kernel_is_refused_at_once():
    with pytest.raises(InvalidInputError, match="resolve"):
        KernelMatrix(RBF(), X, 0)


def test_rows_stay_within_their_memory_and_the_oldest_is_forgotten():
    points = np.random.default_rng(0).standard_normal((10, 2))
    K, everyone = points @ points.T, np.ones(10)
    matrix = KernelMatrix(Linear(), points, 3 * 10 * 8 + 5)

    def misses(*samples):
        before, out = matrix.values, np.zeros(matrix.n)
        at = np.array(samples)
        matrix.add(at, everyone[: len(at)], out, keep=np.ones(len(at), dtype=bool))
        np.testing.assert_allclose(out, K[np.ix_(at, np.arange(matrix.n))].sum(axis=0))
        return (matrix.values - before) // matrix.n

    assert misses(7, 8, 9) == 3
    assert misses(8, 9, 1, 2) == 2  # 8 and 9 were used in this round: only one of the others finds room
    assert misses(7) == 1
    assert misses(8, 9) <= 1, "7 took one place at most"
    kept = np.array([0, 3, 8, 9])
    matrix.restrict(kept)
    K = K[np.ix_(kept, kept)]
    assert misses(2, 3) == 0
    assert misses(0) == 1


@pytest.mark.parametrize("d", [4, 80], ids=["packed", "products"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_sums_are_those_of_the_gram_matrix_whatever_the_threads(d, dtype):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((2500, d))
    samples, weights = rng.permutation(2500)[:2100], rng.standard_normal(700)
    exact = RBF(0.5 / d).between(data, samples, samples)
    at, found = np.arange(0, 2100, 3), []
    for n_threads in (1, 2, 3):
        matrix = KernelMatrix(RBF(0.5 / d), data, 2**20, dtype, samples, n_threads=n_threads)
        out = np.ones(2100)
        matrix.add(at, weights, out, keep=at % 2 == 0)
        found.append(np.append(out, matrix.block(at[:50], at)))
        np.testing.assert_allclose(out - 1, weights @ exact[at], atol=2e3 * np.finfo(dtype).eps)
        np.testing.assert_allclose(matrix.block(at, at), exact[np.ix_(at, at)], atol=30 * np.finfo(dtype).eps)
        np.testing.assert_allclose(matrix.diag(), 1.0)
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_by_a_loop_is_the_row_of_the_kernel(dtype):
    points = np.random.default_rng(0).standard_normal((300, 7))
    columns = LoopColumns.of(KernelMatrix(RBF(0.5), points, dtype=dtype), 320)
    row = np.empty(320, dtype=dtype)
    fill_row(columns.T, columns.squares, 5, dtype(0.25), np.full(300, 2.0, dtype=dtype), row)
    expected = RBF(0.5).block(points[5:6], points)[0] + 0.25
    expected[5] += 2.0
    np.testing.assert_allclose(row[:300], expected, rtol=30 * np.finfo(dtype).eps)
    assert (row[300:] == 0).all()


def test_rows_too_coarse_for_float32_and_sparse_ones_are_not_made_by_loops():
    far = X.copy()
    far[0, 0] = 1e2
    assert LoopColumns.of(KernelMatrix(RBF(1.0), far, dtype=np.float32), 64) is None
    assert LoopColumns.of(KernelMatrix(RBF(1.0), far), 64) is not None
    assert LoopColumns.of(KernelMatrix(RBF(1.0), sp.csr_array(X)), 64) is None
    assert LoopColumns.of(KernelMatrix(Linear(), X), 64) is None


def test_the_old_name_still_works():
    with pytest.warns(DeprecationWarning, match="KernelMatrix"):
        from maxmargin.kernels import KernelRows
    assert KernelRows(Linear(), X, 0).get([0]).shape == (1, N)


# -- shared by several problems on the same data: made once, never taken for those of other data


def one_hot(n=400, d=20):
    rng = np.random.default_rng(0)
    X = (rng.random((n, d)) < 0.2).astype(np.float64)
    return X, np.where(X[:, :5].sum(axis=1) > 1, 1.0, -1.0)


def test_rows_are_listed_once_for_all_pairs_and_threads():
    X, y = one_hot(1800)
    y = y + 3 * (X[:, 7] > 0) + 6 * (X[:, 8] > 0)  # eight classes
    listed = []
    original = PackedRows.of.__func__

    def listing(cls, side):
        listed.append(side.rows.shape[0])
        return original(cls, side)

    with (
        mock.patch.object(scores_module, "MUCH_WORK", 0),
        mock.patch.object(PackedRows, "of", classmethod(listing)),
    ):
        SVC(C=10.0, n_jobs=2).fit(X, y)
    assert listed.count(1800) == 1
    assert len(listed) > 1, "columns are listed by themselves"


def test_the_certificate_is_the_same_with_and_without_them():
    X, y = one_hot()
    p = Problem(X, y, np.full(len(y), 3.0), kernel=RBF(0.3))
    solution = solve(p, SMO())
    shared = replace(p, shared=KernelMatrix(p.kernel, X))
    with mock.patch.object(scores_module, "MUCH_WORK", 0):
        assert certify(shared, solution).gap == pytest.approx(certify(p, solution).gap, rel=1e-9)
        chosen = np.arange(0, 400, 2)
        part, half = replace(shared, y=y[chosen], cost=p.cost[chosen], rows=chosen), solution.beta[chosen]
        found = certify(part, Candidate(half, solution.b, half)).gap
        assert found == pytest.approx(certify(replace(part, shared=None), Candidate(half, solution.b, half)).gap, rel=1e-9)


def test_they_are_not_taken_for_other_data_or_another_kernel():
    X, y = one_hot()
    p = Problem(X, y, np.ones(len(y)), kernel=RBF(0.3), shared=KernelMatrix(RBF(0.3), X))
    assert p.packed is not None
    assert replace(p, X=X.copy()).packed is None
    assert replace(p, kernel=RBF(0.4)).packed is None


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3)])
def test_what_is_not_packed_is_not_shared(kernel):
    X, _ = one_hot()
    csr = sp.csr_array(X)
    assert not KernelMatrix(kernel, csr).is_on(csr, kernel)
    dense = np.random.default_rng(0).standard_normal((100, 80))
    y = np.where(dense[:, 0] > 0, 1.0, -1.0)
    assert Problem(dense, y, np.ones(100), kernel=kernel, shared=KernelMatrix(kernel, dense)).packed is None


def test_rows_too_far_out_for_float32_are_looked_at_one_by_one():
    X, y = one_hot()
    X = np.hstack([X, np.zeros((len(X), 20))])
    X[0, 30] = 1e4
    p = Problem(X, y, np.full(len(y), 3.0), kernel=RBF(0.3))
    shared = replace(p, shared=KernelMatrix(p.kernel, X))
    solution = solve(shared, SMO())
    assert solution.certificate.relative_gap <= 1e-3
    with mock.patch.object(scores_module, "MUCH_WORK", 0):
        assert certify(shared, solution).gap == pytest.approx(certify(p, solution).gap, rel=1e-9)


def test_they_survive_a_pickle_without_their_rows():
    X, _ = one_hot()
    shared = KernelMatrix(RBF(0.3), X)
    assert shared.is_on(X, RBF(0.3))
    assert shared.packed.shape == X.shape
    again = pickle.loads(pickle.dumps(shared))
    assert again.is_on(again.X, RBF(0.3))
    assert again._packed is None


def test_several_threads_get_the_same_rows():
    X, _ = one_hot()
    shared, found = KernelMatrix(RBF(0.3), X), []
    threads = [threading.Thread(target=lambda: found.append(shared.packed)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 4
    assert all(rows is found[0] for rows in found)
