"""The ramp loss in the estimators: how a problem is trained, and what is known of its outliers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from maxmargin.core import Problem, Ramp, Solution
from maxmargin.core.ramp import convex_step
from maxmargin.errors import InvalidInputError
from maxmargin.solvers import Auto, RampSolution, Solver, solve_ramp, solve_ramp_exactly, solver_from_name
from maxmargin.typing import Indices

LOSSES = ("hinge", "squared_hinge", "ramp")
EXACT = "exact"


def trainer(loss: str, solver: Any, n_starts: Any, seed: int) -> Callable[..., Solution] | None:
    """What trains one problem, called as `solve` is; None is `solve` itself."""
    if not isinstance(n_starts, int | np.integer) or isinstance(n_starts, bool) or n_starts < 1:
        raise InvalidInputError(f"n_starts must be an integer ≥ 1, got {n_starts!r}.")
    is_exact = isinstance(solver, str) and solver == EXACT
    if loss != "ramp":
        if is_exact or n_starts > 1:
            asked = "solver='exact'" if is_exact else f"n_starts={n_starts}"
            raise InvalidInputError(
                f"{asked} is for loss='ramp'; the loss {loss!r} is convex and has no other optimum."
            )
        return None
    return partial(_exactly, seed=seed) if is_exact else partial(solve_ramp, starts=int(n_starts), seed=seed)


def _exactly(problem: Problem, solver: Any, *, warm: Any = None, **settings: Any) -> Solution:
    """`solve_ramp_exactly`, called as `solve` is: it needs neither a solver nor a warm start."""
    return solve_ramp_exactly(problem, **settings)


def chosen_solver(solver: Any, seed: int, n_threads: int) -> Solver | Auto:
    """The solver of the convex problems; the exact search chooses its own."""
    return solver_from_name(
        "auto" if isinstance(solver, str) and solver == EXACT else solver, seed=seed, n_threads=n_threads
    )


def store_outliers(model: Any, solutions: Sequence[Solution], rows: Sequence[Indices | None]) -> None:
    """Set `outliers_`, `objective_` and `objective_bound_` of a ramp fit; of any other, take them away.

    `rows` are the training rows of each problem's samples, None for all.
    """
    for name in ("outliers_", "objective_", "objective_bound_"):
        model.__dict__.pop(name, None)
    ramps = [solution for solution in solutions if isinstance(solution, RampSolution)]
    if not ramps:
        return
    found = [np.flatnonzero(solution.is_outlier) for solution in ramps]
    found = [at if own is None else own[at] for at, own in zip(found, rows, strict=True)]
    is_one = len(ramps) == 1
    model.outliers_ = found[0] if is_one else tuple(found)
    model.objective_ = ramps[0].objective if is_one else tuple(solution.objective for solution in ramps)
    model.objective_bound_ = ramps[0].bound if is_one else tuple(solution.bound for solution in ramps)


def judged(model: Any, k: int, problem: Problem) -> Problem:
    """The problem that the certificate of a stored model is about: for the ramp its last convex step."""
    if not isinstance(problem.loss, Ramp):
        return problem
    left_out = model.outliers_[k] if isinstance(model.outliers_, tuple) else model.outliers_
    rows = np.arange(problem.n) if problem.rows is None else problem.rows
    return convex_step(problem, np.isin(rows, left_out))


def hinge_of(problem: Problem) -> Problem:
    """The problem itself, and for the ramp the hinge problem that it begins with."""
    return convex_step(problem, np.zeros(problem.n, dtype=bool)) if isinstance(problem.loss, Ramp) else problem
