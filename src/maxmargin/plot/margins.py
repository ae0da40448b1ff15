"""How far the samples are from the boundary: the histogram of their margins."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.analysis.margin_histogram import MarginHistogram, margin_histogram
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import anatomies
from maxmargin.plot.style import BLUE, ORANGE, RED, Display, require_matplotlib

ZONES = (
    ("wrong", "wrong: z ≤ 0", RED, "xx"),
    ("inside", "inside the margin: 0 < z < 1", ORANGE, "//"),
    ("outside", "on or outside it: z ≥ 1", BLUE, ""),
)


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
    >>> display = plot.MarginsDisplay.from_estimator(LinearSVC(C=10).fit(X, y), X, y)
    >>> int(display.histogram.outside.sum()), int(display.histogram.wrong.sum())
    (4, 0)
    """

    histogram: MarginHistogram

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        problem: int | None = None,
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw the margins of a fitted classifier's training samples.

        Parameters
        ----------
        estimator
            A fitted classifier of this library.
        X, y, sample_weight
            Its training data, in their order. Samples without weight are left out.
        problem : int, optional
            Which binary problem, in scikit-learn's order; needed where there are more than two classes.
        ax, legend
            As in `plot`.
        """
        require_matplotlib()
        parts = anatomies(estimator, X, y, sample_weight)
        if problem is None and len(parts) > 1:
            names = ", ".join(f"{k}: {part.name}" for k, part in enumerate(parts[:20]))
            raise InvalidInputError(f"Choose one of the {len(parts)} problems with problem=…: {names}.")
        part = parts[problem or 0]
        return cls.from_margins(part.margins[part.present], ax=ax, legend=legend)

    @classmethod
    def from_margins(cls, margins: ArrayLike, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw the histogram of any margins z = y F(x)."""
        require_matplotlib()
        return cls(margin_histogram(margins)).plot(ax, legend=legend)

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
        for z, style in ((0.0, "-"), (1.0, "--")):
            ax.axvline(z, color="black", lw=1.2, ls=style)
        beyond = f"\n{found.n_beyond} further out stand in the outermost bars" if found.n_beyond else ""
        ax.set(xlabel=f"z = y F(x){beyond}", ylabel="samples", xlim=(found.edges[0], found.edges[-1]))
