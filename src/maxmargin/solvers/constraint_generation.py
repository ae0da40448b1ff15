"""Constraint generation for the hard margin: few samples touch the margin, so few are ever needed.

    min ½‖w‖²   s.t.  y_j(⟨w, φ(x_j)⟩ + b) ≥ 1   for all j

Solve it for a small working set of samples, look at all of them, take in those that come too close, drop those that play no
part, repeat. The working set's dual value is a lower bound for the whole problem and never falls, so it ends; when the working
set itself cannot be separated, nothing can. (Kelley's cutting planes, 1960, on the hulls of the two classes.)
"""

from dataclasses import dataclass, replace

import numpy as np

from maxmargin.core.penalties import L2
from maxmargin.core.problem import Problem
from maxmargin.core.reduce import to_candidate, to_dual, to_primal
from maxmargin.core.solution import Candidate
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.interior_point import InteriorPoint
from maxmargin.typing import Floats, Indices

FIRST = 64
"""Samples of each class in the first working set, at least."""


@dataclass
class _State:
    problem: Problem
    workspace: Workspace
    working: Indices
    batch: int
    beta: Floats | None = None
    lower: float = 0.0


@dataclass(frozen=True)
class ConstraintGeneration(Solver):
    """Hard margin by constraint generation: from a handful of samples to millions.

    *Use it when* the margin is hard. *Needs* infinite costs, the L2 penalty, a positive semi-definite kernel. *Costs* a few
    passes over the data and an interior-point solve of about (support vectors)³ a round; memory O(n + working set²).
    *Equivalent to* InteriorPoint on the whole problem.

    Examples
    --------
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, np.inf)), ConstraintGeneration(), tol=1e-9)
    >>> np.round(solution.w, 9), round(solution.b, 9)
    (array([2.]), -3.0)
    """

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if not problem.is_hard:
            return "ConstraintGeneration solves the hard margin (infinite costs). Use InteriorPoint() for finite ones."
        if not isinstance(problem.penalty, L2):
            return f"ConstraintGeneration solves the L2 penalty, got {problem.penalty!r}."
        if problem.kernel.psd is False:
            return f"ConstraintGeneration needs a positive semi-definite kernel, got {problem.kernel!r}."
        return None

    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> _State:
        """Start from the warm support, or from the samples nearest to the other class's mean."""
        batch = max(FIRST, min(problem.X.shape[1], 500) if problem.is_linear else FIRST)
        working = _first_working_set(problem, batch)
        if warm is not None:
            working = np.union1d(working, np.flatnonzero(warm.beta))
        return _State(problem, workspace, working, batch)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """Solve the working set, look at all samples, exchange."""
        problem, working = state.problem, state.working
        part = restrict(problem, working)
        inner = InteriorPoint()
        if (refusal := inner.accepts(part)) is not None:
            raise MemoryError(refusal)
        inner_state = inner.init(part, state.workspace, None)
        progress = inner.step(inner_state, tol, clock)
        while not progress.is_final and not progress.gap <= min(tol, 1e-9):
            progress = inner.step(inner_state, tol, clock)
        found = inner.finish(inner_state, tol)
        state.beta = np.zeros(problem.n)
        state.beta[working] = found.beta
        if not np.isfinite(progress.gap):
            return Progress(np.inf, is_final=True, is_infeasible=True)

        z = problem.y * (self._scores(state, found.w) + found.b)
        z[problem.cost == 0] = np.inf
        closest = float(z.min())
        outside = np.ones(problem.n, dtype=bool)
        outside[working] = False
        intruders = np.flatnonzero(outside & (z < 1.0 - 1e-12))
        if len(intruders) == 0:
            return Progress(progress.gap, is_final=True)
        keep = working[(found.beta != 0) | (z[working] < 1.0 + 0.1)]
        state.working = np.union1d(keep, _worst_of_each_class(problem, z, intruders, state.batch))
        gap = 1.0 / closest**2 - 1.0 if closest > 0 else np.inf
        return Progress(max(gap, progress.gap))

    def _scores(self, state: _State, w: Floats) -> Floats:
        problem = state.problem
        if problem.is_linear:
            return problem.decision(w)
        used = np.flatnonzero(w)
        return w[used] @ state.workspace.rows.get(state.working[used])

    def finish(self, state: _State, tol: float) -> Candidate:
        """The working set's solution as a candidate for the whole problem."""
        beta = np.zeros(state.problem.n) if state.beta is None else state.beta
        return to_candidate(state.problem, beta)


def restrict(problem: Problem, samples: Indices) -> Problem:
    """The same problem on some of its samples; nothing is copied."""
    rows = samples if problem.rows is None else problem.rows[samples]
    return replace(problem, rows=rows, y=problem.y[samples], cost=problem.cost[samples])


def _first_working_set(problem: Problem, batch: int) -> Indices:
    """Along the line between the class means, the samples of each class that come furthest; a fixed choice for kernels."""
    on = problem.present
    if problem.is_linear:
        y = np.zeros(problem.n)
        y[on] = problem.y[on]
        direction = problem.combine(np.where(y > 0, 1.0 / (y > 0).sum(), 0.0) - np.where(y < 0, 1.0 / (y < 0).sum(), 0.0))
        z = problem.y * problem.decision(direction)
        return _worst_of_each_class(problem, z, on, batch)
    return _worst_of_each_class(problem, np.random.default_rng(0).random(problem.n), on, batch)


def _worst_of_each_class(problem: Problem, z: Floats, among: Indices, count: int) -> Indices:
    chosen = []
    for label in (-1.0, 1.0):
        own = among[problem.y[among] == label]
        if len(own) > count:
            own = own[np.argpartition(z[own], count)[:count]]
        chosen.append(own)
    return np.union1d(*chosen)
