"""The choice of a solver, with its reason."""

from dataclasses import dataclass

from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver
from maxmargin.solvers.constraint_generation import ConstraintGeneration
from maxmargin.solvers.interior_point import InteriorPoint

SMALL = 300


@dataclass(frozen=True)
class Auto:
    """Chooses the solver that suits the problem; `choose` says which and why.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    >>> Auto().choose(Problem(X, y, cost=np.full(2, np.inf)))
    (InteriorPoint(form='auto'), 'a hard margin on 2 samples is small enough to solve whole')
    """

    def choose(self, problem: Problem) -> tuple[Solver, str]:
        """The solver and the reason; the solver may still refuse, and then its words stand."""
        n = len(problem.present)
        if problem.is_hard:
            if n <= SMALL:
                return InteriorPoint(), f"a hard margin on {n} samples is small enough to solve whole"
            return (
                ConstraintGeneration(),
                f"of {n} samples few touch a hard margin, so only those are looked at closely",
            )
        return InteriorPoint(), f"{n} samples with a {type(problem.loss).__name__} loss, to high accuracy"
