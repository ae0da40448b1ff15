"""LinearSVC reads the data as they come: whatever holds the numbers, the model is the same and the numbers stay."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC, Status
from tests.kernels.draws import in_form

N, D = 2000, 30
RNG = np.random.default_rng(0)
X = np.round(4 * RNG.standard_normal((N, D))) / 4 * (RNG.random((N, D)) < 0.6)  # exact in float32
Y = X @ RNG.standard_normal(D) + RNG.standard_normal(N) > 0
SETTINGS = {"C": 0.1, "tol": 1e-6, "max_iter": 5000}


def fitted(data, solver):
    return LinearSVC(solver=solver, **SETTINGS).fit(data, Y)


def parts(data):
    """The arrays that hold the numbers."""
    return (data.data, data.indices, data.indptr) if sp.issparse(data) else (data,)


def unsorted(values):
    """CSR rows whose columns stand in falling order."""
    rows = sp.csr_array(values)
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[begin:end] = rows.indices[begin:end][::-1].copy()
        rows.data[begin:end] = rows.data[begin:end][::-1].copy()
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def fits_the_same(data, reference, solver):
    """Whether the bits are equal; in any case the answer is, it is proved, and the data are untouched."""
    before = [part.copy() for part in parts(data)]
    model = fitted(data, solver)
    for part, copy in zip(parts(data), before, strict=True):
        np.testing.assert_array_equal(part, copy)
    assert model.status_ is Status.SOLVED
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-3 * np.abs(reference.coef_).max())
    assert model.certificate_.primal == pytest.approx(reference.certificate_.primal, rel=2e-6)
    np.testing.assert_allclose(model.decision_function(data), model.decision_function(X), atol=1e-12)
    return all(
        np.array_equal(getattr(model, name), getattr(reference, name))
        for name in ("coef_", "intercept_", "support_", "dual_coef_")
    )


@pytest.fixture(scope="module", params=["dual_cd", "proximal_newton"])
def solver(request):
    return request.param


@pytest.fixture(scope="module")
def plain(solver):
    return fitted(X, solver)


@pytest.fixture(scope="module")
def plain_csr(solver):
    return fitted(sp.csr_array(X), solver)


def test_data_that_may_not_be_written_give_the_same_bits(solver, plain):
    assert fits_the_same(in_form(X, "read-only"), plain, solver)


@pytest.mark.parametrize("form", ["F", "strided"])
def test_other_dense_layouts_have_the_same_answer(form, solver, plain):
    fits_the_same(in_form(X, form), plain, solver)


def test_every_other_column_of_a_wider_matrix_has_the_same_answer(solver, plain):
    wide = np.full((N, 2 * D), np.nan)
    wide[:, ::2] = X
    fits_the_same(wide[:, ::2], plain, solver)
    assert np.isnan(wide[:, 1::2]).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_file_in_memory_gives_the_same_bits(dtype, solver, tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, X.astype(dtype))
    assert fits_the_same(np.load(path, mmap_mode="r"), fitted(X.astype(dtype), solver), solver)
    np.testing.assert_array_equal(np.load(path), X)


@pytest.mark.parametrize("form", ["csr_matrix", "csr int64", "csr read-only"])
def test_other_csr_forms_give_the_same_bits(form, solver, plain_csr):
    assert fits_the_same(in_form(X, form), plain_csr, solver)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_int64_indices_in_read_only_arrays_give_the_same_bits(dtype, solver):
    rows = in_form(X.astype(dtype), "csr int64")
    for part in parts(rows):
        part.flags.writeable = False
    assert fits_the_same(rows, fitted(sp.csr_array(X.astype(dtype)), solver), solver)


def test_dense_and_sparse_data_have_the_same_answer(solver, plain, plain_csr):
    fits_the_same(sp.csr_array(X), plain, solver)
    fits_the_same(X, plain_csr, solver)


def test_zeros_that_are_stored_change_nothing_but_bits(solver, plain_csr):
    rows = sp.csr_array(np.where(X == 0, 1.0, X))
    rows.data[X.ravel() == 0] = 0.0
    fits_the_same(rows, plain_csr, solver)


@pytest.mark.parametrize("form", ["unsorted", "duplicates"])
def test_rows_with_unsorted_or_repeated_columns_have_the_same_answer(form, solver, plain_csr):
    fits_the_same(unsorted(X) if form == "unsorted" else in_form(X, "csr duplicates"), plain_csr, solver)
