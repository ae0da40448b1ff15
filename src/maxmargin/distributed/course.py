"""The course of one binary problem: what is known of it, when it ends, and how it asks the blocks.

A course runs in a thread of its own, so that a method is written as on one machine: `ask` waits for the round that answers.
`Stop` is raised in a course whose time is over; it then has its last weights judged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from maxmargin.core import Certificate, Solution, Status
from maxmargin.core.losses import Hinge
from maxmargin.core.solution import TracePoint
from maxmargin.distributed.certificate import Candidates, judge
from maxmargin.distributed.partition import Survey
from maxmargin.distributed.workers.block import Plan, Site, Sums
from maxmargin.solvers.base import DRIVER, Clock, Event
from maxmargin.typing import Floats


class Stop(Exception):  # noqa: N818
    """Raised in a course that shall end with what it has, for the reason that its status tells."""


@dataclass(frozen=True)
class Task:
    """A binary problem without its samples: what the driver knows of it."""

    plan: Plan
    facts: Survey
    positive: int
    n_blocks: int
    tol: float

    @property
    def costs(self) -> tuple[float, float]:
        """The costs of the positives, and of the negatives."""
        cost = self.plan.cost * self.facts.totals
        return float(cost[self.positive]), float(cost.sum() - cost[self.positive])

    @property
    def mean_cost(self) -> float:
        """The mean over the samples that count."""
        return sum(self.costs) / self.facts.n_present

    def first_bias(self) -> float:
        """The best free bias where all scores are zero."""
        plus, minus = self.costs
        if not self.plan.bias.is_free:
            return 0.0
        return float(np.sign(plus - minus)) if isinstance(self.plan.loss, Hinge) else (plus - minus) / (plus + minus)


def no_alpha(site: Site) -> Floats:
    """α = 0."""
    return np.zeros(len(site.y))


class Course:
    """The best model of one problem so far, and the road there."""

    def __init__(self, task: Task, clock: Clock) -> None:
        self.task, self.clock = task, clock
        self.said: SimpleQueue[Any] = SimpleQueue()  # commands, and at the end a solution or an error
        self.answers: SimpleQueue[Any] = SimpleQueue()  # sums, or an exception to raise
        self.method: Any = None  # what is at work: it has a gap, about, and candidates
        self.gaps = [np.inf]  # the best estimate after each step
        self.fresh: Certificate | None = None  # a certificate since the last look
        self.best: tuple[Floats, float, Certificate] | None = None
        self.trace: list[TracePoint] = []
        self.route: list[str] = []
        self.n_lost = 0  # rounds in which a block had lost its dual variables

    def begin(self, method: Callable[["Course"], Status], why: str) -> None:
        """Run a method to its end, or to the moment when it is stopped, in another thread."""

        def work() -> None:
            try:
                self.said.put(self._until_done(method, why))
            except BaseException as error:
                self.said.put(error)

        Thread(target=work, name="maxmargin-course", daemon=True).start()

    def ask(self, *command: Any) -> Sums:
        """The sums over all blocks."""
        self.said.put(command)
        answer: Any = self.answers.get()
        if isinstance(answer, BaseException):
            raise answer
        self.n_lost += answer["lost"] > 0
        return answer  # type: ignore[no-any-return]

    def judge(self, candidates: Candidates | None = None) -> bool:
        """Certify what the method has, unless something else is given; True where the tolerance is met."""
        candidates = self.method.candidates() if candidates is None else candidates
        b, proof = judge(self.ask, candidates, self.task.plan.bias, self.task.tol)
        self.fresh, clock = proof, self.clock
        self.trace.append(TracePoint(clock.seconds, clock.rounds, proof.primal, proof.dual, proof.relative_gap))
        if proof.relative_gap < self.best_gap:
            self.best = (candidates.w, b, proof)
        return proof.relative_gap <= self.task.tol

    @property
    def best_gap(self) -> float:
        """The smallest certified relative gap so far."""
        return np.inf if self.best is None else self.best[2].relative_gap

    def is_stalled(self, gap: float) -> bool:
        """Whether the estimated gap has not fallen by a tenth in many steps, this one included."""
        self.gaps.append(min(gap, self.gaps[-1]))
        recent = max(DRIVER.window, len(self.gaps) // 2)
        return len(self.gaps) > recent and self.gaps[-1] > DRIVER.tenth * self.gaps[-1 - recent]

    def ending(self) -> Status:
        """How a method that makes no more progress has ended."""
        self.judge()
        return Status.ALMOST if self.best_gap <= 10 * self.task.tol else Status.UNREACHED

    def event(self) -> Event:
        """What observers are told."""
        proof, self.fresh = self.fresh, None
        estimate = np.inf if self.method is None else self.method.gap
        return Event(self.clock.seconds, self.clock.rounds, estimate if proof is None else proof.relative_gap, proof)

    def _until_done(self, method: Callable[["Course"], Status], why: str) -> Solution:
        """The last word is a certificate."""
        try:
            status = method(self)
        except Stop as stop:
            (status,) = stop.args
            if self.method is not None:
                self.judge()
        if self.best_gap > 1.0:  # w = 0 is better than that, or nothing was judged yet
            biases = np.array([self.task.first_bias()])
            self.judge(Candidates(np.zeros(self.task.plan.n_features), biases, (no_alpha,), np.zeros(2)))
        assert self.best is not None
        w, b, certificate = self.best
        return Solution(
            w=w,
            b=b,
            beta=np.empty(0),
            status=Status.SOLVED if certificate.relative_gap <= self.task.tol else status,
            n_iter=self.clock.rounds,
            solver=f"{', then '.join(self.route)}: {why}",
            trace=tuple(self.trace),
            certificate=certificate,
        )
