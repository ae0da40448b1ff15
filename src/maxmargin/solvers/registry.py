"""The solvers there are. A new one is a file and a line here: tests, command line and benchmarks pick it up."""

from collections.abc import Mapping
from types import MappingProxyType

from maxmargin.errors import InvalidInputError
from maxmargin.solvers.active_set import ActiveSet
from maxmargin.solvers.auto import Auto, with_settings
from maxmargin.solvers.base import Solver
from maxmargin.solvers.hard_margin.constraint_generation import ConstraintGeneration
from maxmargin.solvers.interior.interior_point import InteriorPoint
from maxmargin.solvers.l1.linear_program import LinearProgram
from maxmargin.solvers.l1.primal_cd import PrimalCD
from maxmargin.solvers.linear.dual_cd import DualCD
from maxmargin.solvers.linear.proximal_newton import ProximalNewton
from maxmargin.solvers.smo.smo import SMO
from maxmargin.solvers.stochastic.pegasos import Pegasos
from maxmargin.solvers.stochastic.subgradient import Subgradient

SOLVERS: Mapping[str, type[Solver]] = MappingProxyType(
    {
        "interior_point": InteriorPoint,
        "active_set": ActiveSet,
        "constraint_generation": ConstraintGeneration,
        "dual_cd": DualCD,
        "proximal_newton": ProximalNewton,
        "smo": SMO,
        "linear_program": LinearProgram,
        "primal_cd": PrimalCD,
        "pegasos": Pegasos,
        "subgradient": Subgradient,
    }
)


def solver_from_name(solver: str | Solver | Auto, *, seed: int = 0, n_threads: int = 1) -> Solver | Auto:
    """A solver by its name in the registry, "auto", or a `Solver` object as it is.

    A solver found by name takes the seed and the threads, if it has any use for them.

    Examples
    --------
    >>> solver_from_name("interior_point")
    InteriorPoint(form='auto')
    """
    if isinstance(solver, Solver | Auto):
        return solver
    if isinstance(solver, str) and solver == "auto":
        return Auto(seed, n_threads)
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise InvalidInputError(f"solver must be 'auto', one of {sorted(SOLVERS)}, or a Solver object, got {solver!r}.")
    return with_settings(SOLVERS[solver], seed, n_threads)
