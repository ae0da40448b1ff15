"""Retraining on rows of the Gram matrix: those of the samples that may move, against all samples."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.analysis.leave_one_out.retrain import Goal, Retrainer, is_soft_hinge, open_bounds, rules
from maxmargin.analysis.leave_one_out.tableau import Tableau, may_move
from maxmargin.solvers.working_kernel import padded
from maxmargin.threads import together
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

BLOCK = 256
"""Rows that are made at a time."""


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
        self._fill_rows(movable)
        self.y, self.cost = np.ones(size), np.zeros(size)
        self.y[:n], self.cost[:n] = problem.y, problem.cost
        self.beta, self.g, self.diagonal = np.zeros(size), np.zeros(size), np.zeros(size)
        self.beta[:n], self.diagonal[:n] = self.full.beta, self.full.squares
        self.g[:n] = self.full.f - problem.y
        self.tableau = Tableau(self.full, lambda i, j: self.K[self.slot[i]][:, j], self.max_bytes, self.n_threads)

    def _fill_rows(self, movable: Indices) -> None:
        """K, some blocks on each thread."""
        problem = self.full.problem
        constant, everyone = problem.bias.scale**2, np.arange(problem.n)

        def share(thread: int) -> None:
            for start in range(thread * BLOCK, len(movable), self.n_threads * BLOCK):
                at = slice(start, start + BLOCK)
                self.K[at, : problem.n] = problem.gram(movable[at], everyone) + constant

        together([partial(share, thread) for thread in range(self.n_threads)], self.n_threads)

    @staticmethod
    def suits(full: Full, max_bytes: int) -> bool:
        """Whether the loss is the hinge, the rows fit into the memory, and no sparse row is shorter than they are."""
        problem = full.problem
        is_small = problem.n <= FEW_ROWS and not sp.issparse(problem.X)
        fits = 8 * len(may_move(full, MAY_MOVE)) * padded(problem.n) <= max_bytes
        return is_soft_hinge(full) and fits and (is_small or not problem.is_linear)

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Floats:
        """All in one compiled call, from where a Newton step on the face leads."""
        from maxmargin._loops.leave_one_out_gram import retrain_gram

        bounds = open_bounds(len(samples))
        settings = rules(goal, self.full, rounds=MAX_ROUNDS, steps=ROUND_STEPS)
        at = self.tableau.samples
        moved = self.tableau.without(samples)
        moves = np.zeros((len(samples), len(self.K)))
        moves[:, self.slot[at]] = moved - self.beta[at]
        starts = self.g + moves @ self.K
        away = ~np.isin(samples, at) & (self.beta[samples] != 0.0)
        starts[away] -= self.beta[samples[away], np.newaxis] * self.K[self.slot[samples[away]]]
        retrain_gram(
            self.K, self.slot, self.diagonal, self.y, self.cost, self.beta, self.full.problem.bias.is_free, samples, at,
            moved, starts, brackets.copy(), settings, bounds,
        )  # fmt: skip
        return bounds
