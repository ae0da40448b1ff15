"""Retraining on rows of the Gram matrix: those of the samples that may move, against all samples."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.analysis.leave_one_out.gram_rows import fill_gram_rows
from maxmargin.analysis.leave_one_out.retrain import Goal, Retrainer, is_soft_hinge, open_bounds, rules
from maxmargin.analysis.leave_one_out.tableau import Tableau, may_move
from maxmargin.rounding import UNIT, gamma
from maxmargin.solvers.smo.state import padded
from maxmargin.typing import Floats, Indices

MAY_MOVE = 0.5
"""Support vectors, and samples this close to the margin, have their row in memory: the others are taken to stay outside."""

ROUND_STEPS = 64
"""Steps of the first round; each round has half as many again as the last."""

MAX_ROUNDS = 15
"""They make some 50 000 steps for one sample: if that does not tell, another way is tried."""

FEW_ROWS = 3000
"""Dense linear data with at most so many samples are retrained here, too. Text has most of its support vectors inside their box,
and pairs of them settle slowly: sweeps over its rows are faster."""


@dataclass(eq=False)
class OnGram(Retrainer):
    """Pair or single steps, each O(n), with the rows K[j, :] of the samples that may move."""

    full: Full
    max_bytes: int
    n_threads: int = 1
    batch: int = 16

    def __post_init__(self) -> None:
        problem = self.full.problem
        n, size = problem.n, padded(problem.n)
        movable = may_move(self.full, MAY_MOVE)
        self.slot = np.full(size, -1)
        self.slot[movable] = np.arange(len(movable))
        self.K = np.zeros((len(movable), size))
        self.eta, self.largest = fill_gram_rows(problem, movable, self.K, self.n_threads)
        self.y = np.ones(size)
        self.y[:n] = problem.y
        full, padding = self.full, (0, size - n)
        self.beta, self.diagonal, self.cost = (np.pad(v, padding) for v in (full.beta, full.squares, problem.cost))
        self.g, self.lengths, self.weights = (
            np.pad(v, padding) for v in (full.f - problem.y, full.lengths, full.slope.weights)
        )
        # f is that of the stored w, and g that of w(β)
        self.error = np.pad((full.error + full.apart * full.lengths) * (1.0 + 8.0 * UNIT), padding)
        self.error += 2.0 * UNIT * np.abs(self.g)
        self.tableau = Tableau(self.full, lambda i, j: self.K[self.slot[i]][:, j], self.max_bytes, self.n_threads)

    @staticmethod
    def suits(full: Full, max_bytes: int) -> bool:
        """Whether the loss is the hinge, the rows fit into the memory, and no sparse row is shorter than they are."""
        problem = full.problem
        is_small = problem.n <= FEW_ROWS and not sp.issparse(problem.X)
        fits = 8 * len(may_move(full, MAY_MOVE)) * padded(problem.n) <= max_bytes
        return is_soft_hinge(full) and fits and (is_small or not problem.is_linear)

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Floats:
        """All in one compiled call, from where a Newton step on the face leads."""
        from maxmargin._loops.leave_one_out.gram import retrain_gram

        bounds = open_bounds(len(samples))
        settings = rules(goal, self.full, rounds=MAX_ROUNDS, steps=ROUND_STEPS)
        at = self.tableau.samples
        moved = self.tableau.without(samples)
        moves = np.zeros((len(samples), len(self.K)))
        moves[:, self.slot[at]] = moved - self.beta[at]
        away = ~np.isin(samples, at) & (self.beta[samples] != 0.0)
        moves[away, self.slot[samples[away]]] = -self.beta[samples[away]]
        starts = self.g + moves @ self.K
        sizes = np.abs(moves)
        units = 2.0 * gamma(len(self.K) + 8)
        floors = 1.01 * (sizes @ (self.eta + units * self.largest) + 2.0 * UNIT * np.abs(starts).max(axis=1))
        retrain_gram(
            self.K, self.slot, self.eta, self.largest, self.diagonal, self.lengths, self.y, self.cost, self.weights, self.g,
            self.error, self.beta, self.full.problem.bias.is_free, samples, at, moved, starts, floors, brackets.copy(),
            settings, bounds,
        )  # fmt: skip
        return bounds
