"""What a solver is, what it reports, and what it may use."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate.certify import Certificate
from maxmargin.core.problem import Problem
from maxmargin.core.solution import Status
from maxmargin.core.workspace import DEFAULT_BYTES, Workspace
from maxmargin.errors import InvalidInputError
from maxmargin.solvers.stall import WINDOW
from maxmargin.typing import Floats


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

    A `candidate` is judged and kept whatever the gap is. `is_final`: no further step changes anything. `dual` is the value of the
    solver's own feasible dual point, where it knows one: while that rises nobody asks whether it stalls. `to_come`, the rounds
    that the tolerance still asks for at their present pace, decides nothing but who goes on.
    """

    gap: float
    rounds: int = 1
    is_final: bool = False
    is_infeasible: bool = False
    candidate: Candidate | None = None
    dual: float = -math.inf
    to_come: float = 0.0

    @classmethod
    def without_claim(
        cls, gap: float, tol: float, rounds: int = 1, dual: float = -math.inf, to_come: float = 0.0
    ) -> "Progress":
        """An estimate for those who watch, which does not ask for the check however small it is."""
        return cls(max(gap, math.nextafter(tol, math.inf)), rounds, dual=dual, to_come=to_come)


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

    takes_targets: ClassVar[bool] = False
    """Whether it solves problems with targets other than 1, or a total other than 0."""

    is_precise: ClassVar[bool] = False
    """Whether it computes in more digits than float64 has: it may go on where rounding has ended the progress of others."""

    @property
    def name(self) -> str:
        """How the registry and `solver_` call it."""
        return type(self).__name__

    @property
    def accuracy(self) -> float:
        """The smallest relative gap to ask for on any problem it accepts: 0 where only rounding ends the progress."""
        return 0.0

    def window(self, problem: Problem) -> int:
        """Rounds in which the best dual value must rise, or progress has ended."""
        return WINDOW

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

    def refuses(self, problem: Problem) -> str | None:
        """Why it does not solve a problem, or None: what `accepts` says, for solvers that know targets."""
        if not problem.is_classification and not self.takes_targets:
            return f"{self.name} solves classification, got targets or a total. Use SMO() or InteriorPoint()."
        return self.accepts(problem)

    def heed(self, state: Any, scores: Floats) -> None:  # noqa: B027
        """Learn from the float64 scores of the last candidate, which was claimed to be good enough and is not."""
