"""The perceptron: find w with y_j F_j > 0 for all samples, one mistake at a time.

    w ← 0;  for each sample j in turn:  if y_j⟨w, φ̃_j⟩ ≤ 0 then w ← w + y_j φ̃_j;   until an epoch makes no mistake

(Rosenblatt, 1958). φ̃_j has a constant feature behind it where there is a bias. On linear problems w is kept, with kernels the
number of mistakes at each sample: the updates are the same. At most (ρ/γ)² of them are made, ρ = max‖φ̃_j‖ and γ the largest
margin min_j y_j⟨u, φ̃_j⟩ of a unit vector u. The averaged and the voted form are those of Freund & Schapire (1999).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from maxmargin.core import Problem
from maxmargin.solvers.base import Clock, deferred_interrupt
from maxmargin.solvers.stochastic.sample_order import Visits
from maxmargin.solvers.stochastic.samples import Samples
from maxmargin.typing import Floats, Indices


@dataclass
class Perceptron:
    """A perceptron on its way: w (or, with a kernel, coefficients), and every mistake so far.

    `problem` is the hard margin whose constraints it tries to meet: infinite costs, no bias or a penalised one. Costs
    O(non-zeros) an epoch; with a kernel n values a mistake, and 256 a visit where n is large.

    Examples
    --------
    >>> from maxmargin.core import Bias
    >>> X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    >>> problem = Problem(X, y, np.full(3, np.inf), bias=Bias.none())
    >>> run = Perceptron.start(problem, 2**20, Visits.of(np.arange(3), "given", seed=0))
    >>> run.epoch(), run.epoch(), run.w[:-1], run.sequence
    (2, 0, array([3., 1.]), array([0, 1]))
    """

    problem: Problem
    visits: Visits
    samples: Samples
    w: Floats
    u: Floats
    clock: int = 0
    epochs: int = 0
    mistakes: list[Indices] = field(default_factory=list)
    times: list[Indices] = field(default_factory=list)
    last_mistakes: int = -1

    @classmethod
    def start(cls, problem: Problem, max_bytes: int, visits: Visits) -> "Perceptron":
        """w = 0."""
        samples = Samples.of(problem, max_bytes)
        return cls(problem, visits, samples, *np.zeros((2, samples.size)))

    @property
    def is_clean(self) -> bool:
        """Whether the last epoch made no mistake: then w separates the samples."""
        return self.last_mistakes == 0

    @property
    def sequence(self) -> Indices:
        """The sample of each mistake, in order."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self.mistakes])

    def epoch(self, is_over: Callable[[], bool] = lambda: False) -> int:
        """Visit all samples once (or until `is_over` says so), and count the mistakes."""
        count = 0
        with deferred_interrupt() as was_interrupted:
            for visits in self.samples.cut(self.visits.epoch()):
                count += self.visit(visits)
                if was_interrupted() or is_over():
                    break
            else:
                self.last_mistakes = count
            self.epochs += 1
        return count

    def visit(self, visits: Indices) -> int:
        """Visit some samples in turn, and count the mistakes."""
        y, scale = self.problem.y, self.problem.bias.scale
        mistakes, times = visit_samples(self.samples, y, scale, visits, self.clock, self.w, self.u)
        self.clock += len(visits)
        self.mistakes.append(mistakes)
        self.times.append(times)
        return len(mistakes)

    def average(self) -> Floats:
        """The mean of w over all visits, each counted after its update."""
        return self.w - self.u / self.clock if self.clock else self.w

    def survivals(self) -> Indices:
        """How many visits each version of w lived through, the one of its making included: one number a mistake."""
        times = np.concatenate([np.empty(0, dtype=np.int64), *self.times, np.array([self.clock + 1], dtype=np.int64)])
        return np.diff(times)


def visit_samples(
    samples: Samples, signed: Floats, scale: float, visits: Indices, clock: int, w: Floats, u: Floats
) -> tuple[Indices, Indices]:
    """Visit samples in turn after `clock` visits, changing w and u in place: the samples of the mistakes, and their times.

    `signed` is y times a sample's weight, which is the length of its update.
    """
    from maxmargin._loops.stochastic.perceptron import visit

    before = w if samples.gram is None else w.copy()
    mistakes, times = np.empty((2, len(visits)), dtype=np.int64)
    count = visit(*samples.arrays(visits), signed, scale, visits, clock, w, u, mistakes, times)
    samples.follow(before, w)
    return mistakes[:count].copy(), times[:count].copy()


def run_perceptron(run: Perceptron, clock: Clock, observe: Callable[[Perceptron], bool] = lambda run: False) -> bool:
    """Epochs until one is clean, the clock or an observer ends it; True: interrupted by Ctrl-C."""
    try:
        while not run.is_clean and clock.spent() is None:
            run.epoch(lambda: clock.seconds_left <= 0)
            clock.rounds += 1
            if observe(run):
                return False
    except KeyboardInterrupt:
        return True
    return clock.budget.stop is not None and clock.budget.stop()
