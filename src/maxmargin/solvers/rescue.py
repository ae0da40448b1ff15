"""The last resort of solvers that can stall: another solver that takes the problem."""

from collections.abc import Sequence

from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate import certify
from maxmargin.core.problem import Problem
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress, Solver


def rescue(problem: Problem, solvers: Sequence[Solver], tol: float, clock: Clock) -> tuple[Candidate, Progress] | None:
    """The candidate of the first solver that takes the problem, and its last word; None where none does."""
    solver = next((solver for solver in solvers if solver.accepts(problem) is None), None)
    if solver is None:
        return None
    state = solver.init(problem, Workspace(problem), None)
    while True:
        progress = solver.step(state, tol, clock)
        is_over = progress.is_final or clock.spent() is not None
        if is_over or progress.gap <= tol:
            candidate = solver.finish(state, tol)
            if is_over or certify(problem, candidate).relative_gap <= tol:
                return candidate, Progress(progress.gap, is_final=True)
