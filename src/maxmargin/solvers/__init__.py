"""Algorithms: one final class a file, one driver for all of them."""

from maxmargin.solvers.auto import Auto
from maxmargin.solvers.base import Budget, Clock, Event, Observer, Progress, Solver, solve
from maxmargin.solvers.constraint_generation import ConstraintGeneration
from maxmargin.solvers.dual_cd import DualCD
from maxmargin.solvers.exact_ramp import solve_ramp_exactly
from maxmargin.solvers.interior_point import InteriorPoint
from maxmargin.solvers.linear_program import LinearProgram
from maxmargin.solvers.pegasos import Pegasos
from maxmargin.solvers.primal_cd import PrimalCD
from maxmargin.solvers.proximal_newton import ProximalNewton
from maxmargin.solvers.ramp import RampSolution, solve_ramp
from maxmargin.solvers.registry import SOLVERS, solver_from_name
from maxmargin.solvers.smo import SMO
from maxmargin.solvers.subgradient import Subgradient

__all__ = [
    "Auto",
    "Budget",
    "Clock",
    "ConstraintGeneration",
    "DualCD",
    "Event",
    "InteriorPoint",
    "LinearProgram",
    "Pegasos",
    "PrimalCD",
    "ProximalNewton",
    "Observer",
    "Progress",
    "RampSolution",
    "SMO",
    "SOLVERS",
    "Solver",
    "Subgradient",
    "solve",
    "solve_ramp",
    "solve_ramp_exactly",
    "solver_from_name",
]
