"""The last resort of solvers that can stall: an interior point, where the problem is small enough for it."""

from maxmargin.core.candidate import Candidate
from maxmargin.core.problem import Problem
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress
from maxmargin.solvers.interior_point import InteriorPoint


def can_rescue(problem: Problem) -> bool:
    """Whether an interior point takes the problem."""
    return InteriorPoint().accepts(problem) is None


def rescue(problem: Problem, tol: float, clock: Clock) -> tuple[Candidate, Progress]:
    """The candidate of an interior point, and its last word."""
    solver = InteriorPoint()
    state = solver.init(problem, Workspace(problem), None)
    progress = solver.step(state, tol, clock)
    while not progress.is_final and not progress.gap <= tol and clock.spent() is None:
        progress = solver.step(state, tol, clock)
    return solver.finish(state, tol), Progress(progress.gap, is_final=True)
