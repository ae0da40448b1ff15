"""The solvers there are, and the choice of one, with its reason.

A new solver is a file and a line in `SOLVERS`: tests, command line and benchmarks pick it up.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from maxmargin.core import L1, Hinge, Problem
from maxmargin.core.joint import JointProblem
from maxmargin.errors import InvalidInputError
from maxmargin.solvers.active_set import ActiveSet
from maxmargin.solvers.base import DRIVER, Solver
from maxmargin.solvers.hard_margin.constraint_generation import ConstraintGeneration
from maxmargin.solvers.interior.interior_point import InteriorPoint
from maxmargin.solvers.interior.joint_interior_point import JointInteriorPoint
from maxmargin.solvers.l1.linear_program import LinearProgram
from maxmargin.solvers.l1.primal_cd import PrimalCD
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear.dual_cd import DualCD
from maxmargin.solvers.linear.proximal_newton import ProximalNewton
from maxmargin.solvers.linear.sequential_dual import SequentialDual
from maxmargin.solvers.refine import REFINE
from maxmargin.solvers.smo.smo import SMO
from maxmargin.solvers.stochastic.pegasos import Pegasos, Subgradient

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


@dataclass(frozen=True)
class AutoTuning:
    """Sizes at which one solver is better than another, and what the others cost in rounds of the present one."""

    few_samples: int = 300
    """Samples up to which wide data are solved through their Gram matrix, and the L1 penalty by one linear program.
    Chosen by hand; no benchmark on record."""

    few_features: int = 1000
    """Features up to which Newton steps in the weights are the cheaper ones, if there are four times as many samples. Chosen by
    hand; no benchmark on record."""

    roomy: int = 2
    """Samples for each feature from which Newton steps in the weights end better than sweeps do. Chosen by hand: no benchmark is
    on record."""

    newton_price: float = 30.0
    """Sweeps that Newton steps in the weights take as long as. Chosen by hand; no benchmark on record."""

    square_price: float = 0.25
    """Sweeps for each sample that the kernel square of all samples and its solution take as long as: a row of it is about half a
    sweep, and rows are symmetric (0.9 to 1.6 s beside 1.3 ms a sweep for the 4143 samples of farm_ads)."""

    joint_work: float = 1e7
    """Samples times the square of the weights of all classes up to which their equations are solved at once: 20 steps of 1 ms."""

    joint_price: float = 0.3
    """Sweeps, for each k² (d + 1), that Newton steps in the weights of k classes take as long as: 20 products of so many numbers
    for each sample, ten times as fast as sweeps."""

    round_work: float = 6e7
    """n³ of an interior point that takes as long as a round of SMO: 20 factors of n³/3 operations, ten times as fast as those of
    pairs, beside the 4e7 operations of a round."""


@dataclass(frozen=True)
class Auto:
    """Chooses the solver that suits the problem; `choose` says which and why.

    Parameters
    ----------
    seed, n_threads, shrinking
        Handed on to the solver that is chosen, if it has any use for them.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import Auto
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    >>> Auto().choose(Problem(X, y, cost=np.full(2, np.inf)))
    (ConstraintGeneration(), 'of 2 samples few touch a hard margin, so only those are looked at closely')
    """

    seed: int = 0
    n_threads: int = 1
    shrinking: bool = True
    tuning: ClassVar[AutoTuning] = AutoTuning()

    def choose(self, problem: Problem | JointProblem) -> tuple[Solver, str]:
        """The solver and the reason; the solver may still refuse, and then its words stand."""
        if isinstance(problem, JointProblem):
            k, size = problem.n_classes, problem.n_classes * (problem.X.shape[1] + 1)
            if JointInteriorPoint().fits(problem) and problem.n * size**2 <= self.tuning.joint_work:
                return JointInteriorPoint(), f"{k} classes in one problem: equations in {size} weights"
            return SequentialDual(self.seed), f"{k} classes in one problem: one sample at a time"
        n, d = len(problem.present), problem.X.shape[1]
        if problem.is_hard:
            reason = f"of {n} samples few touch a hard margin, so only those are looked at closely"
            return ConstraintGeneration(), reason
        if problem.groups is not None:
            if problem.is_linear and InteriorPoint().accepts(problem) is None:
                return InteriorPoint(), f"{n} samples in groups: their sums are equations"
            return SMO(n_threads=self.n_threads, shrinking=self.shrinking), f"{n} samples in groups: pairs within each"
        if isinstance(problem.penalty, L1):
            if isinstance(problem.loss, Hinge) and n <= self.tuning.few_samples:
                reason = f"L1 and the hinge on {n} samples: a linear program, {d} features as they are needed"
                return LinearProgram(), reason
            return PrimalCD(self.seed), f"L1 on {n} samples with {d} features: few of them get a weight"
        if not problem.is_linear:
            reason = f"{n * problem.period // problem.n} samples with a kernel: kernel rows only where they are needed"
            return SMO(n_threads=self.n_threads, shrinking=self.shrinking), reason
        is_narrow = d <= self.tuning.few_features and n >= 2 * self.tuning.roomy * d
        if is_narrow and ProximalNewton().accepts(problem) is None:
            return ProximalNewton(self.seed, self.n_threads), f"{n} samples but only {d} features: d × d equations"
        if n <= self.tuning.few_samples:
            return InteriorPoint(), f"only {n} samples: n × n equations, to high accuracy"
        return DualCD(self.seed, self.n_threads), f"{n} samples with {d} features: one coordinate at a time"


class Offer(NamedTuple):
    """A solver that could go on, and its price in rounds of the present one: infinite if it waits until that has ended."""

    solver: Solver
    price: float


def offers(problem: Problem | JointProblem, present: Solver) -> list[Offer]:
    """Who could go on where a solver crawls, stalls or ends, the best first; each may still refuse.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(4), np.array([-1.0, -1.0, 1.0, 1.0]), cost=np.ones(4))
    >>> [offer.solver.name for offer in offers(problem, DualCD())]
    ['ActiveSet', 'ProximalNewton', 'InteriorPoint', 'SMO', 'DualCD']
    """
    if isinstance(problem, JointProblem):
        price = Auto.tuning.joint_price * problem.n_classes**2 * (problem.X.shape[1] + 1)
        sweeping = SequentialDual(getattr(present, "seed", 0))
        return [Offer(JointInteriorPoint(), max(price, DRIVER.window)), Offer(sweeping, math.inf)]
    n, d, tuning = len(problem.present), problem.X.shape[1], Auto.tuning
    seed, n_threads = getattr(present, "seed", 0), getattr(present, "n_threads", 1)
    price = math.inf
    if isinstance(present, SMO):
        price = max(DRIVER.window, n**3 / tuning.round_work)
    elif isinstance(present, ProximalNewton):
        # both take longer with more values, but the interior point at least so long
        price = DRIVER.window * max(1.0, float(problem.entries.sum()) / REFINE.small)
    interior_point, precise = Offer(InteriorPoint(), price), Offer(ActiveSet(), DRIVER.window)
    if problem.is_hard:
        return [precise, Offer(ConstraintGeneration(), math.inf), interior_point]
    if isinstance(problem.penalty, L1):
        return [Offer(LinearProgram(), math.inf), Offer(PrimalCD(seed), math.inf)]
    smo = Offer(SMO(n_threads=n_threads), tuning.square_price * n if isinstance(present, DualCD) else math.inf)
    if not problem.is_linear:
        return [precise, smo, interior_point]
    newton = Offer(ProximalNewton(seed, n_threads), tuning.newton_price if n >= tuning.roomy * d else math.inf)
    sweeps = Offer(DualCD(seed, n_threads), math.inf)
    if n >= tuning.roomy * d or d <= equations.TUNING.factored:
        return [precise, newton, interior_point, smo, sweeps]
    return [precise, smo, interior_point, sweeps, newton]


def solver_from_name(solver: str | Solver | Auto, *, seed: int = 0, n_threads: int = 1) -> Solver | Auto:
    """A solver by its name in the registry, "auto", or a `Solver` object as it is.

    Parameters
    ----------
    solver : str, Solver or Auto
    seed, n_threads : int
        For a solver that is found by its name, if it has any use for them.

    Examples
    --------
    >>> from maxmargin.solvers import solver_from_name
    >>> solver_from_name("interior_point")
    InteriorPoint(form='auto')
    """
    if isinstance(solver, Solver | Auto):
        return solver
    if isinstance(solver, str) and solver == "auto":
        return Auto(seed, n_threads)
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise InvalidInputError(f"solver must be 'auto', one of {sorted(SOLVERS)}, or a Solver object, got {solver!r}.")
    known = {field.name for field in fields(SOLVERS[solver])}  # type: ignore[arg-type]
    settings = {"seed": seed, "n_threads": n_threads}
    return SOLVERS[solver](**{name: value for name, value in settings.items() if name in known})
