"""The choice of a solver, and the registry of them."""

import numpy as np
import pytest

from maxmargin.core import Problem
from maxmargin.errors import InvalidInputError
from maxmargin.solvers import (
    SOLVERS,
    Auto,
    ConstraintGeneration,
    DualCD,
    InteriorPoint,
    ProximalNewton,
    Solver,
    solver_from_name,
)


def of_size(n, cost):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return Problem(np.zeros((n, 1)), y, np.full(n, cost))


@pytest.mark.parametrize(
    ("n", "cost", "kind"),
    [(10, np.inf, ConstraintGeneration), (301, np.inf, ConstraintGeneration), (301, 1.0, ProximalNewton)],
)
def test_the_choice_follows_the_margin_and_has_a_reason(n, cost, kind):
    solver, reason = Auto().choose(of_size(n, cost))
    assert isinstance(solver, kind)
    assert str(n) in reason


def test_only_samples_that_count_are_counted():
    p = of_size(301, 1.0)
    p.cost[0] = 0.0
    assert "300" in Auto().choose(p)[1]


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_are_found_by_name(name):
    solver = solver_from_name(name)
    assert isinstance(solver, Solver)
    assert type(solver) is SOLVERS[name]
    assert solver_from_name(solver) is solver
    assert solver.name == SOLVERS[name].__name__


def test_auto_is_a_name_too_and_others_are_refused():
    assert solver_from_name("auto") == Auto()
    with pytest.raises(InvalidInputError, match="'smo2'"):
        solver_from_name("smo2")


def test_settings_are_frozen_and_compare_by_value():
    assert InteriorPoint("dual") == InteriorPoint(form="dual") != InteriorPoint()
    with pytest.raises(AttributeError):
        InteriorPoint().form = "dual"


@pytest.mark.parametrize(("n", "d", "kind"), [(400, 100, ProximalNewton), (250, 101, InteriorPoint), (1001, 1000, DualCD)])
def test_linear_problems_are_told_apart_by_their_shape(n, d, kind):
    p = Problem(np.zeros((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0), np.ones(n))
    solver, reason = Auto(seed=3, n_threads=2).choose(p)
    assert isinstance(solver, kind)
    assert str(n) in reason
    assert getattr(solver, "seed", 3) == 3
    assert getattr(solver, "n_threads", 2) == 2
