"""LinearSVC's memory: the data once, a few vectors of n numbers, and a block; never the data again in float64."""

import subprocess
import sys
import tracemalloc
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC, certify
from maxmargin.core import products
from maxmargin.kernels import tiles
from maxmargin.solvers import auto
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear import rows

MB = 2**20
SOLVERS = ("dual_cd", "proximal_newton")


def dense(n, d):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d), dtype=np.float32), rng.random(n) < 0.5


def sparse(n, d, each):
    """CSR rows with sorted columns, one in each d/each wide stripe."""
    rng = np.random.default_rng(0)
    columns = d // each * np.arange(each) + rng.integers(0, d // each, size=(n, each))
    X = sp.csr_array(
        (
            rng.standard_normal(n * each, dtype=np.float32),
            columns.ravel().astype(np.int32),
            each * np.arange(n + 1, dtype=np.int32),
        ),
        shape=(n, d),
    )
    return X, rng.random(n) < 0.5


def size(X):
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


def peak_of(call):
    """The bytes that a call has in use at its peak (NumPy reports its arrays), and what it returns."""
    tracemalloc.start()
    try:
        value = call()
        return tracemalloc.get_traced_memory()[1], value
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """The loops, so that no compilation is measured."""
    for X, y in (dense(300, 40), sparse(300, 40, 8)):
        for solver in SOLVERS:
            LinearSVC(solver=solver).fit(X, y)


@pytest.fixture
def small_blocks():
    """Blocks of 1 MB: then what is left is what grows with the data."""
    with (
        mock.patch.object(products, "BLOCK_BYTES", MB),
        mock.patch.object(rows, "PIECE_VALUES", MB // 8),
        mock.patch.object(tiles, "TILE_BYTES", MB),
    ):
        yield


DATA = {"dense": dense(10_000, 300), "csr": sparse(20_000, 200, 50)}


@cache
def model_of(form):
    X, y = DATA[form]
    return LinearSVC(C=1e-3, tol=1e-2, solver="dual_cd").fit(X, y)


# -- float32 data stay float32 ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
@pytest.mark.parametrize("form", DATA)
@pytest.mark.parametrize(("solver", "n_rounds"), [("dual_cd", 3), ("proximal_newton", 3), ("dual_cd", 40)])
def test_a_fit_takes_less_than_the_data_again(solver, n_rounds, form):
    X, y = DATA[form]
    model = LinearSVC(loss="squared_hinge", C=0.1, tol=1e-12, max_iter=n_rounds, solver=solver, n_jobs=2)
    with mock.patch.object(auto, "offers", return_value=[]):
        peak, _ = peak_of(lambda: model.fit(X, y))
    assert model.n_iter_ == n_rounds or solver == "proximal_newton"  # one step may be enough
    equations = 8 * 8 * X.shape[1] ** 2 if solver == "proximal_newton" else 0  # eight d × d matrices
    assert peak < size(X) + equations


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", DATA)
def test_conjugate_gradients_copy_no_more_than_half_of_the_rows(form):
    X, y = DATA[form]
    with mock.patch.object(equations, "TUNING", replace(equations.TUNING, factored=0)):
        peak, model = peak_of(lambda: LinearSVC(C=0.1, tol=1e-6, solver="proximal_newton").fit(X, y))
    assert model.status_.name == "SOLVED"
    assert peak < 1.5 * size(X)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", DATA)
def test_a_certificate_takes_less_than_half_the_data(form):
    model = model_of(form)
    peak, found = peak_of(lambda: certify(model, *DATA[form]))
    assert found == model.certificate_
    vectors = 8 * 8 * DATA[form][0].shape[0]  # bounds of errors beside scores and slacks
    assert peak < 0.5 * size(DATA[form][0]) + vectors


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", DATA)
@pytest.mark.parametrize("method", ["decision_function", "predict", "certified_predictions"])
def test_predictions_take_less_than_half_the_data(form, method):
    model = model_of(form)
    peak, _ = peak_of(lambda: getattr(model, method)(DATA[form][0]))
    assert peak < 0.5 * size(DATA[form][0])


@pytest.mark.parametrize("product", ["scores", "combine"])
def test_a_product_holds_a_block_and_the_next_one(product):
    X, _ = dense(20_000, 200)
    vector = np.ones(200 if product == "scores" else 20_000)
    with mock.patch.object(products, "BLOCK_BYTES", 4 * MB):
        peak, _ = peak_of(lambda: getattr(products, product)(X, vector))
    assert peak < 2 * 4 * MB + 3 * 8 * 20_000


def test_a_gram_matrix_holds_a_block_its_product_and_the_next_one():
    X, _ = dense(40_000, 50)
    out = np.zeros((51, 51))
    with mock.patch.object(rows, "PIECE_VALUES", 2**18):
        peak, _ = peak_of(lambda: rows.Rows.of_matrix(X).add_squares(np.arange(40_000), np.ones(40_000), 1.0, out))
    assert peak < 3 * 8 * 2**18 + 3 * 8 * 40_000 + 8 * 8 * 50**2
    np.testing.assert_allclose(np.tril(out)[:50, :50], np.tril(X.astype(np.float64).T @ X), atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
def test_what_is_certain_does_not_depend_on_the_precision_that_the_data_came_in(scale, form):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = ((rng.standard_normal((400, 150)) + 0.1 * y[:, None]) * scale).astype(np.float32)
    model = LinearSVC(C=0.01 / scale**2, fit_intercept=False, tol=0.02, solver="dual_cd").fit(X.astype(np.float64), y)
    labels, is_certain = model.certified_predictions(form(X))
    expected, is_expected = model.certified_predictions(form(X.astype(np.float64)))
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(is_certain, is_expected)
    assert 0.0 < is_expected.mean() < 1.0


# -- many samples with few features (scikit-learn #18825): the whole process, as the system sees it ----------------------------

N, D = 900_000, 5
VECTORS = 40
"""n float64 numbers each. Of a problem: y, costs, weights, labels, their codes. Of a solver: θ and its centre, base,
z, c, ‖x‖², the best θ,
what moved and turned. Of a step, or of the certificate: about fifteen that live for one formula."""

CHILD = """
import sys
import warnings
import numpy as np
from maxmargin import LinearSVC

def kilobytes(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

warnings.simplefilter("ignore")
n, d, *solvers = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
rng = np.random.default_rng(0)
X, y = rng.standard_normal((n, d), dtype=np.float32), rng.random(n) < 0.5
for solver in solvers:
    LinearSVC(solver=solver, n_jobs=2).fit(X[:300], y[:300])
before = kilobytes("VmRSS")
for solver in solvers:
    LinearSVC(C=1e-3, tol=1e-9, max_iter=2, solver=solver, n_jobs=2).fit(X, y)
sys.stdout.write(str(kilobytes("VmHWM") - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the peak of a process")
def test_nine_hundred_thousand_samples_of_five_features_take_a_few_vectors_beside_the_data():
    command = [sys.executable, "-c", CHILD, str(N), str(D), *SOLVERS]
    extra = 1024 * int(subprocess.run(command, capture_output=True, check=True, text=True, timeout=300).stdout)
    assert extra < VECTORS * 8 * N + 2 * products.BLOCK_BYTES


def test_columns_that_are_stored_twice_are_as_certain_as_their_sum():
    X, y = sparse(8000, 40, 8)
    model = LinearSVC(C=0.01, tol=1e-3, fit_intercept=False, solver="dual_cd").fit(X, y)
    halves = sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    for found, expected in zip(model.certified_predictions(halves), model.certified_predictions(X), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert 0.0 < model.certified_predictions(X)[1].mean() < 1.0
