"""A solver whose last phase is another solver: that goes on from its candidate. (Crawls and stalls are the driver's business.)"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from maxmargin.core import Candidate, Problem
from maxmargin.solvers.base import Budget, Clock, Progress, Solver


@dataclass(frozen=True)
class Successor:
    """A solver that has taken over, with its state."""

    solver: Solver
    state: Any

    @classmethod
    def of(cls, problem: Problem, solvers: Sequence[Solver], warm: Candidate | None) -> "Successor | None":
        """The first solver that takes the problem, begun near `warm`; None where none does."""
        solver = next((solver for solver in solvers if solver.accepts(problem) is None), None)
        return None if solver is None else cls(solver, solver.init(problem, Budget.bytes, warm))

    def step(self, tol: float, clock: Clock) -> Progress:
        """Its step."""
        return self.solver.step(self.state, tol, clock)

    def finish(self, tol: float) -> Candidate:
        """Its candidate."""
        return self.solver.finish(self.state, tol)
