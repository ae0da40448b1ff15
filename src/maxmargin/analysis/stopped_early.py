"""How primal and dual values close in along a fit."""

import math
from collections.abc import Callable
from dataclasses import replace

from maxmargin._loops.compile_time import Stopwatch
from maxmargin.core import Problem, Status, Trace, TracePoint
from maxmargin.solvers import Auto, Budget, solve


def stopped_early(problem: Problem, goal: float, max_seconds: float = math.inf, stop: Callable[[], bool] | None = None) -> Trace:
    """What is certified where a fit ends after 1, 2, 3, 5, … rounds, until it ends by itself.

    Or until all of them took so many seconds, or `stop` says so. Cost: some four fits.
    """
    from maxmargin.solvers.smo.smo import SMO

    class SmallRounds(SMO):
        """SMO in rounds of sixteen samples: it needs more of them, so that there are moments to stop at."""

        tuning = replace(SMO.tuning, few=8, whole=8, size=16, part=problem.n)

    found: list[TracePoint] = []
    solver, rounds, status = Auto().choose(problem)[0], 1, Status.ITERATION_BUDGET
    solver, watch = SmallRounds() if isinstance(solver, SMO) else solver, Stopwatch()
    while status is Status.ITERATION_BUDGET:
        left = max(max_seconds - watch.seconds, 0.0)
        solution = solve(problem, solver, tol=goal, budget=Budget(rounds, left, stop=stop))
        proved, status = solution.certificate, solution.status
        assert proved is not None
        numbers = (proved.primal, proved.dual, proved.relative_gap)
        found.append(TracePoint(solution.trace[-1].seconds, solution.n_iter, *numbers))
        rounds += 1 + rounds // 3
    return tuple(found)
