"""Retraining without one sample, until its decision is known well enough: the first way that suits.

    on shared equations   one linear system for all samples, then only who changes sides (`on_equations`): linear data
    on the Gram matrix    pair steps in compiled code, where the rows that matter fit into memory (`on_gram`)
    on sparse rows        coordinate descent in compiled code: linear data
    by any solver         the driver, warm-started: the hard margin, other losses, and what those above could not decide

The first three take many samples in one call, so that Python costs nothing; every sample starts from the same full solution, so
that neither the order nor the number of threads changes a bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin._loops.leave_one_out.fields import N_BOUNDS, ROUNDS
from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.analysis.leave_one_out.tableau import Tableau
from maxmargin.core import Candidate, Hinge, Problem, Status
from maxmargin.core.dual import make_feasible
from maxmargin.rounding import UNIT, exact_sum, length_above, raised
from maxmargin.solvers import Auto, Budget, solve
from maxmargin.solvers.linear.dual_cd import CHUNK_ROWS, CHUNK_VALUES, MULTIPLIER
from maxmargin.solvers.linear.rows import Rows
from maxmargin.typing import Floats, Indices

CURVATURE = 1e-12
"""The least curvature of a pair, as a share of its diagonal entries."""


NEAR = 0.1
"""Samples within this distance of the margin are swept; the next look adds those that the others have pushed over it."""

SWEEPS = 5
"""Of the first round; each has half as many again as the last."""


class Goal(NamedTuple):
    """When an interval is good enough: at a certain sign, at this width, or where the compiled loops see only rounding."""

    at_sign: bool
    width: float = 0.0
    at_rounding: bool = False


class Retrainer(ABC):
    """Leaves samples out of one problem, `batch` of them at a time: never more or fewer, as the bits could depend on it."""

    batch: int = 1

    def prepare(self) -> None:
        """Called before some samples are handed out, in one thread."""
        return

    @abstractmethod
    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Floats:
        """What is known of each of the samples, as `open_bounds`: ±∞ where it was stopped before it knew."""


def rules(goal: Goal, full: Full, rounds: int, steps: int) -> Floats:
    """The settings of the compiled loops, in their order."""
    return np.array(
        [float(goal.at_sign), goal.width, rounds, steps, CURVATURE, NEAR, full.slope.least, full.slope.most]
    )


@dataclass(eq=False)
class OnRows(Retrainer):
    """Coordinate descent over sparse rows."""

    full: Full
    tableau: Tableau
    batch: int = 16

    def __post_init__(self) -> None:
        full, problem = self.full, self.full.problem
        self.rows = Rows.of_matrix(sparse_rows(problem))
        self.s = problem.bias.scale
        if problem.bias.is_free:
            self.s = max(MULTIPLIER * float(np.sqrt(full.squares.mean())), float(problem.cost.sum()) ** -0.5)
        self.squares = full.squares + (self.s**2 if problem.bias.is_free else 0.0)
        self.w = np.append(full.w, self.s * exact_sum(full.beta))
        self.apart = raised(full.apart + 2.0 * UNIT * abs(float(self.w[-1])))
        self.chunk = min(max(1, CHUNK_VALUES * problem.n // max(self.rows.n_values, 1)), CHUNK_ROWS)

    @staticmethod
    def suits(full: Full, max_bytes: int) -> bool:
        """Whether the loss is the hinge, the kernel linear, and the data sparse or their sparse copy small enough."""
        X = full.problem.X
        return is_soft_hinge(full) and full.problem.is_linear and (sp.issparse(X) or 12 * X.size <= max_bytes)

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Floats:
        """All in one compiled call."""
        from maxmargin._loops.leave_one_out.rows import retrain_rows

        full, problem = self.full, self.full.problem
        bounds = open_bounds(len(samples))
        retrain_rows(
            *self.rows.arrays, problem.y, problem.cost, full.slope.weights, self.squares, full.lengths, full.beta * problem.y,
            self.w, self.apart, length_above(self.w), self.s, full.b, problem.y - full.f, problem.bias.is_free, samples,
            self.tableau.samples, self.tableau.without(samples), brackets.copy(),
            rules(goal, full, rounds=25, steps=SWEEPS), self.chunk, bounds,
        )  # fmt: skip
        return bounds


@dataclass(eq=False)
class BySolver(Retrainer):
    """The driver, warm-started, one sample at a time: slow, and good for every problem."""

    full: Full
    tol: float

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Floats:
        """Each to the tolerance, unless a rougher one tells enough."""
        out = open_bounds(len(samples))
        out[:, ROUNDS] = 1
        for at, i in enumerate(samples):
            for tol in (1e-4, 1e-7, self.tol):
                if stop():
                    return out
                out[at, :2] = self._interval(int(i), max(tol, self.tol), stop)
                is_signed = goal.at_sign and (out[at, 0] > 0 or out[at, 1] < 0)
                if is_signed or out[at, 1] - out[at, 0] <= goal.width or tol <= self.tol:
                    break
        return out

    def _interval(self, i: int, tol: float, stop: Callable[[], bool]) -> tuple[float, float]:
        full = self.full
        cost = full.problem.cost.copy()
        cost[i] = 0.0
        problem = replace(full.problem, cost=cost)
        beta = make_feasible(problem, full.beta)
        warm = None if problem.is_hard else Candidate(problem.combine(beta), full.b, beta)
        solution = solve(problem, Auto(), tol=tol, warm=warm, budget=Budget(stop=stop))
        if solution.status is Status.INTERRUPTED or solution.certificate is None:
            return -np.inf, np.inf
        if not np.isfinite(solution.certificate.gap):
            return -np.inf, np.inf
        found = Full.of(problem, solution)
        return float(found.lower[i]), float(found.upper[i])


def sparse_rows(problem: Problem) -> Any:
    """The samples of a linear problem as a sparse matrix."""
    X = problem.X if problem.rows is None else problem.X[problem.rows]
    return X if sp.issparse(X) else sp.csr_array(X)


def is_soft_hinge(full: Full) -> bool:
    """Whether the compiled ways apply: the hinge, finite costs, a kernel that may be one."""
    problem = full.problem
    return isinstance(problem.loss, Hinge) and not problem.is_hard and problem.kernel.psd is not False


def open_bounds(count: int) -> Floats:
    """What is known of so many samples before anything is: the bounds of the compiled loops."""
    bounds = np.zeros((count, N_BOUNDS))
    bounds[:, 0], bounds[:, 1] = -np.inf, np.inf
    return bounds
