"""The ramp loss by convex steps, over any solver of the hinge.

    repeat   S ← {j : y_j F_j < 0},    (w, b) ← argmin Ω(w) + Σ_{j ∉ S} c_j [1 − y_j F_j]₊

See `core.ramp` for why R = Ω + Σ c_j min(1, [1 − y_j F_j]₊) cannot rise. It ends where S stays the same: a stationary point,
the optimum of its own last step, which is certified as any hinge problem is. A better one may exist elsewhere; more starts look
for it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Problem, Ramp, Solution, Status, certify
from maxmargin.core.ramp import convex_step, outliers
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.solvers.auto import Auto
from maxmargin.solvers.base import Budget, Clock, Observer, Solver, deferred_interrupt
from maxmargin.solvers.driver import solve

ENDED = (Status.SOLVED, Status.ALMOST, Status.STALLED, Status.UNREACHED)
"""How a convex step may end for the next one to begin; all else ends the fit."""


@dataclass(frozen=True)
class RampSolution(Solution):
    """A stationary point of the ramp's objective; `certificate` is that of its last convex step.

    Attributes
    ----------
    is_outlier : mask (n,)
        The samples that the last step left out.
    objective : float
        R(w, b).
    objectives : tuple of float
        R after each convex step of the start that won; it never rises.
    bound : float
        No point has a smaller R than this: 0 unless it was searched for, by `solve_ramp_exactly`.
    """

    is_outlier: Any = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    objective: float = np.inf
    objectives: tuple[float, ...] = ()
    bound: float = 0.0


def solve_ramp(
    problem: Problem,
    solver: "Solver | Auto | None" = None,
    *,
    tol: float = 1e-3,
    warm: Candidate | None = None,
    observe: Observer | None = None,
    budget: Budget | None = None,
    starts: int = 1,
    seed: int = 0,
) -> RampSolution:
    """Train with the ramp loss: convex steps from the hinge's solution (or from `warm`), and from random parts of the samples.

    Every step is a call of `solve`, begun at the step before. Budgets count over all steps. Cost: some three to ten hinge
    problems a start.

    Parameters
    ----------
    problem : Problem
        Its loss is the ramp.
    solver, tol, observe, budget
        As in `solve`, for each convex step.
    warm : Candidate, optional
        Where the first start begins.
    starts : int
        How many points to descend from; the best end is kept.
    seed : int
        Of the random parts.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core import Problem, Ramp
    >>> from maxmargin.solvers import solve_ramp
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [9.0]]), np.array([-1.0, -1.0, 1.0, 1.0, -1.0])
    >>> solution = solve_ramp(Problem(X, y, np.full(5, 10.0), loss=Ramp()), tol=1e-9, starts=5)
    >>> np.flatnonzero(solution.is_outlier), np.round(solution.w, 6)
    (array([4]), array([1.]))
    """
    if not isinstance(problem.loss, Ramp):
        raise NotSupportedError(f"solve_ramp minimises the ramp loss, got {problem.loss!r}. Use solve().")
    if problem.is_hard:
        raise NotSupportedError("The ramp loss needs finite costs: an outlier costs c, which must be a price that can be paid.")
    if not starts >= 1:
        raise InvalidInputError(f"The number of starts must be at least 1, got {starts!r}.")
    run = _Run(problem, solver, tol, observe, Budget() if budget is None else budget)
    first = np.zeros(problem.n, dtype=bool) if warm is None else outliers(problem, problem.decision(warm.w), warm.b)
    best = run.descend(first, warm)
    for is_outlier in _random_parts(problem, starts - 1, seed):
        if best.status not in ENDED:
            break
        other = run.descend(is_outlier, None)
        if other.objective < best.objective or other.status not in ENDED:
            kept = other if other.objective < best.objective else best
            best = replace(kept, status=other.status if other.status not in ENDED else kept.status)
    return replace(best, n_iter=run.clock.rounds)


def solve_step(step: Problem, solver: "Solver | Auto | None", **settings: Any) -> Solution:
    """Solve a convex step; where its samples are of one class and the bias is free, b alone decides."""
    if not (step.bias.is_free and step.has_one_class):
        return solve(step, solver, **settings)
    label = float(step.y[step.counted][0])
    candidate = Candidate(step.zero(), 2.0 * label, np.zeros(step.n))  # beyond the margin, where nothing rounds
    certificate = certify(step, candidate, tol=settings.get("tol"))
    return Solution(
        candidate.w, candidate.b, candidate.beta, solver="one class is left: b alone decides", certificate=certificate
    )


class _Run:
    """What the starts of one fit share: the budget and those who watch."""

    def __init__(
        self, problem: Problem, solver: "Solver | Auto | None", tol: float, observe: Observer | None, budget: Budget
    ) -> None:
        self.problem, self.solver, self.tol, self.observe, self.clock = problem, solver, tol, observe, Clock(budget)

    def left(self) -> Budget:
        """What is left of the budget."""
        rounds, seconds = max(self.clock.rounds_left, 0), max(self.clock.seconds_left, 0.0)
        return replace(self.clock.budget, iterations=None if math.isinf(rounds) else int(rounds), seconds=seconds)

    def descend(self, is_outlier: Any, warm: Candidate | None) -> RampSolution:
        """Convex steps until S stays the same, R no longer falls, or something ends the fit."""
        best: RampSolution | None = None
        while True:
            if is_outlier[self.problem.present].all():  # then Ω + Σc, which w = 0 beats: begin with nobody left out
                is_outlier = np.zeros(self.problem.n, dtype=bool)
            step = convex_step(self.problem, is_outlier)
            found = solve_step(step, self.solver, tol=self.tol, warm=warm, observe=self.observe, budget=self.left())
            self.clock.rounds += found.n_iter
            try:
                with deferred_interrupt():
                    f = self.problem.decision(found.w)
                    objective = self.problem.primal_from(found.w, found.b, f)
                    now = outliers(self.problem, f, found.b)
            except KeyboardInterrupt:
                found = replace(found, status=Status.INTERRUPTED)
            is_fixed = np.array_equal(now, is_outlier)
            if best is not None and (objective > best.objective or (objective == best.objective and not is_fixed)):
                return replace(best, status=best.status if found.status in ENDED else found.status)
            before = () if best is None else best.objectives
            best = RampSolution(
                **{name: getattr(found, name) for name in Solution.__dataclass_fields__},
                is_outlier=is_outlier,
                objective=objective,
                objectives=(*before, objective),
            )
            if found.status not in ENDED or is_fixed:
                return best
            is_outlier, warm = now, Candidate(found.w, found.b, found.beta)


def _random_parts(problem: Problem, count: int, seed: int) -> Iterator[Any]:
    """Masks that leave out a random share of the samples, from a fifth to all but one of each class."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        is_out = (rng.random(problem.n) < rng.uniform(0.2, 1.0)) & (problem.cost > 0)
        for label in (-1.0, 1.0):
            own = np.flatnonzero((problem.y == label) & (problem.cost > 0))
            is_out[rng.choice(own)] = False
        yield is_out
