"""The global optimum of the ramp loss on tiny data, by branch and bound on certified dual values.

    min_{w,b} Ω(w) + Σ_j c_j min(1, [1 − y_j F_j]₊)

A node has decided of some samples that they are in (the hinge) or out (the constant 1). At an optimum no z_j = y_j F_j is below
some l_j < 0, and on [l_j, ∞) the convex function [1 − z]₊/(1 − l_j) is the largest below the ramp: the undecided are hinges of
a smaller cost. So a node is a hinge problem again, any dual point of it is a bound, and the one that `certify` found is. (As a
mixed-integer program this is the big-M formulation of Brooks, Operations Research 2011, with l_j for M; HiGHS has no quadratic
objectives in it.)
"""

import heapq
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from maxmargin.core import L1, Problem, Ramp, Status
from maxmargin.core.ramp import convex_step
from maxmargin.errors import NotSupportedError
from maxmargin.solvers.base import Budget, Clock, Event, Observer
from maxmargin.solvers.ramp.cccp import RampSolution, solve_ramp, solve_step
from maxmargin.typing import Floats

MOST_BRANCHED = 30
"""Samples of the exact search, at most: the tree may double with each."""

FIRST_DESCENTS = 5
"""Descents before the search, each from another start: a good point cuts the tree."""

NODE_TOL = 1e-7
"""Relative gap that nodes are solved to."""


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    is_in: Any = field(compare=False)
    is_out: Any = field(compare=False)


def solve_ramp_exactly(
    problem: Problem, *, tol: float = 1e-6, observe: Observer | None = None, budget: Budget | None = None, seed: int = 0
) -> RampSolution:
    """The smallest R there is, to a relative `tol`, with the bound that proves it; at most 30 samples.

    A round of the budget is a node. When a budget runs out, the best point so far comes back with the bound so far. Cost: one
    hinge problem a node; a handful of nodes where the classes hardly overlap, thousands where labels are random.

    Parameters
    ----------
    problem : Problem
        Its loss is the ramp; at most 30 samples have a cost.
    tol : float
        How close to the global optimum, relative to it.
    observe, budget
        As in `solve`; a round is a node.
    seed : int
        Of the descents from which the search begins.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core import Problem, Ramp
    >>> from maxmargin.solvers import solve_ramp_exactly
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [9.0]]), np.array([-1.0, -1.0, 1.0, 1.0, -1.0])
    >>> solution = solve_ramp_exactly(Problem(X, y, np.full(5, 10.0), loss=Ramp()))
    >>> round(solution.objective, 6), solution.bound >= solution.objective * (1 - 1e-6)
    (10.5, True)
    """
    n = len(problem.present)
    if not isinstance(problem.loss, Ramp) or n > MOST_BRANCHED or problem.kernel.psd is False or problem.is_hard:
        raise NotSupportedError(
            "The exact search takes the ramp loss, finite costs, a kernel that is positive semi-definite and "
            f"at most {MOST_BRANCHED} samples, "
            f"got {problem.loss!r}, {problem.kernel!r} and {n}. Use another solver, with several starts."
        )
    clock = Clock(Budget() if budget is None else budget)
    descents = replace(clock.budget, iterations=None)
    best = solve_ramp(problem, tol=NODE_TOL, starts=FIRST_DESCENTS, seed=seed, budget=descents)
    nothing = np.zeros(problem.n, dtype=bool)
    heap, status = [_Node(0.0, 0, nothing, nothing)], best.status
    while heap and heap[0].bound < best.objective * (1.0 - tol):
        spent = clock.spent()
        if spent is not None:
            status = spent
            break
        node = heapq.heappop(heap)
        clock.rounds += 1
        is_open = ~node.is_in & ~node.is_out & (problem.cost > 0)
        relaxed = np.where(is_open, problem.cost / (1.0 + _reach(problem, best.objective)), problem.cost)
        step = convex_step(replace(problem, cost=relaxed), node.is_out)
        found = solve_step(step, None, tol=NODE_TOL)
        if found.status is Status.INTERRUPTED:
            status = found.status
            break
        assert found.certificate is not None
        bound = found.certificate.dual + float(problem.cost[node.is_out].sum())
        f = problem.decision(found.w)
        if problem.primal_from(found.w, found.b, f) < best.objective:
            better = solve_ramp(problem, tol=NODE_TOL, warm=found)
            best = better if better.objective < best.objective else best
        if observe is not None and observe(Event(clock.seconds, clock.rounds, _gap(best, heap), None)) is True:
            status = Status.STOPPED
            break
        if bound >= best.objective * (1.0 - tol):
            continue
        z = problem.y * (f + found.b)
        missing = np.where(is_open, problem.cost * problem.loss.value(z) - relaxed * np.maximum(1.0 - z, 0.0), -np.inf)
        j = int(np.argmax(missing))
        if not is_open[j]:
            continue
        for side in ("is_in", "is_out"):
            mask = getattr(node, side).copy()
            mask[j] = True
            child = {"is_in": node.is_in, "is_out": node.is_out, side: mask}
            if child["is_out"][problem.present].all():  # w = 0 is as good
                continue
            heapq.heappush(heap, _Node(bound, 2 * clock.rounds + (side == "is_out"), **child))
    least = min(heap[0].bound, best.objective) if heap else best.objective
    return replace(best, status=status, n_iter=max(clock.rounds, 1), bound=least, solver="exact: branch and bound")


def _gap(best: RampSolution, heap: list[_Node]) -> float:
    """How far the best point may be from the optimum, relatively."""
    least = heap[0].bound if heap else best.objective
    return max(1.0 - least / best.objective, 0.0) if best.objective > 0 else 0.0


def _reach(problem: Problem, objective: float) -> Floats:
    """−l_j: how far a sample can lie on its wrong side where R is at most `objective`.

    |f_j| ≤ ‖w‖‖x_j‖ with Ω(w) ≤ R; a free bias has an optimum where some sample's loss has a corner, z = 0 or 1: |b| ≤ 1 +
    max|f|.
    """
    if isinstance(problem.penalty, L1):
        X: Any = np.abs(problem.X if problem.rows is None else problem.X[problem.rows])
        longest = X.max(axis=1)
        longest = np.asarray(longest.toarray() if hasattr(longest, "toarray") else longest, dtype=np.float64).ravel()
        f = np.maximum(longest, problem.bias.scale) * objective
    else:
        f = np.sqrt(np.maximum(problem.diag() + problem.bias.scale**2, 0.0) * 2.0 * objective)
    return f + (1.0 + float(f[problem.present].max())) * problem.bias.is_free
