"""The one driver: `solve` runs any solver under budgets, and ends only on a certified gap."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate import Certificate, certify
from maxmargin.core.problem import Problem
from maxmargin.core.reduce import to_candidate
from maxmargin.core.scores import Scores, scores
from maxmargin.core.solution import Solution, Status, TracePoint
from maxmargin.core.workspace import DEFAULT_BYTES, Workspace
from maxmargin.errors import InvalidInputError, MemoryBudgetError, NotSupportedError
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats

if TYPE_CHECKING:
    from maxmargin.solvers.auto import Auto


@dataclass(frozen=True)
class Budget:
    """What a fit may use: rounds of the solver, seconds, bytes of kernel cache; None = no limit.

    `stop` is asked between rounds: once it answers True the fit ends as if interrupted.

    Examples
    --------
    >>> Budget(seconds=2.5)
    Budget(iterations=None, seconds=2.5, bytes=1073741824)
    """

    iterations: int | None = None
    seconds: float | None = None
    bytes: int = DEFAULT_BYTES
    stop: Callable[[], bool] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("iterations", "seconds", "bytes"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InvalidInputError(f"A budget of {name} must be ≥ 0 or None, got {value!r}.")


class Clock:
    """Counts seconds and rounds against a budget; solvers ask it inside long steps."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.start = time.perf_counter()
        self.rounds = 0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def rounds_left(self) -> float:
        """Rounds that may still be made."""
        return math.inf if self.budget.iterations is None else self.budget.iterations - self.rounds

    @property
    def seconds_left(self) -> float:
        """Seconds that may still be used."""
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.seconds

    def spent(self) -> Status | None:
        """The status of the budget that ran out, if one did."""
        if self.rounds_left <= 0:
            return Status.ITERATION_BUDGET
        if self.budget.stop is not None and self.budget.stop():
            return Status.INTERRUPTED
        return Status.TIME_BUDGET if self.seconds_left <= 0 else None


class Progress(NamedTuple):
    """What one step reports: the solver's own estimate of the relative gap, which merely asks for the check.

    A `candidate` is judged and kept whatever the gap is: a solver that hands the problem over leaves its own behind.
    """

    gap: float
    rounds: int = 1
    is_final: bool = False
    is_infeasible: bool = False
    candidate: Candidate | None = None

    @classmethod
    def without_claim(cls, gap: float, tol: float, rounds: int = 1) -> "Progress":
        """An estimate for those who watch, which does not ask for the check however small it is."""
        return cls(max(gap, math.nextafter(tol, math.inf)), rounds)


class Event(NamedTuple):
    """What observers see after each step; the numbers are certified where `certificate` is present."""

    seconds: float
    iteration: int
    relative_gap: float
    certificate: Certificate | None


Observer = Callable[[Event], object]
"""Called after each step; returning True asks the fit to stop with the best model so far."""


class Solver(ABC):
    """An algorithm with its settings: `init` makes a state, `step` improves it, `finish` reads a candidate off it.

    A solver defines no objective, prints nothing and validates no user input.
    """

    @property
    def name(self) -> str:
        """How the registry and `solver_` call it."""
        return type(self).__name__

    @property
    def accuracy(self) -> float:
        """The smallest relative gap to ask for on any problem it accepts: 0 where only rounding ends the progress."""
        return 0.0

    def route(self, state: Any) -> str:
        """Its name, and those of the solvers that it handed the problem over to."""
        successor = getattr(state, "successor", None)
        return self.name if successor is None else f"{self.name}, then {successor.solver.route(successor.state)}"

    @abstractmethod
    def accepts(self, problem: Problem) -> str | None:
        """None where the problem can be solved, otherwise the reason why not and what to use instead."""

    @abstractmethod
    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> Any:
        """A fresh state, perhaps near a warm start."""

    @abstractmethod
    def step(self, state: Any, tol: float, clock: Clock) -> Progress:
        """Improve the state by a bounded amount of work."""

    @abstractmethod
    def finish(self, state: Any, tol: float) -> Candidate:
        """The best candidate that the state holds."""

    def heed(self, state: Any, scores: Floats) -> None:  # noqa: B027
        """Learn from the float64 scores of the last candidate, which was not good enough; most solvers need not."""


def solve(
    problem: Problem,
    solver: "Solver | Auto | None" = None,
    *,
    tol: float = 1e-3,
    warm: Candidate | None = None,
    observe: Observer | None = None,
    budget: Budget | None = None,
    workspace: Workspace | None = None,
) -> Solution:
    """Train: run a solver until `certify` proves a relative gap ≤ tol, a budget runs out, or progress stalls.

    An interruption (Ctrl-C) does not raise here: the best candidate comes back with `Status.INTERRUPTED`, so that the caller
    can keep it before raising.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), tol=1e-9)
    >>> solution.status.name, np.round(solution.w, 6), round(solution.b, 6)
    ('SOLVED', array([2.]), -3.0)
    """
    from maxmargin.solvers.auto import Auto

    solver = Auto() if solver is None else solver
    reason = "asked for"
    if isinstance(solver, Auto):
        solver, reason = solver.choose(problem)
    refusal = solver.accepts(problem)
    if refusal is not None:
        raise NotSupportedError(refusal)
    if not tol >= 0:
        raise InvalidInputError(f"tol must be ≥ 0, got {tol!r}.")
    if problem.has_one_class and (problem.is_hard or problem.bias.is_free):
        raise InvalidInputError("Only samples of one class have a positive cost; two classes are needed.")
    budget = Budget() if budget is None else budget
    workspace = workspace if workspace is not None and workspace.fits(problem) else Workspace(problem, budget.bytes)
    run = _Run(problem, solver, tol, observe, Clock(budget))
    with one_blas_thread():
        status = run.until_done(warm, workspace)
        if run.best is None:
            run.judge(to_candidate(problem, np.zeros(problem.n)))
    best = run.best
    assert best is not None
    return Solution(
        w=best.w,
        b=best.b,
        beta=best.beta,
        status=status,
        n_iter=run.clock.rounds,
        solver=f"{solver.route(run.state)}: {reason}",
        trace=tuple(run.trace),
        certificate=run.certificate,
        scores=run.best_scores,
    )


class _Run:
    """One run of a solver: keeps the best candidate that was certified."""

    def __init__(self, problem: Problem, solver: Solver, tol: float, observe: Observer | None, clock: Clock) -> None:
        self.problem, self.solver, self.tol, self.observe, self.clock = problem, solver, tol, observe, clock
        self.best: Candidate | None = None
        self.certificate: Certificate | None = None
        self.trace: list[TracePoint] = []
        self.scores = Scores(np.empty(0))
        self.best_scores: Scores | None = None
        self.state: Any = None

    @property
    def best_gap(self) -> float:
        """The smallest certified relative gap so far."""
        return math.inf if self.certificate is None else self.certificate.relative_gap

    def until_done(self, warm: Candidate | None, workspace: Workspace) -> Status:
        """Step until something ends it, and say what."""
        try:
            self.state = self.solver.init(self.problem, workspace, warm)
            if warm is not None:
                self.judge(warm)
            while True:
                spent = self.clock.spent()
                if spent is not None:
                    return self.last_word(spent)
                progress = self.solver.step(self.state, self.tol, self.clock)
                self.clock.rounds += progress.rounds
                if progress.is_infeasible:
                    self.judge(self.solver.finish(self.state, self.tol))
                    return Status.INFEASIBLE
                certificate = None if progress.candidate is None else self.judge(progress.candidate)
                if progress.gap <= self.tol or progress.is_final:
                    certificate = self.judge(self.solver.finish(self.state, self.tol))
                    if certificate.relative_gap > self.tol:
                        self.solver.heed(self.state, self.scores.values)
                if self.observe is not None and self.observe(self.event(progress, certificate)) is True:
                    return self.last_word(Status.STOPPED)
                if self.best_gap <= self.tol:
                    return Status.SOLVED
                if progress.is_final:
                    return Status.ALMOST if self.best_gap <= 10 * self.tol else Status.STALLED
        except KeyboardInterrupt:
            return self.last_word(Status.INTERRUPTED)
        except MemoryBudgetError:
            status = self.last_word(Status.MEMORY_BUDGET)
            if math.isinf(self.best_gap):  # nothing worth keeping
                raise
            return status

    def last_word(self, status: Status) -> Status:
        """Certify what the state holds now, as nothing more will come."""
        if self.state is not None and self.clock.rounds:
            self.judge(self.solver.finish(self.state, self.tol))
        if self.best_gap > 1.0 and not self.problem.is_hard:  # w = 0 is better than that
            self.judge(to_candidate(self.problem, np.zeros(self.problem.n)))
        return Status.SOLVED if self.best_gap <= self.tol else status

    def judge(self, candidate: Candidate) -> Certificate:
        """Certify a candidate and keep it if it is the best so far."""
        self.scores = scores(self.problem, candidate, getattr(self.solver, "n_threads", 1))
        certificate = certify(self.problem, candidate, self.scores.values)
        if self.best is None or certificate.relative_gap < self.best_gap:
            self.best, self.certificate, self.best_scores = candidate, certificate, self.scores
        self.trace.append(
            TracePoint(
                self.clock.seconds, self.clock.rounds, certificate.primal, certificate.dual, certificate.relative_gap
            )
        )
        return certificate

    def event(self, progress: Progress, certificate: Certificate | None) -> Event:
        """What the observer is told."""
        gap = progress.gap if certificate is None else certificate.relative_gap
        return Event(self.clock.seconds, self.clock.rounds, gap, certificate)
