"""What a fit hands back: the best candidate, how it ended, the road there, and what `certify` said of it."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate.certify import Certificate
from maxmargin.core.certificate.scores import Scores


class Status(Enum):
    """How a fit ended; each value is its sentence.

    Examples
    --------
    >>> from maxmargin import Status
    >>> print(Status.SOLVED)
    The requested gap was reached and proved.
    """

    SOLVED = "The requested gap was reached and proved."
    ALMOST = "The solver finished just short of the requested gap; the certificate says how close."
    ITERATION_BUDGET = "The budget of iterations ran out first; allow more with max_iter, or relax tol."
    TIME_BUDGET = "The budget of seconds ran out first; allow more with max_seconds, or relax tol."
    MEMORY_BUDGET = "The budget of memory does not hold the problem; allow more, or choose another solver."
    STALLED = "Progress ended at the precision of the arithmetic, whichever solver went on; scale the features, or relax tol."
    UNREACHED = "The solvers for such problems ended short of the requested gap; scale the features, or relax tol."
    INFEASIBLE = "The solver found no feasible point: the classes may not be separable."
    INTERRUPTED = "Interrupted; this is the best model found so far."
    STOPPED = "Stopped by an observer; this is the best model found so far."

    def __str__(self) -> str:
        return self.value


class TracePoint(NamedTuple):
    """One certified moment of a fit."""

    seconds: float
    iteration: int
    primal: float
    dual: float
    relative_gap: float


Trace = tuple[TracePoint, ...]
"""The certified moments of a fit, in order."""


@dataclass(frozen=True)
class Solution(Candidate):
    """The best candidate of a fit, and how it came about.

    Attributes
    ----------
    status : Status
        How the fit ended.
    n_iter : int
        The solver's own rounds.
    solver : str
        Which solver, and why.
    trace : tuple of TracePoint
        Each certified moment.
    certificate : Certificate or None
        What `certify` said of this candidate when the driver asked; anybody may ask again.
    scores : Scores or None
        f_j = ⟨w, φ(x_j)⟩ of each sample, as the certificate saw them.
    """

    status: Status = Status.SOLVED
    n_iter: int = 0
    solver: str = ""
    trace: Trace = field(default=(), repr=False)
    certificate: Certificate | None = field(default=None, repr=False)
    scores: Scores | None = field(default=None, repr=False, compare=False, kw_only=True)
