"""The ramp loss in the estimators: how a problem is trained, and what is known of its outliers. Other losses do not come here."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from maxmargin.core import Problem, Solution
from maxmargin.core.ramp import convex_step
from maxmargin.estimators.multiclass.per_problem import alone
from maxmargin.solvers import RampSolution, solve_ramp, solve_ramp_exactly
from maxmargin.typing import Indices

EXACT = "exact"
"""The solver that searches the global optimum."""

OF_RAMP = ("outliers_", "objective_", "objective_bound_")
"""What a fitted estimator has with this loss only."""


def ramp_trainer(solver: Any, n_starts: int, seed: int) -> Callable[..., Solution]:
    """What trains one problem, called as `solve` is."""
    return partial(_exactly, seed=seed) if solver == EXACT else partial(solve_ramp, starts=n_starts, seed=seed)


def _exactly(problem: Problem, solver: Any, *, warm: Any = None, **settings: Any) -> Solution:
    """`solve_ramp_exactly`, called as `solve` is: it needs neither a solver nor a warm start."""
    return solve_ramp_exactly(problem, **settings)


def store_outliers(model: Any, problems: Sequence[Problem], solutions: Sequence[Solution]) -> None:
    """Set `outliers_` (training rows), `objective_` and `objective_bound_`: of one problem by itself, of several in a tuple."""
    ramps = [solution for solution in solutions if isinstance(solution, RampSolution)]
    outliers = [problem.row(np.flatnonzero(ramp.is_outlier)) for problem, ramp in zip(problems, ramps, strict=True)]
    found: list[Sequence[Any]] = [outliers, [ramp.objective for ramp in ramps], [ramp.bound for ramp in ramps]]
    vars(model).update(zip(OF_RAMP, map(alone, found), strict=True))


def last_steps(problems: Sequence[Problem], outliers: Indices | tuple[Indices, ...]) -> list[Problem]:
    """The last convex step of each problem, which the certificate of a stored model is about."""
    left_out = outliers if isinstance(outliers, tuple) else (outliers,)
    return [
        convex_step(problem, np.isin(problem.row(np.arange(problem.n)), rows))
        for problem, rows in zip(problems, left_out, strict=True)
    ]
