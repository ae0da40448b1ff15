"""The decision boundary of two features, its margin, and the samples that hold it up."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import scipy.sparse as sp

from maxmargin.core.certificate.parts import ABSENT, ON, OUTSIDE
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import Anatomy, anatomies, strongest
from maxmargin.plot.style import BESIDE, BLUE, GREY, GROUPS, MARKERS, Display, Drawing, Look
from maxmargin.typing import Floats, Indices

SMALLEST, LARGEST = 16.0, 100.0
"""Areas of the marks, in points²: α = 0, and the largest α."""

UPDATED = {
    OUTSIDE: Look("never a mistake", "white", GREY),
    ON: Look("mistakes were made here", BLUE, "black"),
}
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
            A fitted classifier of this library, and its training data in their order.
        grid_resolution : int
            F is computed on so many points along each axis.
        limits : ((x₀ low, x₀ high), (x₁ low, x₁ high)), optional
            What to show; by default the samples and a little more.
        ax, legend
            As in `plot`.
        """
        parts = anatomies(estimator, X, y, sample_weight)
        return cls.of_anatomies(estimator, X, y, parts, grid_resolution, limits).plot(**drawing)

    @classmethod
    def of_anatomies(
        cls, estimator: Any, X: Any, y: Any, parts: list[Anatomy], grid_resolution: int, limits: Any = None
    ) -> Self:
        """The display of a model whose anatomies are known, not drawn yet."""
        points = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise InvalidInputError(
                f"A boundary is drawn for two features, got X of shape {points.shape}. Choose two of them, or see "
                "maxmargin.report, which projects."
            )
        low, high = limits_of(points) if limits is None else np.asarray(limits, dtype=np.float64).T
        xx0, xx1 = np.meshgrid(*np.linspace(low, high, grid_resolution).T)
        grid: Any = np.column_stack([xx0.ravel(), xx1.ravel()])
        if hasattr(X, "columns"):  # the model was trained with names
            grid = type(X)({name: grid[:, k] for k, name in enumerate(X.columns)})
        classes = estimator.classes_
        response = (
            estimator.decision_function(grid)
            if len(classes) == 2
            else np.searchsorted(classes, estimator.predict(grid))
        )
        alpha, groups = strongest(parts, len(points))
        names = getattr(estimator, "feature_names_in_", ("feature 0", "feature 1"))
        return cls(
            xx0=xx0,
            xx1=xx1,
            response=np.asarray(response, dtype=np.float64).reshape(xx0.shape),
            X=points,
            labels=np.searchsorted(classes, np.asarray(y)),
            classes=[str(name) for name in classes.tolist()],
            alpha=alpha,
            groups=groups,
            is_wrong=np.asarray(estimator.predict(X)) != np.asarray(y),
            feature_names=(str(names[0]), str(names[1])),
        )

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


def limits_of(points: Floats, pad: float = 0.08) -> tuple[Floats, Floats]:
    """(low, high) of both axes: the samples and a little more; an axis on which nothing differs gets ±1."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), np.where(high > low, (0.5 + pad) * (high - low), 1.0)
    return middle - half, middle + half
