"""Leaving samples out of a linear problem on the equations of its full solution: no retraining, and one look at the gap."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.analysis.leave_one_out.retrain import Goal, Retrainer, open_bounds, rules, sparse_rows
from maxmargin.analysis.leave_one_out.tableau import Tableau
from maxmargin.rounding import UNIT, gamma
from maxmargin.typing import Floats, Indices

MOST_MORE = 1000
"""So many samples join the equations in one turn."""

FREQUENT = 200
"""Columns of sparse data that count as frequent."""


@dataclass(eq=False)
class OnEquations(Retrainer):
    """Pivots on the shared tableau, then the scores of a batch by one sparse product; each turn adds who should have moved."""

    full: Full
    max_bytes: int
    n_threads: int = 1
    batch: int = 16

    def __post_init__(self) -> None:
        problem = self.full.problem
        self.X: Any = sparse_rows(problem)
        self.constant = problem.bias.scale**2
        self.is_beyond = np.zeros(problem.n, dtype=bool)
        full = self.full
        self.lengths = full.lengths
        self.error = (full.error + full.apart * full.lengths) * (1.0 + 8.0 * UNIT)  # f is that of the stored w
        self.terms = float(problem.entries.max(initial=0.0))
        self.tableau = Tableau(self.full, self._gram, self.max_bytes, self.n_threads)

    def _gram(self, rows: Indices, columns: Indices) -> Floats:
        return sparse_gram(self.X[rows], self.X[columns]) + self.constant

    def prepare(self) -> None:
        """Let those take part whom the last turn found on the wrong side."""
        more = np.setdiff1d(np.flatnonzero(self.is_beyond), self.tableau.samples)
        self.is_beyond[:] = False
        if len(more) and len(self.tableau.samples):
            self.tableau.widen(more[:MOST_MORE])
        self._of_movers = self.X[self.tableau.samples].T

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Floats:
        """Without equations nothing is known."""
        from maxmargin._loops.leave_one_out.look import look_each

        full, problem, movers = self.full, self.full.problem, self.tableau.samples
        bounds = open_bounds(len(samples))
        if not len(movers):
            return bounds
        values = self.tableau.without(samples)
        moves = (values - full.beta[movers]).T
        scores = self.X @ (self._of_movers @ moves) + self.constant * moves.sum(axis=0)
        sizes = self.lengths[movers] @ np.abs(moves)
        away = np.flatnonzero(~np.isin(samples, movers) & (full.beta[samples] != 0.0))
        if len(away):
            own = self.X[samples[away]].T.toarray() * full.beta[samples[away]]
            scores[:, away] -= self.X @ own + self.constant * full.beta[samples[away]]
            sizes[away] += self.lengths[samples[away]] * np.abs(full.beta[samples[away]])
        # Σ moves · x errs by γ(movers) Σ|moves|‖x‖, its product with x_j by γ(terms) of that times ‖x_j‖, and the last sums round
        drifts = 1.01 * (gamma(len(movers) + 8) + gamma(self.terms + 8)) * sizes
        g = np.ascontiguousarray(scores.T) + (full.f - problem.y)
        look_each(
            g, self.error, drifts, problem.y, problem.cost, full.slope.weights, full.beta, movers, values, self.lengths,
            problem.bias.is_free, samples, brackets.copy(), rules(goal, full, rounds=0, steps=0), self.is_beyond, bounds,
        )  # fmt: skip
        return bounds


def sparse_gram(X: Any, Z: Any) -> Floats:
    """X Zᵀ as a dense matrix; the columns that many rows have go through BLAS, which is faster than counting them one by one."""
    is_frequent = np.zeros(X.shape[1], dtype=bool)
    is_frequent[np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[:FREQUENT]] = True
    frequent, rare = np.flatnonzero(is_frequent), np.flatnonzero(~is_frequent)
    out: Floats = X[:, frequent].toarray().astype(np.float64) @ Z[:, frequent].toarray().astype(np.float64).T
    out += (X[:, rare].astype(np.float64) @ Z[:, rare].T.astype(np.float64)).toarray()
    return out
