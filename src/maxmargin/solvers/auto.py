"""The choice of a solver, with its reason."""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

from maxmargin.core.losses import Hinge
from maxmargin.core.penalties import L1
from maxmargin.core.problem import Problem
from maxmargin.solvers.active_set import ActiveSet
from maxmargin.solvers.base import Solver
from maxmargin.solvers.hard_margin.constraint_generation import ConstraintGeneration
from maxmargin.solvers.interior.interior_point import InteriorPoint
from maxmargin.solvers.l1.linear_program import LinearProgram
from maxmargin.solvers.l1.primal_cd import PrimalCD
from maxmargin.solvers.linear.dual_cd import DualCD
from maxmargin.solvers.linear.normal_equations import MOST_FACTORED
from maxmargin.solvers.linear.proximal_newton import ProximalNewton
from maxmargin.solvers.smo.smo import SMO

FEW_SAMPLES = 300
"""Wide data with at most so many samples are solved through their Gram matrix."""

FEW_FEATURES = 1000
"""With at most so many features, and four times as many samples, Newton steps in the weights are the cheaper ones."""


ROOMY, NEWTON_PRICE = 2, 30
"""Samples for each feature from which Newton steps in the weights end better than sweeps do, and their price in sweeps."""

SQUARE_PRICE = 0.25
"""The price of all samples' kernel square and of its solution, in sweeps for each sample: a row of it is about half a sweep, and
rows are symmetric (0.9 to 1.6 s beside 1.3 ms a sweep for 4143 samples of 200 words)."""

NEWTON_STEPS, FEW_ROUNDS, ROUND_WORK = 300, 100, 6e7
"""The price of active sets, and the least one of the interior point, in Newton steps; the interior point's price in rounds of
SMO: so many, or n³ over this (20 factors of n³/3 operations, ten times as fast as those of pairs, beside the 4e7 operations
of a round)."""

STEP_SECONDS, PASS_SECONDS = 3e-4, 4e-10
"""Seconds of a Newton step: at least, and for each stored value (a9a, covtype, mnist); so that its price does not depend on the
machine's pace, and a fit repeats itself."""

FEW_ROWS = 300
"""With at most so many samples the linear programs of the L1 penalty need nobody to tell which samples matter."""


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

    seed: int = 0
    n_threads: int = 1
    shrinking: bool = True

    def choose(self, problem: Problem) -> tuple[Solver, str]:
        """The solver and the reason; the solver may still refuse, and then its words stand."""
        n, d = len(problem.present), problem.X.shape[1]
        if problem.is_hard:
            return (
                ConstraintGeneration(),
                f"of {n} samples few touch a hard margin, so only those are looked at closely",
            )
        if problem.groups is not None:
            return InteriorPoint(), f"{n} samples in groups: their sums are equations"
        if isinstance(problem.penalty, L1):
            if isinstance(problem.loss, Hinge) and n <= FEW_ROWS:
                return (
                    LinearProgram(),
                    f"L1 and the hinge on {n} samples: a linear program, {d} features as they are needed",
                )
            return self._with_settings(PrimalCD), f"L1 on {n} samples with {d} features: few of them get a weight"
        if not problem.is_linear:
            reason = f"{n} samples with a kernel: kernel rows only where they are needed"
            return SMO(n_threads=self.n_threads, shrinking=self.shrinking), reason
        if d <= FEW_FEATURES and n >= 4 * d:
            return self._with_settings(ProximalNewton), f"{n} samples but only {d} features: d × d equations"
        if n <= FEW_SAMPLES:
            return InteriorPoint(), f"only {n} samples: n × n equations, to high accuracy"
        return self._with_settings(DualCD), f"{n} samples with {d} features: one coordinate at a time"

    def _with_settings(self, solver: type[Solver]) -> Solver:
        return with_settings(solver, self.seed, self.n_threads)


class Offer(NamedTuple):
    """A solver that could go on, and its price in rounds of the present one; infinite where it is not for those who crawl."""

    solver: Solver
    price: float


def offers(problem: Problem, present: Solver) -> list[Offer]:
    """Who could go on where a solver crawls, stalls or ends, the best first; each may still refuse.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(4), np.array([-1.0, -1.0, 1.0, 1.0]), cost=np.ones(4))
    >>> [offer.solver.name for offer in offers(problem, DualCD())]
    ['ActiveSet', 'ProximalNewton', 'InteriorPoint', 'SMO', 'DualCD']
    """
    n, d = len(problem.present), problem.X.shape[1]
    seed, n_threads = getattr(present, "seed", 0), getattr(present, "n_threads", 1)
    price = math.inf
    if isinstance(present, SMO):
        price = max(FEW_ROUNDS, n**3 / ROUND_WORK)
    elif isinstance(present, ProximalNewton):
        step = max(STEP_SECONDS, PASS_SECONDS * float(problem.entries.sum()))
        price = max(NEWTON_STEPS, InteriorPoint.seconds(problem) / step)
    interior_point = Offer(InteriorPoint(), price)
    if problem.is_hard:
        return [Offer(ConstraintGeneration(), math.inf), interior_point]
    if isinstance(problem.penalty, L1):
        return [Offer(LinearProgram(), 0.0), Offer(PrimalCD(seed), math.inf)]
    precise = Offer(ActiveSet(), NEWTON_STEPS)
    smo = Offer(SMO(n_threads=n_threads), SQUARE_PRICE * n if isinstance(present, DualCD) else math.inf)
    if not problem.is_linear:
        return [precise, smo, interior_point]
    newton = Offer(ProximalNewton(seed, n_threads), NEWTON_PRICE if n >= ROOMY * d else math.inf)
    sweeps = Offer(DualCD(seed, n_threads), math.inf)
    if n >= ROOMY * d or d <= MOST_FACTORED:
        return [precise, newton, interior_point, smo, sweeps]
    return [precise, smo, interior_point, sweeps, newton]


def with_settings(solver: type[Solver], seed: int, n_threads: int) -> Solver:
    """A solver with the seed and the threads, if it has any use for them."""
    known = {field.name for field in fields(solver)}  # type: ignore[arg-type]
    return solver(**{name: value for name, value in (("seed", seed), ("n_threads", n_threads)) if name in known})
