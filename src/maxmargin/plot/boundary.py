"""The decision boundary of two features, its margin and the samples that hold it up; and what C does to all three."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from sklearn.base import clone

from maxmargin.core.certificate.parts import ABSENT, ON, OUTSIDE
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import Subject, limits_of, strongest
from maxmargin.estimators.wrapped import unwrapped
from maxmargin.plot.style import BESIDE, BLUE, GREY, GROUPS, MARKERS, Display, Drawing, Look, require_matplotlib
from maxmargin.typing import Floats, Indices

SMALLEST, LARGEST = 16.0, 100.0
"""Areas of the marks, in points²: α = 0, and the largest α."""

UPDATED = {OUTSIDE: Look("never a mistake", "white", GREY), ON: Look("mistakes were made here", BLUE, "black")}
"""Of a perceptron, whose α are counts without a bound."""


@dataclass(eq=False)
class DecisionBoundaryDisplay(Display):
    """The line F(x) = 0, the margin −1 ≤ F(x) ≤ 1 around it, and the samples.

    A sample's mark tells its class, its area its dual variable α, its colour the group of complementary slackness: outside the
    margin (α = 0), on it (0 < α < c), inside it or wrong (α = c). Samples without weight, and a ramp's outliers, cost nothing
    and are grey. A cross marks a training error. Of more than two classes the regions are drawn, and of each sample the largest α
    and the innermost group of all problems.

    Parameters
    ----------
    xx0, xx1 : arrays (r, r)
        The grid.
    response : array (r, r)
        F on the grid; the number of the predicted class where there are more than two.
    X : array (n, 2)
    labels : array (n,)
        The number of each sample's class.
    classes : list of str
    alpha, groups : arrays (n,), or None
        Dual variables and `core.certificate` groups; None where a model has none.
    is_wrong : array (n,)
    feature_names : pair of str

    Examples
    --------
    >>> from maxmargin import SVC, plot
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> display = plot.DecisionBoundaryDisplay.from_estimator(SVC(kernel="linear", C=10).fit(X, y), X, y)
    >>> display.ax_.get_xlabel(), display.alpha.round(3).tolist()
    ('feature 0', [0.0, 0.4, 0.4, 0.0])
    """

    xx0: Floats
    xx1: Floats
    response: Floats
    X: Floats
    labels: Indices
    classes: list[str]
    alpha: Floats | None
    groups: Indices | None
    is_wrong: Any
    feature_names: tuple[str, str] = ("feature 0", "feature 1")
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, grid_resolution: int = 200, limits: Any = None,
        **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Draw a fitted classifier of two features on its training data.

        Parameters
        ----------
        estimator, X, y, sample_weight
            A fitted classifier of this library, and its training data in their order. Of a pipeline the plane is that of the
            two features of X, before any step; if X has others, that of two features behind the steps.
        grid_resolution : int
            F is computed on so many points along each axis.
        limits : ((x₀ low, x₀ high), (x₁ low, x₁ high)), optional
            What to show; by default the samples and a little more.
        ax, legend
            As in `plot`.
        """
        return cls.of_subject(Subject(estimator, X, y, sample_weight), grid_resolution, limits).plot(**drawing)

    @classmethod
    def of_subject(cls, subject: Subject, grid_resolution: int, limits: Any = None) -> Self:
        """The display of a model and its data, not drawn yet."""
        plane = subject.plane
        if plane is None:
            raise InvalidInputError(
                f"A boundary needs two features, got X of shape {subject.X.shape}; maxmargin.report projects."
            )
        low, high = limits_of(plane.points) if limits is None else np.asarray(limits, dtype=np.float64).T
        grid, drawn = plane.response(low, high, grid_resolution), strongest(subject.parts, subject.n)
        return cls(*grid, plane.points, subject.labels, subject.classes, *drawn, subject.is_wrong, plane.names)

    def _draw(self, ax: Any) -> None:
        if len(self.classes) == 2:
            self._draw_margin(ax)
        else:
            self._draw_regions(ax)
        self._draw_samples(ax)
        wide, high = (self.xx0.min(), self.xx0.max()), (self.xx1.min(), self.xx1.max())
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1], xlim=wide, ylim=high)

    def _draw_margin(self, ax: Any) -> None:
        grid = (self.xx0, self.xx1, self.response)
        low, high = float(self.response.min()), float(self.response.max())
        lines = [(0.0, "-", 1.8, "F = 0")]
        if self.alpha is None or self.groups is not None:  # a perceptron has no margin to show
            lines += [(-1.0, "--", 1.2, ""), (1.0, "--", 1.2, "F = ±1: the margin")]
            if low < 1.0 and high > -1.0:
                ax.contourf(*grid, levels=[-1.0, 1.0], colors=["0.92"], zorder=0)
        for level, style, width, words in lines:
            if low < level < high:
                ax.contour(*grid, levels=[level], colors="black", linestyles=style, linewidths=width, zorder=1)
            if words:
                ax.plot([], [], color="black", lw=width, ls=style, label=words)

    def _draw_regions(self, ax: Any) -> None:
        count = len(self.classes)
        shades = [str(shade) for shade in np.linspace(0.98, 0.84, count)]
        ax.contourf(self.xx0, self.xx1, self.response, levels=np.arange(count + 1) - 0.5, colors=shades, zorder=0)
        for k in range(count):
            is_k = (self.response == k).astype(np.float64)
            if 0.0 < is_k.mean() < 1.0:
                ax.contour(self.xx0, self.xx1, is_k, levels=[0.5], colors="black", linewidths=1.2, zorder=1)

    def _draw_samples(self, ax: Any) -> None:
        alpha = np.zeros(len(self.X)) if self.alpha is None else self.alpha
        area = SMALLEST + (LARGEST - SMALLEST) * alpha / max(float(alpha.max()), 1e-300)
        looks, groups = (UPDATED, np.where(alpha > 0, ON, OUTSIDE)) if self.groups is None else (GROUPS, self.groups)
        for c, name in enumerate(self.classes):
            marker = MARKERS[c % len(MARKERS)]
            for k, look in looks.items():
                mine = np.flatnonzero((groups == k) & (self.labels == c))
                mine = mine[np.argsort(-area[mine], kind="stable")]  # small marks stay on top
                ax.scatter(
                    *self.X[mine].T, s=area[mine], marker=marker, facecolor=look.face, edgecolor=look.edge, linewidth=0.8,
                    alpha=0.9, zorder=2 + k % ABSENT,
                )  # fmt: skip
            ax.scatter([], [], s=30, marker=marker, facecolor="white", edgecolor="black", label=f"class {name}")
        for k, look in looks.items():
            if self.alpha is not None and (groups == k).any():
                ax.plot([], [], ls="", marker="h", ms=7, mfc=look.face, mec=look.edge, mew=0.8, label=look.label)
        if np.any(self.is_wrong):
            wrong = self.X[self.is_wrong].T
            ax.scatter(*wrong, s=34, marker="x", color="black", linewidth=1.3, zorder=6, label="training error")


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

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, Cs: Sequence[float] = (0.01, 0.1, 1.0, 100.0), sample_weight: Any = None,
        grid_resolution: int = 150, **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Fit a copy of a classifier with each C and draw them all; two features, two classes.

        Parameters
        ----------
        estimator : LinearSVC, SVC or PegasosSVC
            Fitted or not: it is copied. A Pipeline that ends in one is fitted as a whole.
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
            raise InvalidInputError(f"The effect of C needs two classes and at least one C, got {n_classes} and {len(Cs)}.")
        whole = unwrapped(estimator)
        copies = (unwrapped(clone(whole.outer).set_params(**{f"{whole.path}C": C})) for C in Cs)
        models = [copy.fit(X, y, sample_weight) for copy in copies]
        subjects = [Subject(model, X, y, sample_weight) for model in models]
        panels = [DecisionBoundaryDisplay.of_subject(subject, grid_resolution) for subject in subjects]
        norms = np.array([subject.parts[0].norm for subject in subjects])
        margins = np.divide(1.0, norms, out=np.full(len(norms), np.inf), where=norms > 0)
        n_support = np.array([len(subject.estimator.support_) for subject in subjects])
        return cls(np.asarray(Cs, dtype=np.float64), panels, margins, n_support).plot(**drawing)

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
            figure = pyplot.figure(figsize=(4.2 * columns, 3.3 * rows + 0.6), layout="constrained")
            ax = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
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
            place = {"loc": "outside lower center", "ncols": 3, "fontsize": 8, "frameon": False}
            self.figure_.legend(explained.values(), explained.keys(), **place)
        return self
