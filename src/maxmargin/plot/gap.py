"""How the proof grew: the certified gap against time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import Trace
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.multiclass.per_problem import PerProblem
from maxmargin.plot.style import BLACK, BLUE, Display, require_matplotlib
from maxmargin.typing import Floats

FLOOR = 1e-17
"""A gap of 0 is drawn here: a logarithm has no place for it."""


@dataclass(eq=False)
class GapDisplay(Display):
    """The relative duality gap (P − D)/max(|P|, |D|) at each certified moment of a fit.

    Each point is a proof: the model of that moment was so close to the best possible. Of more than two classes there is a curve
    for each problem, the one that ended with the largest gap in front.

    Parameters
    ----------
    seconds, gaps : lists of arrays
        One for each problem, in order.
    worst : int
        The problem with the largest gap at the end.
    tol : float or None
        The gap that was asked for.

    Examples
    --------
    >>> from maxmargin import LinearSVC, plot
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> display = plot.GapDisplay.from_estimator(LinearSVC().fit(X, y))
    >>> display.ax_.get_yscale(), bool(display.gaps[0][-1] <= 1e-3)
    ('log', True)
    """

    seconds: list[Floats]
    gaps: list[Floats]
    worst: int = 0
    tol: float | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw the trace of a fitted classifier, and the `tol` that it was asked for."""
        require_matplotlib()
        if not hasattr(estimator, "trace_"):
            check_is_fitted(estimator)
            raise InvalidInputError(f"This {type(estimator).__name__} has no trace_: it was not trained by a gap.")
        traces = estimator.trace_ if isinstance(estimator.trace_, PerProblem) else (estimator.trace_,)
        return cls.from_traces(traces, tol=estimator.tol, ax=ax, legend=legend)

    @classmethod
    def from_traces(
        cls, traces: Sequence[Trace], *, tol: float | None = None, ax: Any = None, legend: bool = True
    ) -> Self:
        """Draw traces: sequences of points with `seconds` and `relative_gap`, such as those of `solvers.solve`."""
        require_matplotlib()
        if not traces or not all(traces):
            raise InvalidInputError("A trace needs at least one certified moment.")
        seconds = [np.array([point.seconds for point in trace]) for trace in traces]
        gaps = [np.array([point.relative_gap for point in trace]) for trace in traces]
        worst = int(np.argmax([np.min(gap) for gap in gaps]))
        return cls(seconds, gaps, worst, tol).plot(ax, legend=legend)

    def _draw(self, ax: Any) -> None:
        for k in sorted(range(len(self.gaps)), key=lambda k: k == self.worst):
            is_worst = k == self.worst
            shown = np.isfinite(self.gaps[k])
            label = None
            if is_worst:
                label = "relative gap" if len(self.gaps) == 1 else f"the largest of {len(self.gaps)} problems"
            ax.plot(
                self.seconds[k][shown], np.maximum(self.gaps[k][shown], FLOOR), marker="o", ms=4 if is_worst else 2.5,
                lw=1.6 if is_worst else 0.8, color=BLUE if is_worst else "0.7", label=label,
            )  # fmt: skip
        if self.tol:
            ax.axhline(self.tol, color=BLACK, lw=1.0, ls="--", label=f"tol = {self.tol:g}")
        drawn = np.concatenate([np.maximum(gap[np.isfinite(gap)], FLOOR) for gap in self.gaps] + [[self.tol or 1e-16]])
        low, high = 10.0 ** np.floor(np.log10(drawn.min()) - 0.2), 10.0 ** np.ceil(np.log10(drawn.max()) + 0.1)
        ax.set(xlabel="seconds", ylabel="relative duality gap", yscale="log", ylim=(low, high))
        ax.set_xlim(left=0.0)
        ax.grid(axis="y", color="0.92", lw=0.8)
        ax.set_axisbelow(True)
