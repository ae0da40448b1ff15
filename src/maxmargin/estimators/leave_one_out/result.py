"""What leave-one-out found: a label, a proof and a price for each sample."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from maxmargin._loops.compile_time import seconds_in_words
from maxmargin.analysis.leave_one_out import XiAlpha
from maxmargin.core import Status
from maxmargin.notebook import box
from maxmargin.typing import Floats, Indices


class SettledBy(Enum):
    """What settled the label of a left-out sample; each value is its sentence.

    Examples
    --------
    >>> from maxmargin import SettledBy
    >>> print(SettledBy.OUTSIDE)
    It lies outside the margin, so nothing moves without it.
    """

    OUTSIDE = "It lies outside the margin, so nothing moves without it."
    TRAINING_ERROR = "It is a training error, and without it its slack only grows."
    BALL = "The machine without it lies in a ball that agrees on the label."
    EQUATIONS = "The equations of the full solution, solved again without it, agree on the label."
    RETRAINED = "Retraining without it, as far as the label needs."
    LAST_OF_ITS_CLASS = "Without it its class is gone, so another one is predicted."
    ABSENT = "Its weight is 0: it was never there."
    UNDECIDABLE = "Its decision is too close to a tie for the tolerance; the label is a guess."
    INTERRUPTED = "Not looked at before the interruption; the label is a guess."

    def __str__(self) -> str:
        return self.value


MEANINGS = {
    "once": "Costs and kernel parameters stay as all samples make them.",
    "each": "Costs are those of separate fits, each on the other samples.",
}
"""What `resolve` means, in words."""


class ErrorRange(NamedTuple):
    """The error if every label that is not certain were right, and if every one were wrong."""

    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The leave-one-out predictions of a classifier, exactly what n retrainings would give.

    Attributes
    ----------
    predictions : array (n,)
        The label that each sample gets from the machine that never saw it.
    error : float
        The weighted mean of the wrong ones; `error_range` says what the uncertain ones may make of it.
    is_certain : bool array (n,)
        Which labels are proved.
    settled_by : array of SettledBy (n,)
        What settled each.
    retrained : index array
        The samples that were retrained without, at least for some steps; `n_retrained` of them. Those that the equations of
        the full solution settled are not among them.
    lower, upper : arrays (n,) or (n, n_problems)
        Certified ends of the left-out decisions, in scikit-learn's order of binary problems.
    decision_values : array (n,) or (n, n_problems), or None
        Their middles, to a width of 1e-6 where the arithmetic allows, if they were asked for.
    xi_alpha : XiAlpha, or a tuple of them for more than two classes
        The estimates of the same models without any retraining.
    resolve : {"once", "each"}
        Whether costs that depend on the samples were set once, on all of them, or for each left-out sample on the others;
        `meaning` says it in words.
    steps : str
        Of a pipeline or a search: what of it has seen the left-out samples, in a sentence; `meaning` ends with it.
    seconds, fit_seconds : float
        Of all, and of the (tightened) fit within it; compiling loops is counted in neither.
    compile_seconds : float
        Of compiling loops, or of loading them from disk: the next time in this process it is 0.
    status : Status
        SOLVED; STALLED if some labels are undecidable; INTERRUPTED or STOPPED if it ended early.

    Examples
    --------
    >>> from maxmargin import LinearSVC, leave_one_out
    >>> X, y = [[0.0], [1.1], [1.2], [2.9], [4.0], [1.5]], ["a", "a", "a", "b", "b", "b"]
    >>> result = leave_one_out(LinearSVC(C=1.0), X, y)
    >>> round(result.error, 3), result.predictions.tolist()
    (0.167, ['a', 'a', 'a', 'b', 'b', 'a'])
    >>> result.settled_by[4].name, bool(result.is_certain.all())
    ('OUTSIDE', True)
    """

    predictions: Any
    error: float
    error_range: ErrorRange
    is_certain: Any
    settled_by: Any
    retrained: Indices
    lower: Floats
    upper: Floats
    decision_values: Floats | None
    xi_alpha: XiAlpha | tuple[XiAlpha, ...]
    seconds: float
    fit_seconds: float
    status: Status
    resolve: str = "once"
    compile_seconds: float = 0.0
    steps: str = ""

    @property
    def n(self) -> int:
        """Samples with weight."""
        return int((self.settled_by != SettledBy.ABSENT).sum())

    @property
    def meaning(self) -> str:
        """Which machines were meant, in words."""
        return f"{MEANINGS[self.resolve]} {self.steps}".strip()

    @property
    def n_retrained(self) -> int:
        """How many samples were retrained without."""
        return len(self.retrained)

    @property
    def time(self) -> str:
        """Seconds in words; those of compiling apart."""
        return seconds_in_words(self.seconds, self.compile_seconds)

    def counts(self) -> dict[SettledBy, int]:
        """How many samples each theorem, or retraining, settled."""
        return {how: count for how in SettledBy if (count := int(np.sum(self.settled_by == how)))}

    def _repr_html_(self) -> str:
        """The error, and what settled the labels, for notebooks."""
        lower, upper = self.error_range
        error = f"{self.error:.2%}" if lower == upper else f"between {lower:.2%} and {upper:.2%}"
        head = f"Leave-one-out error: {error} of {self.n} samples. {self.n_retrained} were retrained without. {self.meaning}"
        return box(
            f"{head} Time: {self.time}.", {str(how): count for how, count in self.counts().items()}, bool(self.is_certain.all())
        )

    def __str__(self) -> str:
        share = 100.0 * self.n_retrained / max(self.n, 1)
        head = f"{'samples':>10} {'retrained':>10} {'seconds':>9} {'error':>8}"
        line = f"{self.n:>10} {share:>9.2f}% {self.seconds:>9.3g} {self.error:>8.2%}"
        rows = [f"{count:>10} {how}" for how, count in self.counts().items()]
        return "\n".join([head, line, "", *rows, "", f"{self.meaning} Time: {self.time}."])
