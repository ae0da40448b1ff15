"""The interior point of the L1 problem: the optimum of the whole program whatever the units, the costs and the shape."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.core import L1, Bias, Hinge, Problem, SquaredHinge, certify
from maxmargin.solvers.l1 import equations as l1_equations
from maxmargin.solvers.l1.columns import Columns, candidate_of
from maxmargin.solvers.l1.equations import Equations, Factor
from maxmargin.solvers.l1.interior_point import L1Interior
from tests import reference

BIASES = (Bias.free(), Bias.none(), Bias.penalized(0.7))
LOSSES = (Hinge(), SquaredHinge())


def table(seed=0, n=60, d=8, cost=1.0, loss=None, bias=None, sizes=None):
    """Two overlapping classes; `sizes` are the units of the features."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3, 1.0, -1.0)
    X = rng.standard_normal((n, d))
    X[:, :2] += y[:, None]
    X = X if sizes is None else X * sizes
    return Problem(X, y, np.full(n, cost), loss=loss or Hinge(), penalty=L1(), bias=bias or Bias.free())


def begin(p):
    on = p.present
    return L1Interior.of(Columns.of(p), p.y[on], p.cost[on], isinstance(p.loss, Hinge))


def run(p, tol):
    """The interior point where its weights with zeros are good enough, or where it stalls."""
    interior = begin(p)
    while interior.gap > tol and not interior.has_stalled:
        interior.step()
    return interior


def gap_of(p, interior, tol):
    return certify(p, candidate_of(p, interior.w, interior.alpha(tol))).relative_gap


@pytest.fixture
def by_conjugate_gradients(monkeypatch):
    """So few columns may be factored that all problems are solved for α."""
    monkeypatch.setattr(l1_equations, "TUNING", replace(l1_equations.TUNING, factored=5))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("shape", [(60, 8), (20, 90)])
def test_the_objective_is_that_of_the_whole_program(loss, bias, shape):
    p = table(n=shape[0], d=shape[1], loss=loss, bias=bias)
    interior = run(p, 1e-6)
    assert gap_of(p, interior, 1e-6) <= 1.1e-6
    assert interior.bare.value == pytest.approx(reference.solve_l1(p)[2], rel=2e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("bias", BIASES, ids=repr)
def test_a_few_factored_columns_are_as_good_as_all(loss, bias, by_conjugate_gradients):
    p = table(loss=loss, bias=bias)
    assert gap_of(p, run(p, 1e-4), 1e-4) <= 1.1e-4


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("cost", [1e-4, 1.0, 1e3, 1e6])
def test_units_from_a_thousandth_to_ten_thousand_do_no_harm(loss, cost):
    p = table(cost=cost, loss=loss, sizes=np.geomspace(1e-3, 1e4, 8))
    interior = run(p, 1e-4)
    assert gap_of(p, interior, 1e-4) <= 1.1e-4
    assert len(interior.left) <= 60


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_columns_that_are_constant_or_equal_or_nearly_do_no_harm(loss):
    p = table(loss=loss, cost=100.0)
    rng = np.random.default_rng(1)
    twins = np.hstack([p.X, p.X, p.X + 1e-9 * rng.standard_normal(p.X.shape), np.ones((60, 1)), np.zeros((60, 2))])
    assert run(replace(p, X=twins), 1e-5).bare.value == pytest.approx(reference.solve_l1(p)[2], rel=2e-5)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_features_far_from_zero_do_not_promise_too_much(loss):
    p = table(loss=loss, d=2)
    p = replace(p, X=p.X + 1e3)
    best = reference.solve_l1(p)[2]
    interior = begin(p)
    while interior.gap > 1e-6 and not interior.has_stalled:
        interior.step()
        assert interior.dual.value <= best * (1.0 + 1e-8)
    assert gap_of(p, interior, 1e-6) <= 1e-5


def test_rows_that_are_equal_do_no_harm():
    p = table(cost=30.0)
    twice = Problem(np.vstack([p.X, p.X]), np.append(p.y, p.y), np.full(120, 15.0), penalty=L1())
    assert run(twice, 1e-5).bare.value == pytest.approx(reference.solve_l1(p)[2], rel=2e-5)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_below_the_critical_cost_all_weights_are_zero(loss):
    p = table(cost=1e-5, loss=loss)
    interior = run(p, 1e-6)
    assert not interior.w[:-1].any()
    assert gap_of(p, interior, 1e-6) <= 1.1e-6


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_sparse_and_dense_columns_take_the_same_steps(loss):
    p = table(loss=loss)
    dense, sparse = begin(p), begin(replace(p, X=sp.csr_array(p.X)))
    for interior in (dense, sparse):
        for _ in range(5):
            interior.step()
    np.testing.assert_allclose(dense.at.alpha, sparse.at.alpha, rtol=1e-6)


def test_the_guess_has_the_zeros_and_the_bounds_of_the_corner():
    p = table(cost=10.0)
    w, alpha = run(p, 1e-9).guess()
    best, _, _, dual = reference.solve_l1(p)
    np.testing.assert_array_equal(w[:-1] == 0.0, np.abs(best) < 1e-9)
    np.testing.assert_array_equal(alpha == 0.0, dual < 1e-9)
    np.testing.assert_array_equal(alpha == 10.0, dual > 10.0 - 1e-9)


def test_a_point_that_is_not_finite_is_not_kept():
    interior = run(table(), 1e-3)
    value = interior.bare.value
    interior.at.alpha[0] = np.nan
    interior.step()
    assert interior.has_stalled
    assert interior.bare.value == value


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("shape", [(30, 6), (6, 30)])
def test_the_directions_solve_the_equations(bias, shape):
    p = table(n=shape[0], d=shape[1], bias=bias)
    columns, rng = Columns.of(p), np.random.default_rng(0)
    d = len(columns.price)
    A = p.y[:, None] * columns.take(np.arange(d))
    D, theta, rho, right = (rng.uniform(0.5, 2.0, size) for size in (p.n, d, d, p.n))
    price = columns.price
    rho = np.where(price > 0.0, rho, 0.0)
    found = Equations.of(columns, p.y, np.ones(d), price, theta, D).solve(rho, right, 0.25, np.full(p.n, 1e-12))
    np.testing.assert_allclose(A @ found.w + D * found.alpha, right, atol=1e-9)
    expected = np.where(price > 0.0, rho + theta * (A.T @ found.alpha), found.w)
    np.testing.assert_allclose(found.w, expected, atol=1e-9)
    if bias.is_free:
        assert p.y @ found.alpha == pytest.approx(-0.25, abs=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-170, 1.0])
def test_a_residual_that_vanishes_ends_the_conjugate_gradients(size):
    """More features than samples, and nothing may be missed: the residual comes down to rounding, or its square to 0."""
    p = table(n=6, d=30, bias=Bias("none"))
    columns = Columns.of(p)
    equations = Equations.of(columns, p.y, np.ones(30), columns.price, np.ones(30), np.ones(6))
    found = equations.solve(np.zeros(30), np.full(6, size), 0.0, np.zeros(6))
    A = p.y[:, None] * columns.take(np.arange(30))
    np.testing.assert_allclose(A @ found.w + found.alpha, size, atol=1e-9)


def test_a_singular_matrix_is_factored_with_a_ridge():
    v = np.array([1.0, 2.0, 3.0])
    solved = Factor.of(np.outer(v, v), 0.0).solve(v)
    np.testing.assert_allclose(np.outer(v, v) @ solved, v, rtol=1e-6)
    assert np.isnan(Factor.of(np.full((2, 2), np.nan), 0.0).solve(np.ones(2))).all()
