"""The iterates of stochastic subgradient descent, and their means, over rows or over a kernel.

    w_t = scale · v_t / (λτ),    τ = t for SGD, t − 1 for Pegasos

v is the sum of the violators that were met (signed, weighted). The mean of the iterates is read off two vectors; see the loops.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.solvers.stochastic.samples import Samples
from maxmargin.typing import Floats, Indices

T, MASS, LOSS, SCALE, SQUARE = range(5)
"""The numbers that a run carries along, by position."""

AVERAGES = (False, True, "tail")


@dataclass(frozen=True)
class Rule:
    """Which algorithm: λ, the offset of τ from t (0 SGD, −1 Pegasos), the batch, the ball to stay in, which mean to keep.

    `average_from`, a mark: no mean of earlier iterates will be asked for.
    """

    lam: float
    offset: int = -1
    batch: int = 1
    radius: float = np.inf
    average: Any = False
    average_from: int = 0


def tail_begins(steps: int) -> int:
    """The last mark but one of so many steps; 0 before there are two.

    Examples
    --------
    >>> tail_begins(1), tail_begins(3), tail_begins(11), tail_begins(12)
    (0, 2, 8, 10)
    """
    before, last, mark = 0, 0, 1
    while mark <= steps:
        before, last, mark = last, mark, next_mark(mark)
    return before


def next_mark(mark: int) -> int:
    """Powers of two, and the three quarters of the way between them.

    Examples
    --------
    >>> next_mark(1), next_mark(2), next_mark(3), next_mark(4), next_mark(7), next_mark(8)
    (2, 3, 4, 5, 8, 10)
    """
    return mark + (1 << max(mark.bit_length() - 3, 0))


def is_main_mark(mark: int) -> bool:
    """Whether it is a power of two, or half way between two of them: dual variables need more draws than a mean of weights.

    Examples
    --------
    >>> [mark for mark in range(1, 17) if is_main_mark(mark)]
    [1, 2, 3, 4, 6, 8, 12, 16]
    """
    return mark & (mark - 1) == 0 or (mark % 3 == 0 and is_main_mark(mark // 3) and (mark // 3) % 3 != 0)


@dataclass
class Iterates:
    """v, its lazy sum u, and what of the mean is settled.

    The steps 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, … are *marks*. The tail begins at the last mark but one: it holds the last
    eighth of all iterates at least, about a third of them at most.
    """

    rule: Rule
    v: Floats
    u: Floats
    numbers: Floats
    settled: Floats
    folded: Floats
    n_settled: int = 0
    mark: int = 1
    last_mark: int = 0

    @classmethod
    def start(cls, rule: Rule, size: int) -> "Iterates":
        """w = 0."""
        numbers = np.array([0.0, 0.0, 0.0, 1.0, 0.0])
        zero = np.zeros(size)
        return cls(rule, zero.copy(), zero.copy(), numbers, zero, zero)

    @classmethod
    def resume(cls, rule: Rule, w: Floats, t: int) -> "Iterates":
        """As if t steps had led to the weights w; means begin here."""
        new = cls.start(rule, len(w))
        new.numbers[T] = t
        new.v[:] = w * rule.lam * max(t + 1 + rule.offset, 0)
        new.numbers[SQUARE] = float(new.v @ new.v)
        new.last_mark = t
        while new.mark <= t:
            new.mark = next_mark(new.mark)
        return new

    @property
    def t(self) -> int:
        """Steps made."""
        return int(self.numbers[T])

    def expect(self, steps: int) -> None:
        """No mean will be asked for before so many more steps: iterates before the tail of all of them need not be summed.

        If it is asked for earlier all the same (time ran out), it is the last iterate.
        """
        if self.rule.average == "tail":  # what was not summed stays so, if fewer steps came than were expected
            begin = max(self.rule.average_from, tail_begins(self.t + steps))
            self.rule = replace(self.rule, average_from=begin)
            if not self.averages:
                self._empty()
                self.settled, self.folded = np.zeros((2, len(self.v)))
                self.n_settled = 0

    def pass_mark(self) -> bool:
        """At a mark, settle the mean so far and begin a new part; True where that was so."""
        if self.t < self.mark:
            return False
        if self.averages:
            part, length = self._part(), self._part_length
            if self.rule.average == "tail":
                self.settled, self.n_settled = part, length
            else:
                self.settled, self.n_settled = self.settled + part, self.n_settled + length
            self._empty()
            self.folded = np.zeros_like(self.v)
        self.last_mark, self.mark = self.t, next_mark(self.mark)
        return True

    def fold(self) -> float:
        """Multiply a small scale into v; what v was multiplied by."""
        from maxmargin._loops.stochastic.pegasos import FINE

        scale = float(self.numbers[SCALE])
        if scale >= FINE:
            return 1.0
        self.folded = self._part()
        self._empty()
        self.v *= scale
        self.numbers[SQUARE] = float(self.numbers[SQUARE]) * scale**2
        self.numbers[SCALE] = 1.0
        return scale

    def last(self) -> Floats:
        """The iterate after the last step."""
        tau = self.t + 1 + self.rule.offset
        return np.asarray(self.v * (self.numbers[SCALE] / (self.rule.lam * tau))) if tau > 0 else np.zeros_like(self.v)

    def output(self) -> Floats:
        """The last iterate, or the mean of all iterates that steps were made from, or of their tail."""
        count = self.n_settled + self._part_length
        return np.asarray((self.settled + self._part()) / count) if count else self.last()

    @property
    def averages(self) -> bool:
        """Whether the iterates since the last mark count for a mean."""
        return self.rule.average is not False and self.last_mark >= self.rule.average_from

    @property
    def _part_length(self) -> int:
        return self.t - self.last_mark if self.averages else 0

    def _part(self) -> Floats:
        """The sum of the iterates since the last mark."""
        return np.asarray(self.folded + self.v * self.numbers[MASS] - self.u)

    def _empty(self) -> None:
        self.u[:] = 0.0
        self.numbers[MASS] = 0.0


@dataclass
class Counts:
    """How often each sample was drawn and violated its margin (two columns): in all, and since the last main mark but one.

    Marks within the first epoch do not count: until then all draws are recent.
    """

    table: Indices
    at_marks: list[Indices]

    @classmethod
    def none(cls, n: int) -> "Counts":
        """Nothing has been drawn."""
        zero = np.zeros((n, 2), dtype=np.int64)
        return cls(zero.copy(), [zero, zero])

    @property
    def draws(self) -> Indices:
        """Of each sample."""
        return self.table[:, 0]

    @property
    def violations(self) -> Indices:
        """Of each sample."""
        return self.table[:, 1]

    def pass_mark(self, t: int) -> None:
        """Remember where this mark, after t steps, stood."""
        if t >= len(self.table) and is_main_mark(t):
            self.at_marks = [self.at_marks[1], self.table.copy()]

    def shares(self) -> Floats:
        """Violations over draws, since the last main mark but one; over all where a sample had none since; 0 without any."""
        from maxmargin._loops.stochastic.pegasos import shares_since

        out = np.empty(len(self.table))
        shares_since(self.at_marks[0], self.table, out)
        return out


def step_through(iterates: Iterates, counts: Counts, samples: Samples, signed: Floats, s: float, visits: Indices) -> None:
    """Step through the visits; `signed` holds y_j weight_j.

    With a kernel the Gram matrix of the visits decides who violates; only violators' rows of K are needed then.
    """
    from maxmargin._loops.stochastic.pegasos import steps

    rule, arrays = iterates.rule, samples.arrays(visits)
    before = iterates.v if samples.gram is None else iterates.v.copy()
    done, folded, flags = 0, 1.0, np.empty(rule.batch, dtype=np.bool_)
    while done < len(visits):
        until_mark = (iterates.mark - iterates.t) * rule.batch
        done = steps(
            *arrays, signed, s, visits, done, min(done + until_mark, len(visits)),
            rule.batch, rule.lam, rule.offset, rule.radius, iterates.averages,
            iterates.v, iterates.u, iterates.numbers, counts.table, flags,
        )  # fmt: skip
        if iterates.pass_mark():
            counts.pass_mark(iterates.t)
        scale = iterates.fold()
        scores = arrays[-1]
        scores *= scale
        folded *= scale
    samples.follow(before, iterates.v, folded)
