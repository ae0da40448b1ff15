"""The decision boundary of two features, its margin and the samples that hold it up; and what C does to all three."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from maxmargin.core import Halfspace
from maxmargin.core.certificate.parts import ABSENT, ON, OUTSIDE
from maxmargin.core.products import dense_rows
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_choice
from maxmargin.estimators.per_sample import Subject, grid_over, limits_of, strongest
from maxmargin.estimators.training_data import READABLE
from maxmargin.estimators.wrapped import unwrapped
from maxmargin.plot.style import BESIDE, CLASSES, GROUPS, MARKERS, Display, Drawing, Look, ink, require_matplotlib
from maxmargin.typing import Floats, Indices

SMALLEST, LARGEST = 16.0, 100.0
"""Areas of the marks, in points²: α = 0, and the largest α."""

MANY = 300
"""Samples from which on marks shrink, so that together they cover about as much. Chosen by eye."""

NARROW = 5.0
"""Times that one axis may be longer than the other before equal units leave too little to see. Chosen by eye."""

UPDATED = {OUTSIDE: Look("never a mistake", 0.45), ON: Look("mistakes were made here", 0.85, 0.8)}
"""Of a perceptron, whose α are counts without a bound."""


def two_classes_of_a_plane(X: Any, y: Any) -> tuple[Floats, Indices, list[str], tuple[str, str]]:
    """Points, numbers of their classes, and the names of both classes and both features."""
    points, (classes, labels) = dense_rows(check_array(X, **READABLE)), np.unique(np.asarray(y), return_inverse=True)
    if points.shape[1] != 2 or len(classes) != 2 or len(labels) != len(points):
        got = f"X of shape {points.shape}, {len(labels)} labels of {len(classes)} classes"
        raise InvalidInputError(f"This picture needs two features and a label of two classes each, got {got}.")
    first, second = map(str, getattr(X, "columns", ("feature 0", "feature 1")))
    return points, labels, [str(name) for name in classes.tolist()], (first, second)


@dataclass(eq=False)
class DecisionBoundaryDisplay(Display):
    """The line F(x) = 0, the margin −1 ≤ F(x) ≤ 1 around it, and the samples.

    A sample's colour and mark tell its class, its area its dual variable α, its edge the group of complementary slackness: none
    outside the margin (α = 0), a ring on it (0 < α < c), a thin edge inside it or where it is wrong (α = c). Samples without
    weight, and a ramp's outliers, cost nothing and are hollow. A cross marks a training error. Of more than two classes the
    regions are drawn, and of each sample the largest α and the innermost group of all problems.

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
    aspect : {"equal", "auto"}, optional
        "equal": a unit is as long on both axes, so that w is perpendicular to the hyperplane and the margin as wide as it is.
        "auto" fills the axes. By default "equal", unless one axis would be more than five times as long as the other.

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
    aspect: str | None = None
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, grid_resolution: int = 200, limits: Any = None,
        aspect: str | None = None, **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Draw a fitted classifier of two features on its training data, or a `Halfspace` on any.

        Parameters
        ----------
        estimator, X, y, sample_weight
            A fitted classifier of this library, and its training data in their order; or a `Halfspace` and samples of two
            classes, of which the second in sorted order is on its side F > 0. It takes no weights. Of a pipeline the plane is
            that of the two features of X, before any step; if X has others, that of two features behind the steps.
        grid_resolution : int
            F is computed on so many points along each axis.
        limits : ((x₀ low, x₀ high), (x₁ low, x₁ high)), optional
            What to show; by default the samples and a little more.
        aspect : {"equal", "auto"}, optional
            See above.
        ax, legend
            As in `plot`.
        """
        display = cls.undrawn(estimator, X, y, sample_weight, grid_resolution, limits)
        check_choice("aspect", aspect, (None, "equal", "auto"))
        display.aspect = aspect
        return display.plot(**drawing)

    @classmethod
    def undrawn(cls, estimator: Any, X: Any, y: Any, sample_weight: Any, grid_resolution: int, limits: Any) -> Self:
        """The display of a classifier or a `Halfspace` and samples, not drawn yet."""
        if not isinstance(estimator, Halfspace):
            return cls.of_subject(Subject(estimator, X, y, sample_weight), grid_resolution, limits)
        if sample_weight is not None:
            raise InvalidInputError("A Halfspace was trained on nothing: sample_weight must be None.")
        if len(estimator.w) != 2:
            raise InvalidInputError(f"The boundary of a Halfspace needs two features, got w of {len(estimator.w)} numbers.")
        points, labels, classes, names = two_classes_of_a_plane(X, y)
        low, high = limits_of(points) if limits is None else np.asarray(limits, dtype=np.float64).T
        xx0, xx1, rows = grid_over(low, high, grid_resolution)
        is_wrong = (estimator.decision(points) > 0) != (labels == 1)
        response = estimator.decision(rows).reshape(xx0.shape)
        return cls(xx0, xx1, response, points, labels, classes, None, None, is_wrong, names)

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
        ax.set_aspect(self.shape()[0])

    def shape(self) -> tuple[str, float]:
        """The aspect, and how much wider than high the axes are."""
        ratio = float(np.ptp(self.xx0) / np.ptp(self.xx1))
        aspect = self.aspect or ("equal" if 1.0 / NARROW <= ratio <= NARROW else "auto")
        return aspect, ratio if aspect == "equal" else 1.0

    def _size(self) -> tuple[float, float]:
        """The legend is 2.3 inches wide, ticks and labels take half an inch."""
        ratio = self.shape()[1]
        width = min(4.2, 4.2 * ratio)
        return (width + 2.8, max(width / ratio, 1.6) + 0.5)

    def _draw_margin(self, ax: Any) -> None:
        grid = (self.xx0, self.xx1, self.response)
        low, high = float(self.response.min()), float(self.response.max())
        lines = [(0.0, "-", 1.8, "F = 0")]
        if self.alpha is None or self.groups is not None:  # a perceptron has no margin to show
            lines += [(-1.0, "--", 1.2, ""), (1.0, "--", 1.2, "F = ±1: the margin")]
            if low < 1.0 and high > -1.0:
                ax.contourf(*grid, levels=[-1.0, 1.0], colors=[ink()], alpha=0.1, zorder=0)
        for level, style, width, words in lines:
            if low < level < high:
                ax.contour(*grid, levels=[level], colors=ink(), linestyles=style, linewidths=width, zorder=1)
            if words:
                ax.plot([], [], color=ink(), lw=width, ls=style, label=words)

    def _draw_regions(self, ax: Any) -> None:
        count = len(self.classes)
        shades = [CLASSES[k % len(CLASSES)] for k in range(count)]
        ax.contourf(self.xx0, self.xx1, self.response, levels=np.arange(count + 1) - 0.5, colors=shades, alpha=0.16, zorder=0)
        for k in range(count):
            is_k = (self.response == k).astype(np.float64)
            if 0.0 < is_k.mean() < 1.0:
                ax.contour(self.xx0, self.xx1, is_k, levels=[0.5], colors=ink(), linewidths=1.2, zorder=1)

    def _draw_samples(self, ax: Any) -> None:
        alpha = np.zeros(len(self.X)) if self.alpha is None else self.alpha
        shrunk = min(1.0, (MANY / len(self.X)) ** 0.75)
        area = shrunk * (SMALLEST + (LARGEST - SMALLEST) * alpha / max(float(alpha.max()), 1e-300))
        looks, groups = (UPDATED, np.where(alpha > 0, ON, OUTSIDE)) if self.groups is None else (GROUPS, self.groups)
        if self.alpha is None:
            looks = {OUTSIDE: Look("", 0.9)}
        for c, name in enumerate(self.classes):
            colour, marker = CLASSES[c % len(CLASSES)], MARKERS[c % len(MARKERS)]
            for k, look in looks.items():
                mine = np.flatnonzero((groups == k) & (self.labels == c))
                mine = mine[np.argsort(-area[mine], kind="stable")]  # small marks stay on top
                ax.scatter(
                    *self.X[mine].T, s=area[mine], marker=marker, zorder=2 + k % ABSENT, **look.drawn(colour, max(shrunk, 0.3))
                )  # fmt: skip
            ax.scatter([], [], s=34, marker=marker, color=colour, label=f"class {name}")
        ring: dict[str, Any] = {"facecolor": "none", "edgecolor": ink(), "linewidth": 1.5}
        for k, look in looks.items():
            mine = np.flatnonzero(groups == k)
            if self.alpha is not None and len(mine):
                if look.has_ring:
                    ax.scatter(*self.X[mine].T, s=2.2 * area[mine] + 40.0, zorder=5, **ring)
                ax.scatter(
                    [], [], s=70 if look.has_ring else 34, label=look.label, **ring if look.has_ring else look.drawn("0.6")
                )
        if np.any(self.is_wrong):
            wrong = self.X[self.is_wrong].T
            ax.scatter(*wrong, s=34 * shrunk, marker="x", color=ink(), linewidth=1.3 * shrunk, zorder=6, label="training error")


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
            height = 3.7 / self.panels[0].shape()[1] + 0.45
            figure = pyplot.figure(figsize=(4.2 * columns, height * rows + 0.6), layout="constrained")
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
