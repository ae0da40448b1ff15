"""The L1 penalty: the corner that HiGHS finds on the whole program, found on a small one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

from maxmargin import LinearSVC
from maxmargin.analysis.critical_cost import critical_cost
from maxmargin.core import L1, Bias, Candidate, Hinge, Problem, SquaredHinge, Status, certify
from maxmargin.solvers import Budget, LinearProgram, PrimalCD, solve
from maxmargin.solvers.base import Clock
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.highs import solve_small_program
from maxmargin.solvers.l1.interior_point import L1Interior
from maxmargin.solvers.l1.simplex_tableau import Tableau
from tests import reference
from tests.campaign import draw, judge
from tests.strategies import examples, generators, problems

hinges = problems(max_n=14, kernels=("linear",), losses=(Hinge(),), penalty=L1())
BIASES = (Bias.free(), Bias.none(), Bias.penalized(0.7))


def wide(seed=0, n=40, d=300, bias=None, cost=1.0, density=0.1, loss=None):
    """Sparse and wide: few of many columns matter."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=density, rng=rng, format="csr")
    y = np.where(X[:, [0, 1, 2]].sum(axis=1) - 0.3 + 0.2 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return Problem(X, y, np.full(n, cost), loss=loss or Hinge(), penalty=L1(), bias=bias or Bias.free())


@pytest.mark.parametrize("solver", [LinearProgram(), PrimalCD()], ids=lambda solver: solver.name)
@examples(40)
@given(p=hinges)
def test_the_objective_is_that_of_the_whole_linear_program(solver, p):
    solution = solve(p, solver, tol=1e-8)
    assert certify(p, solution).relative_gap <= 1e-8
    assert solution.certificate.primal == pytest.approx(reference.solve_l1(p)[2], rel=1e-8)


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("cost", [0.5, 20.0])
@pytest.mark.parametrize("solver", [LinearProgram(), PrimalCD()], ids=lambda solver: solver.name)
def test_generation_ends_in_the_corner_of_the_whole(solver, bias, cost):
    p = wide(bias=bias, cost=cost)
    solution = solve(p, solver, tol=1e-8)
    w, _, value, _ = reference.solve_l1(p)
    assert solution.certificate.primal == pytest.approx(value, rel=1e-8)
    np.testing.assert_array_equal(solution.w == 0.0, np.abs(w) < 1e-9)  # exact zeros, where the corner is unique


def test_only_some_columns_and_rows_enter_the_programs(monkeypatch):
    sizes = []

    def spy(tableau, *others):
        sizes.append(tableau.T.shape)
        return lowest(tableau, *others)

    lowest = Tableau.lowest
    monkeypatch.setattr(Tableau, "lowest", spy)
    p = wide(n=400, d=2000, density=0.02)
    assert solve(p, PrimalCD(), tol=1e-8).status is Status.SOLVED
    assert max(rows for rows, _ in sizes) < 400
    assert max(columns for _, columns in sizes) < 1000


@examples(20)
@given(p=hinges, rng=generators())
def test_a_wrong_guess_of_rows_and_columns_is_mended(p, rng):
    w = rng.standard_normal(p.X.shape[1]) * (rng.random(p.X.shape[1]) < 0.3)
    guess = Candidate(w, 0.0, p.y * p.cost * (rng.random(p.n) < 0.5))
    assert solve(p, LinearProgram(), tol=1e-8, warm=guess).status is Status.SOLVED


def test_a_program_without_a_minimum_ends_at_its_reach():
    arrays = np.ones((1, 1)), np.ones(1), np.ones(1), np.ones(1), np.array([3.0]), np.ones(1)
    found = solve_small_program(*arrays, 7.0, Clock(Budget()))
    assert found.is_at_reach
    assert found.w == 7.0


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("is_sparse", [True, False])
def test_the_squared_hinge_is_solved_to_the_last_digits(bias, is_sparse):
    p = wide(bias=bias, cost=3.0, loss=SquaredHinge())
    p = p if is_sparse else replace(p, X=p.X.toarray())
    solution = solve(p, tol=1e-9)
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(reference.solve_l1(p)[2], rel=1e-8)
    assert 0 < np.count_nonzero(solution.w) < p.X.shape[1] / 2


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_budgets_end_it_with_the_best_so_far(loss):
    p = wide(n=400, d=500, loss=loss, cost=10.0)
    cut = solve(p, tol=1e-12, budget=Budget(iterations=1))
    assert cut.status is Status.ITERATION_BUDGET
    assert cut.n_iter == 1
    assert solve(p, tol=1e-12, budget=Budget(seconds=0.0)).status is Status.TIME_BUDGET
    assert solve(p, tol=1e-12, budget=Budget(stop=lambda: True)).status is Status.INTERRUPTED


def test_an_observer_hears_and_stops():
    heard = []
    p = wide(n=400, d=500)
    assert solve(p, observe=lambda event: heard.append(event) or len(heard) == 2).status is Status.STOPPED
    assert len(heard) == 2


@pytest.mark.parametrize("solver", [LinearProgram(), PrimalCD()], ids=lambda solver: solver.name)
def test_infinite_costs_are_refused(solver):
    p = replace(wide(), cost=np.full(40, np.inf))
    assert "finite costs" in solver.accepts(p)


def test_the_columns_are_those_of_the_samples_that_count():
    p = replace(wide(bias=Bias.penalized(2.0)), cost=np.r_[np.zeros(3), np.ones(37)])
    columns = Columns.of(p)
    dense = np.hstack([p.X.toarray()[3:], np.ones((37, 1))])
    v, w = np.arange(37.0), np.arange(301.0)
    np.testing.assert_allclose(columns.sums(v), v @ dense)
    np.testing.assert_allclose(columns.scores(w), dense @ w)
    np.testing.assert_allclose(columns.squares(v), v @ dense**2)
    np.testing.assert_allclose(columns.price, np.r_[np.ones(300), 0.5])


@examples(40)
@given(p=problems(max_n=12, kernels=("linear",), penalty=L1(), scales=(1.0,)), data=st.data())
def test_the_first_weight_enters_at_the_critical_cost(p, data):
    t = critical_cost(replace(p, cost=p.cost / p.cost.max()))
    if np.isinf(t):  # no feature helps at any cost
        assert not solve(replace(p, cost=p.cost / p.cost.max() * 1e4), tol=1e-9).w.any()
        return
    below, above = (solve(replace(p, cost=p.cost / p.cost.max() * t * f), tol=1e-11) for f in (0.99, 1.01))
    size = np.abs(reference.rows_of(p)).max()
    assert np.abs(below.w).max() * size <= 1e-6
    assert np.abs(above.w).max() * size > 1e-6


def real(name, cost, bias, loss):
    """Tables of scikit-learn: breast cancer as it comes and standardised, digit 1 against the rest."""
    X, y = (load_digits if name == "digits" else load_breast_cancer)(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) if name == "standardised" else X
    return Problem(X, np.where(y == 1, 1.0, -1.0), np.full(len(y), cost), loss=loss, penalty=L1(), bias=bias)


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize(("name", "cost"), [("as it comes", 1e3), ("as it comes", 1e6), ("standardised", 1e5), ("digits", 1e5)])
def test_large_costs_and_unscaled_features_do_not_end_the_fit_early(name, cost, loss, bias):
    p = real(name, cost, bias, loss)
    solution = solve(p, tol=1e-3)
    assert solution.status is Status.SOLVED
    assert certify(p, solution).relative_gap <= 1e-3
    if isinstance(loss, Hinge):
        assert solution.certificate.primal == pytest.approx(whole_program(p), rel=1e-3)


def whole_program(p):
    """The optimum by HiGHS's interior point, in units in which each feature is at most 1; apart from our ways to ask it."""
    units = np.abs(p.X).max(axis=0)
    units[units == 0.0] = 1.0
    scale = p.bias.scale
    X = np.hstack([p.X / units, np.full((p.n, 1), scale)]) if scale else p.X / units
    price = np.append(1.0 / units, 1.0) if scale else 1.0 / units
    signed, ones = sp.csr_array(p.y[:, None] * X), sp.csr_array(p.y[:, None] * float(p.bias.is_free))
    A = -sp.hstack([signed, -signed, ones, sp.eye_array(p.n)], format="csc")
    bounds = [(0, None)] * (2 * len(price)) + [(None, None)] + [(0, None)] * p.n
    objective = np.concatenate([price, price, [0.0], p.cost])
    return scipy.optimize.linprog(objective, A_ub=A, b_ub=-np.ones(p.n), bounds=bounds, method="highs-ipm").fun


def failing(fails):
    """HiGHS without an answer where `fails` says so, given its number of calls and its options."""
    calls = []
    linprog = scipy.optimize.linprog

    def run(objective, **options):
        calls.append(options)
        found = linprog(objective, **options)
        if fails(len(calls), options):
            found.status, found.x = 4, None
        return found

    return run, calls


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_a_failure_of_highs_is_not_the_end(monkeypatch, bias, tol):
    run, calls = failing(lambda count, _: count == 1)
    monkeypatch.setattr(scipy.optimize, "linprog", run)
    p = wide(bias=bias, cost=20.0)
    solution = solve(p, LinearProgram(), tol=tol)
    assert calls
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(reference.solve_l1(p)[2], rel=tol)


def test_without_highs_the_interior_point_and_exchanges_reach_the_corner(monkeypatch):
    monkeypatch.setattr(scipy.optimize, "linprog", failing(lambda *_: True)[0])
    p = wide(cost=20.0)
    assert solve(p, LinearProgram(), tol=1e-8).status is Status.SOLVED


def test_all_ways_to_ask_highs_are_tried_before_the_end(monkeypatch):
    run, calls = failing(lambda _, options: options["method"] != "highs-ipm")
    monkeypatch.setattr(scipy.optimize, "linprog", run)
    monkeypatch.setattr(L1Interior, "step", lambda interior: setattr(interior, "is_broken", True))
    monkeypatch.setattr(Tableau, "near", lambda *_: None)
    p = wide(cost=20.0)
    assert solve(p, LinearProgram(), tol=1e-6).status is Status.SOLVED
    assert len({(options["method"], options["options"]["presolve"]) for options in calls}) == 3
    monkeypatch.setattr(scipy.optimize, "linprog", failing(lambda *_: True)[0])
    assert solve(p, LinearProgram(), tol=1e-6).status is Status.UNREACHED


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_what_costs_more_than_an_interior_point_gives_way_to_it(monkeypatch, loss, tol):
    steps = []
    step = L1Interior.step
    monkeypatch.setattr(L1Interior, "work", lambda *_: 1.0)
    monkeypatch.setattr(L1Interior, "step", lambda interior: steps.append(1) or step(interior))
    p = wide(loss=loss, n=400, d=100, cost=100.0)
    solution = solve(p, tol=tol)
    assert steps
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(reference.solve_l1(p)[2], rel=tol)


def test_the_steps_of_highs_are_limited_by_the_work_it_may_do():
    p = wide(n=60, d=80, density=0.3, cost=10.0)
    columns = Columns.of(p)
    arrays = columns.take(np.arange(81)), p.y, p.cost, columns.price, np.zeros(81), columns.units, np.inf
    found = solve_small_program(*arrays, Clock(Budget()), most_work=0.0)
    assert found.has_failed
    assert not found.was_stopped
    whole = solve_small_program(*arrays, Clock(Budget()))
    assert not whole.has_failed
    assert whole.work > found.work


@pytest.mark.parametrize("solver", [LinearProgram(), PrimalCD()], ids=lambda solver: solver.name)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_a_gap_that_the_certificate_never_confirms_does_not_go_on_for_ever(solver, loss):
    for seed in range(5):
        p = wide(seed, n=30, d=20, density=0.5, loss=loss, cost=10.0)
        if solver.accepts(p) is None:
            assert solve(p, solver, tol=0.0, budget=Budget(iterations=10_000)).status is not Status.ITERATION_BUDGET


@pytest.mark.parametrize("bias", BIASES, ids=repr)
def test_the_dual_point_of_nearly_equal_columns_is_mended(bias):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 15))
    y = np.where(X[:, :3].sum(axis=1) + rng.standard_normal(400) > 0.0, 1.0, -1.0)
    X = np.hstack([X, X + 1e-7 * rng.standard_normal(X.shape)])
    p = Problem(X, y, np.full(400, 1e6), penalty=L1(), bias=bias)
    assert solve(p, tol=1e-5).status is Status.SOLVED


HARD = [
    ("linear", 613000391),  # timestamps: a dual point that is too low by a fifth
    ("words", 613000066),  # by a twentieth
    ("linear", 621008003),  # weights of 1e12: β cancel but for their last digits
    ("words", 621000799),  # timestamps and the squared hinge: from the best candidate, not from the last
    ("linear", 712000640),  # offsets of 1e9, which a free bias takes up
    ("linear", 714000665),  # the same in sparse rows that are full
    ("linear", 714001537),  # and for the hinge
    ("linear", 801002990),  # timestamps: what the large β cannot express, samples outside the margin take up
    ("linear", 901000976),  # weights of 1e12: HiGHS leaves free samples 1e-6 outside the margin
]


@pytest.mark.parametrize(("family", "seed"), HARD)
def test_dual_points_of_large_beta_reach_the_cube(family, seed):
    case = draw(family, seed)
    case.estimator.set_params(max_seconds=60.0)
    model = case.fit()
    assert model.status_ is Status.SOLVED
    assert list(judge(case, model)) == []


def test_offsets_of_1e5_with_a_structure_of_1e_3_reach_nine_digits():
    case = draw("linear", 713002977)  # three classes; the β can be stored no finer than a gap of 1e-10
    case.estimator.set_params(max_seconds=60.0)
    model = case.fit()
    assert set(model.status_) == {Status.SOLVED}
    assert list(judge(case, model)) == []


def test_what_is_left_of_the_sum_of_beta_counts_with_the_offsets():
    for seed in range(10):  # the programs know columns without their means, the certificate knows the data
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(50, 5)) + 1e5 * rng.random(5), rng.integers(0, 2, 50)
        assert LinearSVC("l1", loss="hinge", C=100.0, tol=1e-7).fit(X, y).certificate_.is_certified
