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


def last_mark(t: int, bits: int = 3) -> int:
    """The last number up to t of which only the first bits are set: powers of two, and quarters of the way between them.

    Examples
    --------
    >>> last_mark(7), last_mark(8), last_mark(9), last_mark(10), last_mark(11), last_mark(11, bits=2)
    (7, 8, 8, 10, 10, 8)
    """
    zeros = max(t.bit_length() - bits, 0)
    return t >> zeros << zeros


def next_mark(t: int) -> int:
    """The first mark after t.

    Examples
    --------
    >>> next_mark(0), next_mark(1), next_mark(4), next_mark(7), next_mark(8), next_mark(9)
    (1, 2, 5, 8, 10, 10)
    """
    return last_mark(t) + (1 << max(t.bit_length() - 3, 0))


def tail_begins(steps: int) -> int:
    """The last mark but one of so many steps; 0 before there are two.

    Examples
    --------
    >>> tail_begins(1), tail_begins(3), tail_begins(11), tail_begins(12)
    (0, 2, 8, 10)
    """
    return last_mark(max(last_mark(steps) - 1, 0))


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
    def at(cls, rule: Rule, w: Floats, t: int = 0) -> "Iterates":
        """As if t steps had led to the weights w; means begin here."""
        v, zero = w * rule.lam * max(t + 1 + rule.offset, 0), np.zeros_like(w)
        numbers = np.array([t, 0.0, 0.0, 1.0, v @ v])
        return cls(rule, v, zero.copy(), numbers, zero, zero, mark=next_mark(t), last_mark=t)

    @property
    def t(self) -> int:
        """Steps made."""
        return int(self.numbers[T])

    @property
    def factor(self) -> float:
        """What makes v the iterate after the last step: scale / (λτ), 0 where there was none."""
        tau = self.t + 1 + self.rule.offset
        return float(self.numbers[SCALE]) / (self.rule.lam * tau) if tau > 0 else 0.0

    @property
    def averages(self) -> bool:
        """Whether the iterates since the last mark count for a mean."""
        return self.rule.average is not False and self.last_mark >= self.rule.average_from

    def expect(self, steps: int) -> None:
        """No mean will be asked for before so many more steps: iterates before the tail of all of them need not be summed.

        If it is asked for earlier all the same (time ran out), it is the last iterate.
        """
        if self.rule.average == "tail":  # what was not summed stays so, if fewer steps came than were expected
            begin = max(self.rule.average_from, tail_begins(self.t + steps))
            self.rule = replace(self.rule, average_from=begin)
            if not self.averages:
                self._begin_part(np.zeros_like(self.v))
                self.settled, self.n_settled = self.folded, 0

    def pass_mark(self) -> bool:
        """At a mark, settle the mean so far and begin a new part; True where that was so."""
        if self.t < self.mark:
            return False
        if self.averages:
            if self.rule.average == "tail":
                self.settled, self.n_settled = np.zeros_like(self.v), 0
            self.settled, self.n_settled = self.settled + self._part(), self.n_settled + self.t - self.last_mark
            self._begin_part(np.zeros_like(self.v))
        self.last_mark, self.mark = self.t, next_mark(self.mark)
        return True

    def fold(self) -> float:
        """Multiply a small scale into v; what v was multiplied by."""
        from maxmargin._loops.stochastic import FINE

        scale = float(self.numbers[SCALE])
        if scale >= FINE:
            return 1.0
        self._begin_part(self._part())
        self.v *= scale
        self.numbers[[SCALE, SQUARE]] = 1.0, float(self.numbers[SQUARE]) * scale**2
        return scale

    def last(self) -> Floats:
        """The iterate after the last step."""
        return self.v * self.factor

    def output(self) -> Floats:
        """The last iterate, or the mean of all iterates that steps were made from, or of their tail."""
        count = self.n_settled + self.t - self.last_mark if self.averages else 0
        return (self.settled + self._part()) / count if count else self.last()

    def _part(self) -> Floats:
        """The sum of the iterates since the last mark."""
        return np.asarray(self.folded + self.v * self.numbers[MASS] - self.u)

    def _begin_part(self, folded: Floats) -> None:
        """Sum the iterates from here on, to be added to what is given."""
        self.u[:], self.numbers[MASS], self.folded = 0.0, 0.0, folded


@dataclass
class Counts:
    """How often each sample was drawn and violated its margin (two columns): in all, and since the last main mark but one.

    Main marks are powers of two and half way between them, as dual variables need more draws than a mean of weights. Those within
    the first epoch do not count: until then all draws are recent.
    """

    table: Indices
    at_marks: list[Indices]

    @classmethod
    def none(cls, n: int) -> "Counts":
        """Nothing has been drawn."""
        zero = np.zeros((n, 2), dtype=np.int64)
        return cls(zero.copy(), [zero, zero])

    def pass_mark(self, t: int) -> None:
        """Remember where this mark, after t steps, stood."""
        if t >= len(self.table) and t == last_mark(t, bits=2):
            self.at_marks = [self.at_marks[1], self.table.copy()]

    def shares(self) -> Floats:
        """Violations over draws, since the last main mark but one; over all where a sample had none since; 0 without any."""
        from maxmargin._loops.stochastic import shares_since

        out = np.empty(len(self.table))
        shares_since(self.at_marks[0], self.table, out)
        return out


def step_through(iterates: Iterates, counts: Counts, samples: Samples, signed: Floats, visits: Indices) -> None:
    """Step through the visits; `signed` holds y_j weight_j.

    With a kernel the Gram matrix of the visits decides who violates; only violators' rows of K are needed then.
    """
    from maxmargin._loops.stochastic import steps

    rule, arrays = iterates.rule, samples.arrays(visits)
    before = iterates.v if samples.rows is not None else iterates.v.copy()
    done, folded, flags = 0, 1.0, np.empty(rule.batch, dtype=np.bool_)
    while done < len(visits):
        until_mark = (iterates.mark - iterates.t) * rule.batch
        done = steps(
            *arrays, signed, samples.scale, visits, done, min(done + until_mark, len(visits)),
            rule.batch, rule.lam, rule.offset, rule.radius, iterates.averages,
            iterates.v, iterates.u, iterates.numbers, counts.table, flags,
        )  # fmt: skip
        if iterates.pass_mark():
            counts.pass_mark(iterates.t)
        scale = iterates.fold()
        arrays[-1][:] *= scale
        folded *= scale
    samples.follow(before, iterates.v, folded)
