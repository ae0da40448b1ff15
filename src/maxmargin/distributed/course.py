"""The courses of all binary problems: what is known of each, when it ends, and the rounds in which they ask the blocks.

A course runs in a thread of its own, so that a method is written as on one machine: `ask` waits for the round that answers, and
there is one round for all courses. `Stop` is raised in a course whose time is over; it then has its last weights judged. Ctrl-C
is heard by the thread that waits for all of them, so that no round is lost half-way.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock
from typing import Any

import numpy as np

from maxmargin.core import Certificate, Solution, Status, TracePoint
from maxmargin.distributed.certificate import Candidates, judge
from maxmargin.distributed.inputs import Survey
from maxmargin.distributed.workers.block import Command, Crew, Plan, Site, Sums
from maxmargin.solvers.base import DRIVER, Clock, Event, Observer
from maxmargin.typing import Floats


class Stop(Exception):  # noqa: N818
    """Raised in a course that has to end with what it has."""


class Rounds:
    """The rounds of all courses: each begins as soon as all courses wait for it, in the thread of the last one."""

    def __init__(self, crew: Crew, clock: Clock, n_courses: int) -> None:
        self.crew, self.clock, self.n_courses = crew, clock, n_courses
        self.status: Status | None = None  # that all courses have to end with, at once
        self._lock = Lock()
        self._pending: dict[int, tuple[Command, Future[Sums]]] = {}

    def ask(self, k: int, command: Command) -> Sums:
        """What the blocks answer to course k."""
        answer = Future[Sums]()
        with self._lock:
            self._pending[k] = command, answer
            self._begin()
        return answer.result()

    def leave(self) -> None:
        """A course has ended: the others need not wait for it."""
        with self._lock:
            self.n_courses -= 1
            self._begin()

    def _begin(self) -> None:
        if not self._pending or len(self._pending) < self.n_courses:
            return
        pending, self._pending = sorted(self._pending.items()), {}
        try:
            sums = self.crew.ask({k: command for k, (command, _) in pending})
        except BaseException as error:
            for _, (_, answer) in pending:
                answer.set_exception(error)
            return
        self.clock.rounds += 1
        for k, (_, answer) in pending:
            answer.set_result(sums[k])


def no_alpha(site: Site) -> Floats:
    """α = 0."""
    return np.zeros(len(site.y))


class Course:
    """A binary problem without its samples, its best model so far, and the road there."""

    def __init__(self, rounds: Rounds, plan: Plan, facts: Survey, number: int, tol: float, observe: Observer) -> None:
        self.rounds, self.plan, self.facts, self.number, self.tol, self.observe = rounds, plan, facts, number, tol, observe
        self.clock, self.positive = rounds.clock, plan.positives[number]
        cost = plan.cost * facts.totals
        self.costs = float(cost[self.positive]), float(cost.sum() - cost[self.positive])  # of the positives, of the negatives
        self.method: Any = None  # what is at work: it has a gap, and candidates
        self.gaps = [np.inf]  # the best estimate after each step
        self.fresh: Certificate | None = None  # a certificate since the last look
        self.best: tuple[Floats, float, Certificate] | None = None
        self.trace: list[TracePoint] = []
        self.route: list[str] = []
        self.n_lost = 0  # rounds in which a block had lost its dual variables
        self.status: Status | None = None  # why it ended

    def first_bias(self) -> float:
        """A good free bias where all scores are zero."""
        plus, minus = self.costs
        return (plus - minus) / (plus + minus) if self.plan.bias.is_free else 0.0

    def ask(self, *command: Any) -> Sums:
        """The sums over all blocks; the observer looks before, and whatever ends the course does so now."""
        status = Status.STOPPED if self.look() else self.rounds.status or self.clock.spent()
        if status is not None and self.status is None:
            self.status = status
            raise Stop
        sums = self.rounds.ask(self.number, command)
        self.n_lost += sums["lost"] > 0
        return sums

    def look(self) -> bool:
        """Tell the observer what is new; whether it asks to stop."""
        proof, self.fresh = self.fresh, None
        estimate = np.inf if self.method is None else self.method.gap
        event = Event(self.clock.seconds, self.clock.rounds, estimate if proof is None else proof.relative_gap, proof)
        return self.observe(event) is True

    def judge(self, candidates: Candidates | None = None) -> bool:
        """Certify what the method has, unless something else is given; True where the tolerance is met."""
        candidates = self.method.candidates() if candidates is None else candidates
        b, proof = judge(self.ask, candidates, self.plan.bias, self.tol)
        self.fresh, clock = proof, self.clock
        self.trace.append(TracePoint(clock.seconds, clock.rounds, proof.primal, proof.dual, proof.relative_gap))
        if proof.relative_gap < self.best_gap:
            self.best = (candidates.w, b, proof)
        return proof.relative_gap <= self.tol

    @property
    def best_gap(self) -> float:
        """The smallest certified relative gap so far."""
        return np.inf if self.best is None else self.best[2].relative_gap

    def is_stalled(self, gap: float) -> bool:
        """Whether the estimated gap has not fallen by a tenth in many steps, this one included."""
        self.gaps.append(min(gap, self.gaps[-1]))
        recent = max(DRIVER.window, len(self.gaps) // 2)
        return len(self.gaps) > recent and self.gaps[-1] > DRIVER.tenth * self.gaps[-1 - recent]

    def until_done(self, method: Callable[["Course"], None], why: str) -> Solution:
        """Run a method until it has ended or is stopped, certify what it found, and return that."""
        try:
            with suppress(Stop):
                method(self)
            self.status = self.status or Status.UNREACHED
            if self.best_gap > self.tol and self.method is not None:
                self.judge()
            if self.best_gap > 1.0:  # w = 0 is better than that, or nothing was judged yet
                biases = np.array([self.first_bias()])
                self.judge(Candidates(np.zeros(self.plan.n_features), biases, (no_alpha,), np.zeros(2)))
            self.look()
        finally:
            self.rounds.leave()
        assert self.best is not None
        w, b, certificate = self.best
        if self.status is Status.UNREACHED and self.best_gap <= 10 * self.tol:
            self.status = Status.ALMOST
        return Solution(
            w=w,
            b=b,
            beta=np.empty(0),
            status=Status.SOLVED if self.best_gap <= self.tol else self.status,
            n_iter=self.clock.rounds,
            solver=f"{', then '.join(self.route)}: {why}",
            trace=tuple(self.trace),
            certificate=certificate,
        )
