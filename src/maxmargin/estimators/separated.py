"""What a hard-margin fit ends with: a hyperplane that separates, or the proof that there is none."""

from dataclasses import replace

import numpy as np

from maxmargin.analysis.separability import separability
from maxmargin.analysis.witness import NotSeparable, Separable, Undecided
from maxmargin.core import Problem, Solution, Status, certify
from maxmargin.errors import NotSeparableError, UndecidedError


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
            narrow = replace(solution, w=verdict.w, b=verdict.b, status=status)
            return replace(narrow, certificate=certify(problem, narrow))
        case NotSeparable():
            raise NotSeparableError(
                f"No hyperplane separates {positive!r} from {negative!r}. {verdict} Use a soft margin, or another kernel.",
                verdict,
            )
        case Undecided():
            raise UndecidedError(f"{verdict} Scale the features, or use a soft margin.", verdict)
