"""Leave-one-out, sample by sample: α against ξ, and the lemma's line between them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from maxmargin.analysis.leave_one_out import XiAlpha
from maxmargin.errors import InvalidInputError
from maxmargin.estimators import LeaveOneOut, leave_one_out
from maxmargin.plot.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, Display, require_matplotlib
from maxmargin.typing import Floats

VERDICTS = {
    "OUTSIDE": ("outside the margin", GREEN, "o"),
    "BALL": ("settled by the ball", BLUE, "s"),
    "EQUATIONS": ("settled by the equations", SKY, "^"),
    "RETRAINED": ("retrained", ORANGE, "D"),
    "TRAINING_ERROR": ("training error", RED, "X"),
    "CORRECT": ("correct, says the lemma", GREEN, "o"),
    "OPEN": ("open", ORANGE, "D"),
    "WRONG": ("training error", RED, "X"),
    "UNDECIDABLE": ("undecidable", PURPLE, "v"),
    "LAST_OF_ITS_CLASS": ("last of its class", PURPLE, "P"),
    "INTERRUPTED": ("not looked at", GREY, "."),
}
"""How each verdict is drawn, by its name in `SettledBy` or in the ξα estimate; a sample without weight is not."""


@dataclass(eq=False)
class LeaveOneOutDisplay(Display):
    """What settled each left-out sample, over its slack ξ and dual variable α.

    Below the line 2αR² + ξ = 1 the lemma of the ξα estimate says: correct without it (an estimate; a theorem about exact optima
    without a free bias). Right of ξ = 1 the sample is a training error. Of an exact optimum that is a leave-one-out error, with
    any bias: a theorem.

    Parameters
    ----------
    alpha, xi : arrays (n,)
    radius2 : float
        R² = max k(x, x).
    verdicts : array (n,) of str
        Names of `SettledBy`, or of the verdicts of a ξα estimate.
    is_error : array (n,), or None
        Which are leave-one-out errors; they are ringed.

    Examples
    --------
    >>> from maxmargin import LinearSVC, plot
    >>> X, y = [[0.0], [1.1], [1.2], [2.9], [4.0], [1.5]], ["a", "a", "a", "b", "b", "b"]
    >>> display = plot.LeaveOneOutDisplay.from_estimator(LinearSVC(C=1.0), X, y)
    >>> display.is_error.tolist(), str(display.verdicts[4])
    ([False, False, False, False, False, True], 'OUTSIDE')
    """

    alpha: Floats
    xi: Floats
    radius2: float
    verdicts: Any
    is_error: Any = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None, legend: bool = True
    ) -> Self:
        """Leave one sample out after the other, exactly, and draw what settled each; two classes.

        Parameters
        ----------
        estimator : LinearSVC, SVC or HardMarginSVC
            Fitted or not: see `maxmargin.leave_one_out`, which is run.
        X, y, sample_weight
            As in `fit`.
        ax, legend
            As in `plot`.
        """
        require_matplotlib()
        return cls.from_result(leave_one_out(estimator, X, y, sample_weight), y, ax=ax, legend=legend)

    @classmethod
    def from_result(cls, result: LeaveOneOut, y: Any, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw the result of `leave_one_out` for two classes; y are the labels that it was given."""
        require_matplotlib()
        if isinstance(result.xi_alpha, tuple):
            raise InvalidInputError(
                f"Verdicts are drawn for two classes, this result has {len(result.xi_alpha)} problems. Draw one of them "
                "with from_xi_alpha(result.xi_alpha[k])."
            )
        labels = np.asarray(y)
        if labels.shape != np.shape(result.predictions):
            raise InvalidInputError(f"y must hold {len(result.predictions)} labels, got shape {labels.shape}.")
        estimate = result.xi_alpha
        verdicts = np.array([how.name for how in result.settled_by])
        return cls(
            estimate.alpha, estimate.xi, estimate.radius2, verdicts, np.asarray(result.predictions != labels)
        ).plot(ax, legend=legend)

    @classmethod
    def from_xi_alpha(cls, estimate: XiAlpha, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw the verdicts of a ξα estimate, which retrains nothing."""
        require_matplotlib()
        verdicts = np.array([verdict.name for verdict in estimate.verdicts])
        return cls(estimate.alpha, estimate.xi, estimate.radius2, verdicts).plot(ax, legend=legend)

    def _draw(self, ax: Any) -> None:
        right = max(1.3, 1.05 * float(self.xi.max()))
        top = 1.08 * max(float(self.alpha.max()), 1e-300)
        for name, (label, colour, marker) in VERDICTS.items():
            mine = self.verdicts == name
            if mine.any():
                ax.scatter(
                    self.xi[mine], self.alpha[mine], s=24, marker=marker, color=colour, alpha=0.85, linewidth=0, zorder=3,
                    label=f"{label} ({int(mine.sum())})",
                )  # fmt: skip
        if self.is_error is not None and np.any(self.is_error):
            ax.scatter(
                self.xi[self.is_error], self.alpha[self.is_error], s=72, facecolor="none", edgecolor="black", linewidth=0.9,
                zorder=4, label=f"leave-one-out error ({int(np.sum(self.is_error))})",
            )  # fmt: skip
        if self.radius2 > 0:
            ends = np.array([0.0, 1.0])
            line = (1.0 - ends) / (2.0 * self.radius2)
            ax.plot(ends, line, color="black", lw=1.4, ls="--", label="2αR² + ξ = 1: the lemma", zorder=2)
        ax.axvline(1.0, color=GREY, lw=1.0, ls=":", label="ξ = 1: the boundary", zorder=1)
        ax.set(xlabel="slack ξ", ylabel="dual variable α", xlim=(-0.03 * right, right), ylim=(-0.04 * top, top))

    def _legend(self, ax: Any) -> None:
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
