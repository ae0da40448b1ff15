"""What C does: the same data with a narrow and a wide margin, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, Unpack

import numpy as np
from sklearn.base import clone

from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import anatomies
from maxmargin.plot.boundary import DecisionBoundaryDisplay
from maxmargin.plot.style import Drawing, require_matplotlib
from maxmargin.typing import Floats


@dataclass(eq=False)
class CostEffectDisplay:
    """One panel for each C: a small one buys a wide margin with slacks, a large one buys few slacks with a narrow margin.

        min ½‖w‖² + C Σ_j ξ_j,        half the width of the street: 1/‖w‖

    The areas of the marks compare α/C within each panel: at their bound all are as large.

    Parameters
    ----------
    Cs : array (k,)
    panels : list of DecisionBoundaryDisplay
    margins : array (k,)
        1/‖w‖ for each C.
    n_support : array (k,) of int

    Attributes
    ----------
    axes_, figure_
        What was drawn on: one axes for each C, in rows.

    Examples
    --------
    >>> from maxmargin import SVC, plot
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> display = plot.CostEffectDisplay.from_estimator(SVC(kernel="linear"), X, y, Cs=[0.01, 1.0])
    >>> bool(display.margins[0] > display.margins[1]), display.axes_.shape
    (True, (1, 2))
    """

    Cs: Floats
    panels: list[DecisionBoundaryDisplay]
    margins: Floats
    n_support: Any
    axes_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, Cs: Sequence[float] = (0.01, 0.1, 1.0, 100.0), sample_weight: Any = None,
        grid_resolution: int = 150, **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Fit a copy of a classifier with each C and draw them all; two features, two classes.

        Parameters
        ----------
        estimator : LinearSVC, SVC or PegasosSVC
            Fitted or not: it is copied.
        X, y, sample_weight
            As in `fit`.
        Cs : sequence of float
        grid_resolution : int
            F is computed on so many points along each axis.
        ax, legend
            As in `plot`.
        """
        require_matplotlib()
        n_classes = len(np.unique(np.asarray(y)))
        if len(Cs) == 0 or n_classes != 2:
            raise InvalidInputError(
                f"The effect of C is drawn for two classes and at least one C, got {n_classes} classes and {len(Cs)} values."
            )
        panels, margins, n_support = [], [], []
        for C in Cs:
            model = clone(estimator).set_params(C=C).fit(X, y, sample_weight)
            parts = anatomies(model, X, y, sample_weight)
            panels.append(DecisionBoundaryDisplay.of_anatomies(model, X, y, parts, grid_resolution))
            margins.append(1.0 / parts[0].norm if parts[0].norm else np.inf)
            n_support.append(0 if parts[0].alpha is None else np.count_nonzero(parts[0].alpha))
        return cls(np.asarray(Cs, dtype=np.float64), panels, np.array(margins), np.array(n_support)).plot(**drawing)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw the panels, two in a row.

        Parameters
        ----------
        ax : array of matplotlib Axes, optional
            As many as there are C; by default a new figure.
        legend : bool
            Whether to explain the marks, below all panels.
        """
        require_matplotlib()
        k = len(self.Cs)
        if ax is None:
            from matplotlib import pyplot

            columns, rows = min(k, 2), -(-k // 2)
            _, ax = pyplot.subplots(
                rows, columns, figsize=(4.2 * columns, 3.3 * rows + 0.6), sharex=True, sharey=True, squeeze=False,
                layout="constrained",
            )  # fmt: skip
            for spare in ax.ravel()[k:]:
                spare.set_visible(False)
        elif np.size(ax) != k:
            raise InvalidInputError(f"{k} axes are needed, one for each C, got {np.size(ax)}.")
        self.axes_ = np.asarray(ax, dtype=object)
        used = self.axes_.ravel()[:k]
        self.figure_ = used[0].figure
        explained: dict[str, Any] = {}
        for panel, one, C, margin, count in zip(self.panels, used, self.Cs, self.margins, self.n_support, strict=True):
            panel.plot(one, legend=False)
            one.set_title(f"C = {C:g}: margin {margin:.2g}, {count} support vectors", fontsize=9)
            one.label_outer()
            explained |= dict(zip(*reversed(one.get_legend_handles_labels()), strict=True))
        if legend:
            self.figure_.legend(
                explained.values(), explained.keys(), loc="outside lower center", ncols=3, fontsize=8, frameon=False
            )
        return self
