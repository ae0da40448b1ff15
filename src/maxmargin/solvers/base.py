"""What a solver is, what it reports, what it may use, and what counts as progress.

Progress is told by what cannot fall, the best dual value, and by the smallest certified gap (`Pulse`). A solver's own estimate of
the gap may rise, and stand still for long while the dual value climbs: it declares nothing. Its pace merely tells when another
solver is likely to end sooner (`rounds_to_come`).
"""

import math
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, ClassVar, Literal, NamedTuple

from maxmargin._loops.compile_time import Stopwatch
from maxmargin.core import L1, L2, Candidate, Certificate, Loss, Penalty, Problem, Status
from maxmargin.core.joint import JointProblem
from maxmargin.errors import InvalidInputError
from maxmargin.rounding import gamma


@dataclass(frozen=True)
class DriverTuning:
    """When a solver is believed, when it has stalled, and when another one goes on."""

    window: int = 200
    """Rounds of a solver (or half of all its rounds, if that is more) in which the best dual value must rise.
    Chosen by hand; no benchmark on record."""

    tenth: float = 0.9
    """Factor by which a certified gap must fall to count as progress: the weights can get better while the dual value has no
    digits left."""

    slowest: float = 1e-6
    """Share of the missing gap that the dual value must gain to have risen: with less, a million such gains would be needed."""

    finest: float = 1e-12
    """Relative gap that is not worth waiting for: some 9000 unit roundoffs."""

    early: float = 0.4
    """Share of another solver's price that the present one has used before it may be left for being slow. Chosen by hand; no
    benchmark on record."""

    few_samples: int = 2000
    """Samples up to which solvers that ended short of the goal begin anew, each in its turn: it takes seconds at most."""

    pause: float = 1.1
    """After a claim that was not true, the next is checked once the rounds have grown by this factor: a tenth more at most."""

    harmless: float = 1e8
    """Sum of the costs up to which a linear objective cannot leave float64, so that it is not checked: estimators refuse
    |x| > 3e138."""

    worthless: float = 0.5
    """Relative gap from which on a candidate is no start for another solver: w = 0 has a gap of 1 at most."""


DRIVER = DriverTuning()


@dataclass(frozen=True)
class Budget:
    """What a fit may use: rounds of the solver, seconds, bytes of kernel cache; None = no limit.

    Parameters
    ----------
    iterations, seconds, bytes : number or None
        Rounds of the solver; seconds, without those of compiling; what kernel rows may take.
    stop : callable, optional
        Called between rounds: once it returns True the fit ends as if interrupted.

    Examples
    --------
    >>> from maxmargin.solvers import Budget
    >>> Budget(seconds=2.5)
    Budget(iterations=None, seconds=2.5, bytes=1073741824)
    """

    iterations: int | None = None
    seconds: float | None = None
    bytes: int = 2**30
    stop: Callable[[], bool] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("iterations", "seconds", "bytes"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InvalidInputError(f"A budget of {name} must be ≥ 0 or None, got {value!r}.")


class Clock:
    """Counts seconds and rounds against a budget; solvers ask it inside long steps. Compiling is not counted (`Stopwatch`): a
    budget buys the same work the first time as ever after.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._watch = Stopwatch()
        self.rounds = 0

    @property
    def seconds(self) -> float:
        """Seconds since the start, without those of compiling."""
        return self._watch.seconds

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

    A `candidate` is judged and kept whatever the gap is. `is_final`: no further step changes anything. `is_infeasible`: no point
    satisfies the constraints. `dual` is the value of the solver's own feasible dual point, where it knows one: while that rises
    nobody asks whether it stalls. `rounds` are those of this step. `to_come`, the rounds that the tolerance still asks for at
    their present pace, decides nothing but who goes on.
    """

    gap: float
    rounds: int = 1
    is_final: bool = False
    is_infeasible: bool = False
    candidate: Candidate | None = None
    dual: float = -math.inf
    to_come: float = 0.0

    @classmethod
    def without_claim(cls, gap: float, tol: float, rounds: int = 1, dual: float = -math.inf, to_come: float = 0.0) -> "Progress":
        """An estimate for those who watch, which does not ask for the check however small it is."""
        return cls(max(gap, math.nextafter(tol, math.inf)), rounds, dual=dual, to_come=to_come)


class Event(NamedTuple):
    """What observers see after each step; the numbers are certified where `certificate` is present.

    `seconds` and `iteration` (rounds of the solver) count from the begin of the fit, without compiling. `relative_gap` is
    certified, or else the solver's own estimate.
    """

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

    losses: ClassVar[tuple[type[Loss], ...]] = ()
    """Those that it solves; none are named where it solves all that have a quadratic dual."""

    penalty: ClassVar[type[Penalty]] = L2
    margin: ClassVar[Literal["soft", "hard", "any"]] = "any"
    is_linear: ClassVar[bool] = False
    """Whether it solves linear problems only."""

    needs_psd: ClassVar[bool] = False
    takes_targets: ClassVar[bool] = False
    """Whether it solves problems with targets other than 1, or a total other than 0."""

    is_joint: ClassVar[bool] = False  # solves problems of several classes at once, and no others
    is_precise: ClassVar[bool] = False
    """Whether it computes in more digits than float64 has: it may go on where rounding has ended the progress of others."""

    leads_on: ClassVar[bool] = False
    """Whether the next solver of the offers is its second half: that begins at its end, whatever the gap there."""

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
        return DRIVER.window

    def accepts(self, problem: Problem) -> str | None:
        """None where the problem can be solved, otherwise the reason why not and what to use instead."""
        loss, penalty, kernel = problem.loss, problem.penalty, problem.kernel
        if self.is_linear and not problem.is_linear:
            return f"{self.name} solves linear problems, got kernel {kernel!r}. Use InteriorPoint()."
        takes_loss = isinstance(loss, self.losses) if self.losses else loss.has_quadratic_dual
        if not takes_loss or not isinstance(penalty, self.penalty):
            losses = " and ".join(kind.__name__ for kind in self.losses)
            losses = losses or "losses with a quadratic dual, as the hinge and the squared hinge have,"
            return f"{self.name} solves {losses} with the {self.penalty.__name__} penalty, got {loss!r} and {penalty!r}."
        if self.needs_psd and kernel.psd is False:
            return f"{self.name} needs a positive semi-definite kernel, got {kernel!r}. Use an RBF kernel."
        if self.margin == "hard" and not problem.is_hard:
            return f"{self.name} solves the hard margin (infinite costs). Use InteriorPoint() for finite ones."
        if self.margin == "soft" and problem.is_hard:
            instead = "a large one" if isinstance(penalty, L1) else "ConstraintGeneration() for the hard margin"
            return f"{self.name} needs finite costs. Use {instead}."
        return None

    @abstractmethod
    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> Any:
        """A fresh state, perhaps near a warm start."""

    @abstractmethod
    def step(self, state: Any, tol: float, clock: Clock) -> Progress:
        """Improve the state by a bounded amount of work."""

    @abstractmethod
    def finish(self, state: Any, tol: float) -> Candidate:
        """The best candidate that the state holds."""

    def refuses(self, problem: Problem | JointProblem) -> str | None:
        """Why it does not solve a problem, or None: what `accepts` says, for solvers that know targets."""
        if isinstance(problem, JointProblem) != self.is_joint:
            verb, instead = ("solves", "") if self.is_joint else ("does not solve", " Use Auto().")
            return f"{self.name} {verb} several classes in one problem, those of Crammer and Singer.{instead}"
        if isinstance(problem, JointProblem):
            return None
        if not problem.is_classification and not self.takes_targets:
            return f"{self.name} solves classification, got targets or a total. Use SMO() or InteriorPoint()."
        return self.accepts(problem)


def rounds_to_come(missing: Sequence[float], goal: float, pace: int) -> float:
    """How many more rounds lead from the last value to the goal, if all gain what the last few (`pace`) did.

    Examples
    --------
    >>> rounds_to_come([1.0, 0.1, 0.01], 1e-4, pace=1), rounds_to_come([1.0, 0.5, 0.5], 1e-4, pace=1)
    (2.0, inf)
    """
    if len(missing) <= pace or not missing[-1] > goal:
        return 0.0
    now, then = missing[-1], missing[-1 - pace]
    return math.log(now / goal) / math.log(then / now) * pace if then > now and goal > 0.0 else math.inf


@dataclass
class Pulse:
    """The best certified dual value and gap, the best dual value that the solver reported itself, and when one last rose.

    `size` is the number of rounded terms in a dual value: samples and features.
    """

    size: int
    dual: float = -math.inf
    gap: float = math.inf
    own: float = -math.inf
    missing: float = math.inf  # the smallest certified gap
    began: int = 0
    rose: int = 0
    proved: int = 0  # when a certificate last rose
    last_end: tuple[float, float] = (-math.inf, math.inf)

    def begin(self, rounds: int) -> None:
        """Another solver begins: what it reports itself is compared with its own reports only."""
        self.own, self.began, self.rose, self.proved = -math.inf, rounds, rounds, rounds

    def certified(self, certificate: Certificate, rounds: int) -> None:
        """Note what a certificate says."""
        dual, gap = certificate.dual, certificate.relative_gap
        self.missing = min(self.missing, certificate.gap)
        if self._is_higher(dual, self.dual) or gap < DRIVER.tenth * self.gap:
            self.dual, self.gap = max(self.dual, dual), min(self.gap, gap)
            self.rose = self.proved = rounds

    def reported(self, dual: float, rounds: int) -> None:
        """Note what the solver says of its own dual point."""
        if self._is_higher(dual, self.own):
            self.own, self.rose = dual, rounds

    def is_missing(self, rounds: int, window: int = DRIVER.window) -> bool:
        """Whether nothing has risen for so long that a certificate has to be asked.

        A solver's own reports count for three quarters of its rounds: a running sum may rise by rounding alone.
        """
        all_rounds = rounds - self.began
        has_paused = rounds - self.rose > max(window, all_rounds // 2)
        return has_paused or rounds - self.proved > max(5 * window, 3 * all_rounds // 4)

    def has_risen_since_the_last_end(self) -> bool:
        """Whether certificates have got better since a solver last ended; one ends now."""
        before, self.last_end = self.last_end, (self.dual, self.gap)
        return before != self.last_end

    def _is_higher(self, dual: float, best: float) -> bool:
        """Whether a dual value is higher by more than its rounding, and by enough to lead anywhere.

        At the optimum Σα ≤ 2P, and ½‖w‖² with what a squared loss takes off ≤ P: all terms together are 3|D| at most.
        """
        rounding = 3.0 * gamma(2 * self.size) * abs(dual)
        slowest = DRIVER.slowest * self.missing if math.isfinite(self.missing) else 0.0
        return bool(dual > best + max(rounding, slowest))


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Within the block Ctrl-C only makes the yielded function return True; KeyboardInterrupt is raised when the block ends.

    Where Python would not raise KeyboardInterrupt here (another thread, a handler of the user's), nothing is changed.

    Examples
    --------
    >>> with deferred_interrupt() as was_interrupted:
    ...     was_interrupted()
    False
    """
    heard: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        heard.append(number)

    is_main = threading.current_thread() is threading.main_thread()
    applies = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if applies:
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(heard)
    finally:
        if applies:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if heard:
        raise KeyboardInterrupt
