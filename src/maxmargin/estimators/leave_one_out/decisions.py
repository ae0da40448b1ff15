"""The label that a classifier gives when its decisions are known as intervals, and whether it is certain.

Decisions are (n_problems, n) arrays of lower and upper ends. A decision of 0 goes to the negative class (``classes_[0]`` of two).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.analysis.leave_one_out.full import TUNING
from maxmargin.estimators.multiclass.one_vs_one import Vote, vote
from maxmargin.typing import Floats


class Wish(NamedTuple):
    """Which (problem, sample) to look at more closely; at a certain sign or at this width it is enough."""

    entries: Any
    at_sign: bool
    width: float


class Rule(ABC):
    """How a classifier's decisions make a label."""

    wishes: int = 1

    @abstractmethod
    def label(self, lower: Floats, upper: Floats) -> Vote:
        """The class of each sample, and whether no decision within its interval changes it."""

    @abstractmethod
    def wish(self, lower: Floats, upper: Floats, turn: int) -> Wish:
        """What to know better, in the given turn (0 … wishes − 1), so that open labels become certain."""


def is_signed(lower: Floats, upper: Floats) -> Any:
    """Where the sign is certain."""
    return (lower > 0) | (upper <= 0)


def middle(lower: Floats, upper: Floats) -> Floats:
    """A value in the interval; 0 where nothing is known."""
    with np.errstate(invalid="ignore"):
        value = np.where(lower == upper, lower, 0.5 * (lower + upper))
    half = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
    return np.where(np.isfinite(value) | (lower == upper), value, half)


@dataclass(frozen=True)
class BySigns(Rule):
    """Two classes, or the votes of one-vs-one: only signs matter."""

    n_classes: int

    def label(self, lower: Floats, upper: Floats) -> Vote:
        """Votes of signs; an open one may go either way."""
        sure = is_signed(lower, upper)
        decisions = np.where(lower > 0, 1.0, np.where(upper <= 0, -1.0, np.where(middle(lower, upper) > 0, 0.5, -0.5)))
        return vote(decisions, self.n_classes, np.where(sure, 0.0, 1.0))

    def wish(self, lower: Floats, upper: Floats, turn: int) -> Wish:
        """The signs of the open samples' decisions."""
        return Wish(~is_signed(lower, upper) & ~self.label(lower, upper).is_certain, True, 0.0)


@dataclass(frozen=True)
class ByLargest(Rule):
    """One-vs-rest: the class with the largest decision, the first of equals."""

    wishes: int = len(TUNING.compared_widths)

    def label(self, lower: Floats, upper: Floats) -> Vote:
        """Certain where one lower end is above all other upper ends."""
        return _largest(lower, upper)

    def wish(self, lower: Floats, upper: Floats, turn: int) -> Wish:
        """All decisions that may still be the largest, in smaller intervals each turn."""
        may_win = upper >= lower.max(axis=0)
        return Wish(may_win & ~self.label(lower, upper).is_certain, False, TUNING.compared_widths[turn])


@dataclass(frozen=True)
class ByBrokenTies(Rule):
    """One-vs-one with ``break_ties=True``: votes, then sums of decisions, as scikit-learn joins them."""

    n_classes: int
    wishes: int = 1 + len(TUNING.compared_widths)

    def label(self, lower: Floats, upper: Floats) -> Vote:
        """Scores votes + s/(3(|s| + 1)), each an interval, as both parts are monotone in every decision."""
        pairs = [(i, j) for i in range(self.n_classes) for j in range(i + 1, self.n_classes)]
        shape = (self.n_classes, lower.shape[1])
        votes, sums = np.zeros((2, *shape)), np.zeros((2, *shape))
        for k, (i, j) in enumerate(pairs):
            sure, never = lower[k] > 0, upper[k] <= 0
            votes[0, i], votes[1, i] = votes[0, i] + sure, votes[1, i] + ~never
            votes[0, j], votes[1, j] = votes[0, j] + never, votes[1, j] + ~sure
            sums[:, i] += lower[k], upper[k]
            sums[:, j] += -upper[k], -lower[k]
        with np.errstate(invalid="ignore"):
            share = np.where(np.isinf(sums), np.sign(sums), sums / (np.abs(sums) + 1.0)) / 3.0
        return _largest(*(votes + share))

    def wish(self, lower: Floats, upper: Floats, turn: int) -> Wish:
        """First the signs, then the values."""
        is_open = ~self.label(lower, upper).is_certain
        if turn == 0:
            return Wish(~is_signed(lower, upper) & is_open, True, 0.0)
        return Wish(np.broadcast_to(is_open, lower.shape), False, TUNING.compared_widths[turn - 1])


def _largest(lower: Floats, upper: Floats) -> Vote:
    n = lower.shape[1]
    winner = np.asarray(middle(lower, upper).argmax(axis=0), dtype=np.intp)
    others = upper.copy()
    others[winner, np.arange(n)] = -np.inf
    return Vote(winner, lower[winner, np.arange(n)] > others.max(axis=0))
