"""Whether a fit still gets nearer: told by what cannot fall, the best dual value, and by the smallest certified gap.

A solver's own estimate of the gap may rise, and stand still for long while the dual value climbs: it declares nothing here. Its
pace merely tells when another solver is likely to end sooner (`rounds_to_come`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from maxmargin.core.certificate.certify import Certificate

EPS = float(np.finfo(np.float64).eps)

WINDOW = 200
"""Rounds of a solver (or half of all its rounds, if that is more) in which the best dual value must rise."""

TRUST = 5 * WINDOW
"""Rounds (or three quarters of all its rounds, if that is more) in which a solver's own reports count without any certificate:
a running sum may rise by rounding alone."""

TERMS = 3.0
"""Σ|terms| of a dual value over the value, at the optimum: Σα ≤ 2P and ½‖w‖² + (what a squared loss takes off) ≤ P."""

TENTH = 0.9
"""A certified gap that falls by a tenth is progress too: the weights can get better while the dual value has no digits left."""

SLOWEST = 1e-6
"""Share of the missing gap that the dual value must gain to have risen: with less, a million such gains would be needed."""

FINEST = 1e-12
"""A relative gap that is not worth waiting for."""


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
    dual: float = -np.inf
    gap: float = np.inf
    own: float = -np.inf
    missing: float = np.inf  # the smallest certified gap
    began: int = 0
    rose: int = 0
    proved: int = 0  # when a certificate last rose
    last_end: tuple[float, float] = (-np.inf, np.inf)

    def begin(self, rounds: int) -> None:
        """Another solver begins: what it reports itself is compared with its own reports only."""
        self.own, self.began, self.rose, self.proved = -np.inf, rounds, rounds, rounds

    def certified(self, certificate: Certificate, rounds: int) -> None:
        """Note what a certificate says."""
        dual, gap = certificate.dual, certificate.relative_gap
        self.missing = min(self.missing, certificate.gap)
        if self._is_higher(dual, self.dual) or gap < TENTH * self.gap:
            self.dual, self.gap = max(self.dual, dual), min(self.gap, gap)
            self.rose = self.proved = rounds

    def reported(self, dual: float, rounds: int) -> None:
        """Note what the solver says of its own dual point."""
        if self._is_higher(dual, self.own):
            self.own, self.rose = dual, rounds

    def is_missing(self, rounds: int, window: int = WINDOW) -> bool:
        """Whether nothing has risen for so long that a certificate has to be asked."""
        all_rounds = rounds - self.began
        return rounds - self.rose > max(window, all_rounds // 2) or rounds - self.proved > max(
            TRUST, 3 * all_rounds // 4
        )

    def has_risen_since_the_last_end(self) -> bool:
        """Whether certificates have got better since a solver last ended; one ends now."""
        before, self.last_end = self.last_end, (self.dual, self.gap)
        return before != self.last_end

    def _is_higher(self, dual: float, best: float) -> bool:
        slowest = SLOWEST * self.missing if math.isfinite(self.missing) else 0.0
        return dual > best + max(TERMS * self.size * EPS * abs(dual), slowest)
