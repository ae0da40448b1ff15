"""Displays of the training samples: the histogram of their margins, and what settled each when it was left out."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.analysis.leave_one_out import XiAlpha
from maxmargin.analysis.margin_histogram import MarginHistogram, margin_histogram
from maxmargin.errors import InvalidInputError
from maxmargin.estimators import LeaveOneOut, leave_one_out
from maxmargin.estimators.per_sample import anatomies
from maxmargin.plot import style
from maxmargin.plot.style import Display, Drawing, require_matplotlib
from maxmargin.typing import Floats

ZONES = (
    ("wrong", "wrong: z ≤ 0", style.RED, "xx"),
    ("inside", "inside the margin: 0 < z < 1", style.ORANGE, "//"),
    ("outside", "on or outside it: z ≥ 1", style.BLUE, ""),
)
VERDICTS = {
    "OUTSIDE": ("outside the margin", style.GREEN, "o"),
    "BALL": ("settled by the ball", style.BLUE, "s"),
    "EQUATIONS": ("settled by the equations", style.SKY, "^"),
    "RETRAINED": ("retrained", style.ORANGE, "D"),
    "TRAINING_ERROR": ("training error", style.RED, "X"),
    "CORRECT": ("correct, says the lemma", style.GREEN, "o"),
    "OPEN": ("open", style.ORANGE, "D"),
    "WRONG": ("training error", style.RED, "X"),
    "UNDECIDABLE": ("undecidable", style.PURPLE, "v"),
    "LAST_OF_ITS_CLASS": ("last of its class", style.PURPLE, "P"),
    "INTERRUPTED": ("not looked at", style.GREY, "."),
}
"""How each verdict is drawn, by its name in `SettledBy` or in the ξα estimate; a sample without weight is not."""


@dataclass(eq=False)
class MarginsDisplay(Display):
    """The histogram of z = y F(x): 0 is the boundary, 1 the margin.

    Parameters
    ----------
    histogram : MarginHistogram
        Edges of the bins, and counts of the samples that are wrong, inside the margin and outside.

    Examples
    --------
    >>> from maxmargin import LinearSVC, plot
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> display = plot.MarginsDisplay.from_estimator(LinearSVC(C=10, tol=1e-9).fit(X, y), X, y)
    >>> int(display.histogram.outside.sum()), int(display.histogram.wrong.sum())
    (4, 0)
    """

    histogram: MarginHistogram

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, problem: int | None = None,
        **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Draw the margins of a fitted classifier's training samples.

        Parameters
        ----------
        estimator, X, y, sample_weight
            A fitted classifier of this library, and its training data in their order. Samples without weight are left out.
        problem : int, optional
            Which binary problem, in scikit-learn's order; needed where there are more than two classes.
        ax, legend
            As in `plot`.
        """
        parts = anatomies(estimator, X, y, sample_weight)
        if problem is None and len(parts) > 1:
            names = ", ".join(f"{k}: {part.name}" for k, part in enumerate(parts[:20]))
            raise InvalidInputError(f"Choose one of the {len(parts)} problems with problem=…: {names}.")
        part = parts[problem or 0]
        return cls.from_margins(part.margins[part.present], **drawing)

    @classmethod
    def from_margins(cls, margins: ArrayLike, **drawing: Unpack[Drawing]) -> Self:
        """Draw the histogram of any margins z = y F(x)."""
        return cls(margin_histogram(margins)).plot(**drawing)

    def _draw(self, ax: Any) -> None:
        found, below = self.histogram, np.zeros(len(self.histogram.edges) - 1)
        for zone, label, colour, hatch in ZONES:
            counts = getattr(found, zone)
            if counts.any():
                ax.bar(
                    found.edges[:-1], counts, width=np.diff(found.edges), bottom=below, align="edge", color=colour,
                    edgecolor="white", linewidth=0.6, hatch=hatch, label=f"{label} ({int(counts.sum())})",
                )  # fmt: skip
            below = below + counts
        for z, line in ((0.0, "-"), (1.0, "--")):
            ax.axvline(z, color=style.ink(), lw=1.2, ls=line)
        beyond = f"\n{found.n_beyond} further out stand in the outermost bars" if found.n_beyond else ""
        ax.set(xlabel=f"z = y F(x){beyond}", ylabel="samples", xlim=(found.edges[0], found.edges[-1]))


@dataclass(eq=False)
class LeaveOneOutDisplay(Display):
    """What settled each left-out sample, over its slack ξ and dual variable α.

    The lemma of Joachims: a sample that is wrong without itself has 2αR² + ξ ≥ 1. So those in the shaded corner, below that line,
    are correct without themselves (a theorem about exact optima without a free bias; with one it is an estimate). Right of ξ = 1
    the sample is a training error. Of an exact optimum that is a leave-one-out error, with any bias: a theorem. Where many
    samples lie on one point, most often α = ξ = 0, their number stands beside it.

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
    legend_place: ClassVar[dict[str, Any]] = style.BESIDE
    legend_inside: ClassVar[str] = "center right"  # between α = 0 and α = c all slacks of the hinge are 0

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, **drawing: Unpack[Drawing]) -> Self:
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
        return cls.from_result(leave_one_out(estimator, X, y, sample_weight), y, **drawing)

    @classmethod
    def from_result(cls, result: LeaveOneOut, y: Any, **drawing: Unpack[Drawing]) -> Self:
        """Draw the result of `leave_one_out` for two classes; y are the labels that it was given."""
        if isinstance(result.xi_alpha, tuple):
            several = f"this result has {len(result.xi_alpha)} problems. Draw one with from_xi_alpha(result.xi_alpha[k])."
            raise InvalidInputError(f"Verdicts are drawn for two classes, {several}")
        labels = np.asarray(y)
        if labels.shape != np.shape(result.predictions):
            raise InvalidInputError(f"y must hold {len(result.predictions)} labels, got shape {labels.shape}.")
        estimate, is_error = result.xi_alpha, np.asarray(result.predictions != labels)
        verdicts = np.array([how.name for how in result.settled_by])
        return cls(estimate.alpha, estimate.xi, estimate.radius2, verdicts, is_error).plot(**drawing)

    @classmethod
    def from_xi_alpha(cls, estimate: XiAlpha, **drawing: Unpack[Drawing]) -> Self:
        """Draw the verdicts of a ξα estimate, which retrains nothing."""
        verdicts = np.array([verdict.name for verdict in estimate.verdicts])
        return cls(estimate.alpha, estimate.xi, estimate.radius2, verdicts).plot(**drawing)

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
                self.xi[self.is_error], self.alpha[self.is_error], s=72, facecolor="none", edgecolor=style.ink(), linewidth=0.9,
                zorder=4, label=f"leave-one-out error ({int(np.sum(self.is_error))})",
            )  # fmt: skip
        if self.radius2 > 0:
            ends = np.array([0.0, 1.0])
            line = (1.0 - ends) / (2.0 * self.radius2)
            words = "2αR² + ξ = 1; below it the lemma\nsays: correct without itself"
            ax.plot(ends, line, color=style.ink(), lw=1.4, ls="--", label=words, zorder=2)
            ax.fill_between(ends, line, color=style.ink(), alpha=0.07, lw=0, zorder=0)
        ax.axvline(1.0, color=style.GREY, lw=1.0, ls=":", label="ξ = 1: right of it training errors", zorder=1)
        self._count(ax, right, top)
        ax.set(xlabel="slack ξ", ylabel="dual variable α", xlim=(-0.03 * right, right), ylim=(-0.04 * top, top))

    def _count(self, ax: Any, right: float, top: float) -> None:
        """Say how many samples share a place that holds a tenth of them, or more."""
        drawn = np.isin(self.verdicts, list(VERDICTS))
        points = np.column_stack([self.xi, self.alpha])[drawn]
        _, where, counts = np.unique(np.round(50 * points / [right, top]), axis=0, return_inverse=True, return_counts=True)
        for k in np.flatnonzero(counts >= max(2, 0.1 * len(points))):
            at = tuple(points[where.ravel() == k].mean(axis=0))
            backed = {"facecolor": ax.get_facecolor(), "alpha": 0.85, "linewidth": 0, "pad": 1.5}
            ax.annotate(f"{counts[k]} samples here", at, (10, 8), textcoords="offset points", fontsize=8, bbox=backed, zorder=5)
