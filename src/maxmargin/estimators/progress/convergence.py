"""The one warning: a model whose gap is above what was asked for."""

import warnings

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning

from maxmargin.core import Certificate, Status
from maxmargin.rounding import shown_above


class ConvergenceWarning(_SklearnConvergenceWarning):  # type: ignore[misc]
    """The model is the best found, but its gap is above ``tol``: a budget ran out or progress stalled."""


def warn_unless_solved(
    name: str, status: Status, certificate: Certificate, tol: float, rounds: str = "max_iter"
) -> None:
    """Say what ended the fit, the gap that was reached and what to try; `rounds` is the parameter that limits the iterations."""
    if status not in (Status.SOLVED, Status.INTERRUPTED, Status.STOPPED):
        reason = str(status).replace("max_iter", rounds)
        gap = f"the gap is {shown_above(certificate.relative_gap, 2)}, and {tol:g} was asked for."
        is_reached = certificate.relative_gap <= tol  # of the last convex step of a ramp, whose steps had not ended
        warnings.warn(
            f"{name}: {reason} {'Of the last convex step ' if is_reached else 'Not certified: '}{gap}",
            ConvergenceWarning,
            stacklevel=5,
        )


def warn_of_mistakes(name: str, mistakes: list[int], epochs: int) -> None:
    """Say that the last epoch of some problem was not clean."""
    worst = max(mistakes)
    if worst:
        still = f"still made {worst} mistakes" if worst > 0 else "did not end"
        warnings.warn(
            f"{name}: the last of {epochs} epochs {still}. Allow more with max_iter; ask separability(X, y) whether "
            "there is a hyperplane at all.",
            ConvergenceWarning,
            stacklevel=6,
        )
