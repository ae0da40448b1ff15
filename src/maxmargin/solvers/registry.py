"""The solvers there are. A new one is a file and a line here: tests, command line and benchmarks pick it up."""

from collections.abc import Mapping
from types import MappingProxyType

from maxmargin.errors import InvalidInputError
from maxmargin.solvers.auto import Auto
from maxmargin.solvers.base import Solver
from maxmargin.solvers.constraint_generation import ConstraintGeneration
from maxmargin.solvers.interior_point import InteriorPoint

SOLVERS: Mapping[str, type[Solver]] = MappingProxyType(
    {
        "interior_point": InteriorPoint,
        "constraint_generation": ConstraintGeneration,
    }
)


def solver_from_name(solver: str | Solver | Auto) -> Solver | Auto:
    """A solver by its name in the registry, "auto", or a `Solver` object as it is.

    Examples
    --------
    >>> solver_from_name("interior_point")
    InteriorPoint(form='auto')
    """
    if isinstance(solver, Solver | Auto):
        return solver
    if solver == "auto":
        return Auto()
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise InvalidInputError(f"solver must be 'auto', one of {sorted(SOLVERS)}, or a Solver object, got {solver!r}.")
    return SOLVERS[solver]()
