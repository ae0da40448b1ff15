"""The choice of a solver, with its reason."""

from dataclasses import dataclass

from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver
from maxmargin.solvers.constraint_generation import ConstraintGeneration
from maxmargin.solvers.interior_point import InteriorPoint


@dataclass(frozen=True)
class Auto:
    """Chooses the solver that suits the problem; `choose` says which and why.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    >>> Auto().choose(Problem(X, y, cost=np.full(2, np.inf)))
    (ConstraintGeneration(), 'of 2 samples few touch a hard margin, so only those are looked at closely')
    """

    def choose(self, problem: Problem) -> tuple[Solver, str]:
        """The solver and the reason; the solver may still refuse, and then its words stand."""
        n = len(problem.present)
        if problem.is_hard:
            return (
                ConstraintGeneration(),
                f"of {n} samples few touch a hard margin, so only those are looked at closely",
            )
        return InteriorPoint(), f"{n} samples with a {type(problem.loss).__name__} loss, to high accuracy"
