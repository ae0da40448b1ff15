"""Constraint generation for the hard margin: few samples touch the margin, so few are ever needed.

    min ½‖w‖²   s.t.  y_j(⟨w, φ(x_j)⟩ + b) ≥ 1   for all j

Solve it for a small working set of samples, look at all of them, take in those that come too close, drop those that play no
part, repeat. The working set's dual value is a lower bound for the whole problem and never falls, so it ends; when the working
set itself cannot be separated, nothing can. (Kelley's cutting planes, 1960, on the hulls of the two classes.)
"""

from dataclasses import dataclass, replace

import numpy as np

from maxmargin.core import Candidate, Problem, to_candidate
from maxmargin.core.reduce import keeps_columns, to_hulls
from maxmargin.errors import MemoryBudgetError
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.hard_margin.nearest_points import nearest_points
from maxmargin.solvers.interior.interior_point import InteriorPoint
from maxmargin.solvers.refine import refine
from maxmargin.typing import Floats, Indices

BATCH = 50
"""Samples of each class that a round may take in (more in high dimensions)."""

KEEP = 0.2
"""Samples of the working set within this share of the margin stay in it."""

MAX_ACTIVE = 600
"""Support vectors beyond which the interior point takes over from the active set."""


@dataclass
class _State:
    problem: Problem
    max_bytes: int
    rows: KernelMatrix  # of all samples, kept within these bytes
    batch: int
    working: Indices
    solved: Indices  # the working set that β belongs to
    beta: Floats
    found: Candidate | None = None
    total: float = 0.0  # Σα = ‖w‖² of the working set: rises with every useful exchange
    may_drop: bool = True
    use_interior_point: bool = False


@dataclass(frozen=True)
class ConstraintGeneration(Solver):
    """Hard margin by constraint generation: from a handful of samples to millions.

    *Use it when* the margin is hard. *Needs* infinite costs, the L2 penalty, a positive semi-definite kernel, and no more than
    about 4000 samples near the margin. *Costs* a pass over the data and some (support vectors)² · (exchanges) a round; memory
    O(n + working set²). *Equivalent to* InteriorPoint on the whole problem.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import ConstraintGeneration, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, np.inf)), ConstraintGeneration(), tol=1e-9)
    >>> np.round(solution.w, 9), round(solution.b, 9)
    (array([2.]), -3.0)
    """

    margin, needs_psd = "hard", True

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """Start from the samples nearest to the other class, and from the support of a warm start."""
        batch = max(BATCH, min(problem.X.shape[1] // 2, 400)) if problem.is_linear else 2 * BATCH
        working = _first_working_set(problem, batch)
        beta = np.zeros(problem.n)
        if warm is not None:
            beta = warm.beta
            working = np.union1d(working, np.flatnonzero(beta))
        return _State(problem, max_bytes, problem.kernel_matrix(max_bytes=max_bytes), batch, working, working, beta)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """Solve the working set, look at all samples, exchange."""
        problem, working = state.problem, state.working
        part = restrict(problem, working)
        found = self._solve_part(state, part, tol, clock)
        state.found, state.solved, state.beta = found, working, np.zeros(problem.n)
        state.beta[working] = found.beta
        used = np.flatnonzero(found.beta)
        f = problem.decision(found.w) if problem.is_linear else found.w[used] @ state.rows.get(working[used])
        z = problem.y * (f + found.b)
        z[problem.cost == 0] = np.inf
        if not z[working].min() > 0:
            return Progress(np.inf, is_final=True, is_infeasible=True)
        is_new = np.ones(problem.n, dtype=bool)
        is_new[working] = False
        intruders = np.flatnonzero(is_new & (z < 1.0 - 1e-13))
        # Where rounding hides the progress nothing is dropped any more, so that the exchanges cannot go round in circles.
        total = float(np.abs(found.beta).sum())
        state.may_drop = state.may_drop and total > state.total
        state.total = total
        keep = working[(found.beta != 0) | (z[working] < 1.0 + KEEP)] if state.may_drop else working
        state.working = np.union1d(keep, _worst_of_each_class(problem, z, intruders, state.batch))
        closest = float(z.min())
        return Progress(1.0 / closest**2 - 1.0 if closest > 0 else np.inf, is_final=len(intruders) == 0)

    def _solve_part(self, state: _State, part: Problem, tol: float, clock: Clock) -> Candidate:
        """The working set's solution: by the active set, or by the interior point where that gives up."""
        if not state.use_interior_point:
            V, group = to_hulls(part)
            start = np.abs(state.beta[state.working])
            found = nearest_points(V, group, start, tol=min(0.1 * tol, 1e-9), max_support=MAX_ACTIVE, clock=clock)
            if found.is_optimal:
                has_weights = keeps_columns(part) and part.bias.kind != "penalized"
                return to_candidate(part, found.alpha * part.y, found.u if has_weights else None)
        state.use_interior_point = True
        inner = InteriorPoint()
        if inner.accepts(part) is not None:
            raise MemoryBudgetError(
                f"The hard margin has about {part.n} samples close to it, more than this solver can look at together. "
                "Train on fewer samples, or allow a soft margin."
            )
        inner_state = inner.init(part, state.max_bytes, None)
        progress = inner.step(inner_state, tol, clock)
        while not progress.is_final and not progress.gap <= min(tol, 1e-9):
            progress = inner.step(inner_state, tol, clock)
        return inner.finish(inner_state, tol)

    def finish(self, state: _State, tol: float) -> Candidate:
        """The working set's solution, with its last digits, as a candidate for the whole problem."""
        problem = state.problem
        if state.found is None:
            return to_candidate(problem, np.zeros(problem.n))
        refined = refine(restrict(problem, state.solved), state.found)
        beta = np.zeros(problem.n)
        beta[state.solved] = refined.beta
        return to_candidate(problem, beta, refined.w if problem.is_linear else None)


def restrict(problem: Problem, samples: Indices) -> Problem:
    """The same problem on some of its samples; nothing is copied."""
    return replace(problem, rows=problem.row(samples), y=problem.y[samples], cost=problem.cost[samples])


def _first_working_set(problem: Problem, batch: int) -> Indices:
    """Along the line between the class means, the samples of each class that come furthest; a fixed choice for kernels."""
    on = problem.present
    if not problem.is_linear:
        return _worst_of_each_class(problem, np.random.default_rng(0).random(problem.n), on, batch)
    means = np.zeros(problem.n)
    for label in (-1.0, 1.0):
        own = on[problem.y[on] == label]
        means[own] = label / len(own)
    return _worst_of_each_class(problem, problem.y * problem.decision(problem.combine(means)), on, batch)


def _worst_of_each_class(problem: Problem, z: Floats, among: Indices, count: int) -> Indices:
    chosen = []
    for label in (-1.0, 1.0):
        own = among[problem.y[among] == label]
        if len(own) > count:
            own = own[np.argpartition(z[own], count)[:count]]
        chosen.append(own)
    return np.union1d(*chosen)
