"""What a hard-margin fit ends with: a hyperplane that separates, or the proof that there is none."""

from dataclasses import replace

import numpy as np

from maxmargin.analysis.separability import separability
from maxmargin.analysis.twins import contradiction
from maxmargin.analysis.witness import NotSeparable, Separable, Undecided
from maxmargin.core import Problem, Solution, Status, certify
from maxmargin.errors import NotSeparableError, UndecidedError
from maxmargin.solvers import ActiveSet, solve


def separated(problem: Problem, solution: Solution, positive: object, negative: object) -> Solution:
    """The solution if it separates its two classes, else the best that does; or raise what was proved.

    Raises
    ------
    NotSeparableError
        With its witness.
    UndecidedError
        Where neither answer could be proved.
    KeyboardInterrupt
        Where the fit was interrupted before anything separated.
    """
    if solution.certificate is not None and np.isfinite(solution.certificate.gap):
        return solution
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if solution.status in (Status.TIME_BUDGET, Status.STOPPED):
        return solution  # nothing separates yet, and nobody waits to find out whether anything can
    verdict = separability(problem, solution=solution)
    match verdict:
        case Separable():
            status = solution.status if solution.status is Status.ITERATION_BUDGET else Status.STALLED
            narrow = replace(solution, w=verdict.w, b=verdict.b, status=status, scores=None)
            tol = None if solution.certificate is None else solution.certificate.tol
            narrow = replace(narrow, certificate=certify(problem, narrow, tol=tol))
            if status is Status.STALLED and tol is not None and ActiveSet().refuses(problem) is None:
                again = solve(problem, ActiveSet(), tol=tol, warm=narrow)
                again = replace(again, solver=solution.solver.replace(":", ", then ActiveSet:", 1))
                return again if again.status is Status.SOLVED else narrow
            return narrow
        case NotSeparable():
            raise _not_separable(verdict, positive, negative)
        case Undecided():
            raise UndecidedError(f"{verdict} Scale the features, or use a soft margin.", verdict)


def refuse_contradictions(problem: Problem, positive: object, negative: object) -> None:
    """Raise NotSeparableError where two samples already prove that nothing separates; one pass over the data."""
    twins = contradiction(problem) if problem.is_linear else None
    if twins is not None:
        raise _not_separable(twins, positive, negative)


def _not_separable(witness: NotSeparable, positive: object, negative: object) -> NotSeparableError:
    hyperplane = "hyperplane through the origin" if witness.problem.bias.kind == "none" else "hyperplane"
    found = f"No {hyperplane} separates {positive!r} from {negative!r}. {witness}"
    return NotSeparableError(f"{found} Use a soft margin, or another kernel.", witness)
