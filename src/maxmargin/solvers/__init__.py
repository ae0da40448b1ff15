"""Algorithms: final classes, one driver for all of them."""

from maxmargin.solvers.active_set import ActiveSet
from maxmargin.solvers.auto import SOLVERS, Auto, solver_from_name
from maxmargin.solvers.base import Budget, Clock, Event, Observer, Progress, Solver
from maxmargin.solvers.driver import solve
from maxmargin.solvers.hard_margin.constraint_generation import ConstraintGeneration
from maxmargin.solvers.interior.interior_point import InteriorPoint
from maxmargin.solvers.l1.linear_program import LinearProgram
from maxmargin.solvers.l1.primal_cd import PrimalCD
from maxmargin.solvers.linear.dual_cd import DualCD
from maxmargin.solvers.linear.proximal_newton import ProximalNewton
from maxmargin.solvers.ramp.cccp import RampSolution, solve_ramp
from maxmargin.solvers.ramp.exact import solve_ramp_exactly
from maxmargin.solvers.smo.smo import SMO
from maxmargin.solvers.stochastic.pegasos import Pegasos, Subgradient

__all__ = [
    "ActiveSet",
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
