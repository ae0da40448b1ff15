"""A step on the face of the box: the samples strictly inside it move together.

Conjugate gradients on the free samples, ended as soon as a round gains little beside the best one, then a search along the
projected path (Moré & Toraldo, SIAM J. Optim. 1991). Coordinate descent finds the face; these steps shorten its crawl along it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.solvers.linear.conjugate_gradients import conjugate_gradients
from maxmargin.solvers.linear.rows import Rows, Signed
from maxmargin.typing import Floats, Indices

MOST_ROUNDS = 120
"""Conjugate-gradient rounds of one step, at most."""

ENOUGH = 0.5
"""A round that gains less than this share of the best round's gain is the last: sweeps do the rest more cheaply."""

PRECISION = 1e-3
"""The share of the residual that may remain."""

ROUND_COST, OTHER_COST = 0.7, 3.0
"""What a conjugate-gradient round costs, and all else of a step, in sweeps over the free samples (measured)."""

STRANGERS = 0.02
"""The rows of the face are gathered anew when more than this share of them is missing."""

LENGTHS = (1.0, 0.5, 0.25, 0.1, 0.03, 0.01)
"""Step lengths along the projected path that are tried, until one gains less than the one before."""


class FaceStep(NamedTuple):
    """What a step did: the vector that w moved by, its gain in the dual, and its cost in sweeps over the free samples."""

    move: Floats
    gain: float
    cost: float


class Face:
    """The free samples of  min_α ½‖Σ α_j y_j x̃_j‖² + ½Σ δ_j α_j² − Σ (r_j − y_j b₀) α_j,  0 ≤ α ≤ u."""

    def __init__(
        self, rows: Rows, y: Floats, target: Floats, upper: Floats, delta: Floats, square: Floats, constant: float
    ) -> None:
        self.rows, self.y, self.target, self.upper, self.delta, self.square = rows, y, target, upper, delta, square
        self.constant = constant
        self._samples: Indices = np.empty(0, dtype=np.intp)
        self._has: Any = np.zeros(len(y), dtype=np.bool_)
        self._A: Signed | None = None

    def step(self, alpha: Floats, w: Floats, b0: float, is_over: Callable[[], bool] = lambda: False) -> FaceStep | None:
        """Change α towards the free samples' common minimum, until `is_over`; None where nothing was gained."""
        is_free = (alpha > 0) & (alpha < self.upper)
        if np.count_nonzero(is_free) < 2:
            return None
        A = self._gathered(is_free)
        at = self._samples
        free, start, delta, upper = is_free[at], alpha[at], self.delta[at], self.upper[at]
        descent = np.where(free, self.target[at] - self.y[at] * b0 - A.scores(w) - delta * start, 0.0)

        def times(v: Floats) -> Floats:
            return np.where(free, A.scores(A.combine(v)) + delta * v, 0.0)

        direction, rounds = conjugate_gradients(
            times,
            descent,
            self.square[at],
            precision=PRECISION,
            most_rounds=MOST_ROUNDS,
            enough=ENOUGH,
            is_over=is_over,
        )
        best, best_gain, best_move = start, 0.0, np.empty(0)
        for length in LENGTHS:
            trial = np.clip(start + length * direction, 0.0, upper)
            change = trial - start
            move = A.combine(change)
            gain = float(descent @ change) - 0.5 * float(move @ move + (delta * change) @ change)
            if gain > best_gain:
                best, best_gain, best_move = trial, gain, move.copy()
            elif best_gain > 0.0:
                break
        if best_gain <= 0.0:
            return None
        alpha[at] = best
        return FaceStep(best_move, best_gain, ROUND_COST * rounds + OTHER_COST)

    def _gathered(self, is_free: Any) -> Signed:
        """The operator of the free samples' rows, perhaps with some more: a copy, unless that would be most of the data."""
        missing = np.count_nonzero(is_free & ~self._has)
        if self._A is None or missing > STRANGERS * np.count_nonzero(is_free):
            face, rows = self.rows.gathered(np.flatnonzero(is_free))
            self._samples, self._A = face, Signed(rows, self.y[face], self.constant)
            self._has[:] = False
            self._has[face] = True
        return self._A
