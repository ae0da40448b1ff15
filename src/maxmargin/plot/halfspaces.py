"""Displays of hyperplanes in the plane: several of them, distances to one, and its margin with the slacks as arrows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from sklearn.utils import check_array

from maxmargin.core import Halfspace
from maxmargin.core.products import dense_rows
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import limits_of
from maxmargin.estimators.training_data import READABLE
from maxmargin.estimators.wrapped import unwrapped
from maxmargin.plot.boundary import DecisionBoundaryDisplay, two_classes_of_a_plane
from maxmargin.plot.style import BESIDE, BLUE, CLASSES, CURVES, LINES, MARKERS, ORANGE, RED, Display, Drawing, ink
from maxmargin.typing import Floats, Indices

FEW = 25
"""Slacks from which on their numbers would cover the samples. Chosen by eye."""

SHORT, LEAST_SEEN = 0.1, 1e-3
"""Slacks up to which an arrow has no room for its number, and up to which it is not drawn: the gap of a fit leaves samples on the
margin a little off it. Chosen by eye."""


def halfspace_of(given: Any) -> Halfspace:
    """A `Halfspace`, or that of a fitted linear classifier of two features and two classes."""
    if isinstance(given, Halfspace):
        if given.w.size != 2:
            raise InvalidInputError(f"A line of the plane has two weights, this Halfspace has {given.w.size}. Use two features.")
        return given
    whole = unwrapped(given)
    coef = np.asarray(getattr(whole.machine, "coef_", np.empty((0, 0))))
    if whole.words or coef.shape != (1, 2):
        where = f"a {type(whole.machine).__name__} behind {whole.words}" if whole.words else repr(given)
        raise InvalidInputError(
            f"A line of the plane needs a Halfspace, or a fitted linear classifier of two features and two classes, got {where}. "
            "Fit a linear one on the two features themselves."
        )
    return Halfspace(coef[0], float(np.ravel(whole.machine.intercept_)[0]))


@dataclass(eq=False)
class HalfspacesDisplay(Display):
    """Several hyperplanes and the samples of two classes; around the hyperplane of largest margin a band of that width.

    Many lines separate separable classes. What tells them apart is the distance of the closest sample, the margin; it is
    negative where a sample is on the wrong side.

    Parameters
    ----------
    X : array (n, 2)
    labels : array (n,)
        The number of each sample's class.
    classes : list of str
    halfspaces : dict of str to Halfspace
    margins : dict of str to float
        The smallest y F/‖w‖ of each.
    feature_names : pair of str

    Examples
    --------
    >>> from maxmargin import Halfspace, HardMarginSVC, plot
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> lines = {"by hand": Halfspace([1.0, 0.0], b=-1.5), "widest": HardMarginSVC().fit(X, y)}
    >>> display = plot.HalfspacesDisplay.from_halfspaces(lines, X, y)
    >>> {name: round(margin, 3) for name, margin in display.margins.items()}
    {'by hand': 0.5, 'widest': 1.118}
    """

    X: Floats
    labels: Indices
    classes: list[str]
    halfspaces: dict[str, Halfspace]
    margins: dict[str, float]
    feature_names: tuple[str, str] = ("feature 0", "feature 1")
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_halfspaces(cls, halfspaces: Mapping[str, Any] | Sequence[Any], X: Any, y: Any, **drawing: Unpack[Drawing]) -> Self:
        """Draw some hyperplanes over the samples.

        Parameters
        ----------
        halfspaces : mapping of names to hyperplanes, or a sequence of them
            Each a `Halfspace` or a fitted linear classifier; without names they are numbered.
        X, y
            Samples of two features and two classes, of which the second in sorted order is on the side F > 0.
        ax, legend
            As in `plot`.
        """
        named = halfspaces if isinstance(halfspaces, Mapping) else {f"line {k}": one for k, one in enumerate(halfspaces, 1)}
        points, labels, classes, names = two_classes_of_a_plane(X, y)
        found = {str(name): halfspace_of(one) for name, one in named.items()}
        if not found:
            raise InvalidInputError("At least one hyperplane is needed, got none.")
        margins = {name: one.margin(points, np.where(labels == 1, 1, -1)) for name, one in found.items()}
        return cls(points, labels, classes, found, margins, names).plot(**drawing)

    @property
    def widest(self) -> str:
        """The name of the hyperplane of largest margin."""
        return max(self.margins, key=lambda name: self.margins[name])

    def _size(self) -> tuple[float, float]:
        return (7.6, 4.2)

    def _draw(self, ax: Any) -> None:
        low, high = limits_of(self.X, 0.15)
        others = [name for name in self.halfspaces if name != self.widest]
        for name, one in self.halfspaces.items():
            margin, is_widest = self.margins[name], name == self.widest
            k = 0 if is_widest else others.index(name)
            colour, width = (ink(), 2.2) if is_widest else (CURVES[2 + k % 4], 1.4)
            words = f"{name}: margin " + f"{margin:.3g}".replace("-", "−")
            _line(ax, one, 0.0, color=colour, lw=width, ls="-" if is_widest else LINES[1 + k % 5], label=words, zorder=2)
            if is_widest and margin > 0:
                _band(ax, one, margin / one.width, low, high)
        _samples(ax, self.X, self.labels, self.classes)
        _frame(ax, low, high, self.feature_names)


@dataclass(eq=False)
class DistanceDisplay(Display):
    """Points, the nearest point of a hyperplane to each, and the signed distance F(x)/‖w‖ between the two.

        foot of x = x − (F(x)/‖w‖²) w

    Parameters
    ----------
    halfspace : Halfspace
    X, feet : arrays (n, 2)
        The points, and the nearest point of the hyperplane to each.
    distances : array (n,)
        F(x)/‖w‖: negative on the side where F < 0.
    through : array (2,), or None
        A point p of the hyperplane. The distance of x is also the length of the projection of x − p onto w/‖w‖, whatever p is.

    Examples
    --------
    >>> from maxmargin import Halfspace, plot
    >>> display = plot.DistanceDisplay.from_halfspace(Halfspace([3.0, 4.0], b=-5.0), [[3.0, 4.0], [0.0, 0.0]])
    >>> display.distances.tolist(), display.feet[1].round(2).tolist()
    ([4.0, -1.0], [0.6, 0.8])
    """

    halfspace: Halfspace
    X: Floats
    feet: Floats
    distances: Floats
    through: Floats | None = None
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_halfspace(cls, halfspace: Any, X: Any, *, through: Any = None, **drawing: Unpack[Drawing]) -> Self:
        """Draw the distances of some points to a hyperplane.

        Parameters
        ----------
        halfspace
            A `Halfspace`, or a fitted linear classifier of two features.
        X : array (n, 2)
            The points.
        through : pair of float, optional
            Some point; what is drawn is its foot p on the hyperplane, x − p, and the projection of that.
        ax, legend
            As in `plot`.
        """
        one, points = halfspace_of(halfspace), dense_rows(check_array(X, **READABLE))
        if points.shape[1] != 2:
            raise InvalidInputError(f"Distances are drawn in the plane, got X of shape {points.shape}. Use two features.")
        base = None if through is None else one.project(np.asarray(through, dtype=np.float64).reshape(1, 2))[0]
        return cls(one, points, one.project(points), one.distance(points), base).plot(**drawing)

    def _size(self) -> tuple[float, float]:
        return (7.2, 4.2)

    def _draw(self, ax: Any) -> None:
        unit = self.halfspace.normalized().w
        origin = self.feet.mean(axis=0) if self.through is None else self.through
        size = 0.35 * float(np.abs(self.distances).max() or 1.0)
        low, high = limits_of(np.vstack([self.X, self.feet, origin[None], origin + size * unit]), 0.18)
        _line(ax, self.halfspace, 0.0, color=ink(), lw=2.0, label="F = 0", zorder=1)
        ax.annotate(
            "",
            origin + size * unit,
            origin,
            arrowprops={"arrowstyle": "-|>", "color": RED, "lw": 2.0, "shrinkA": 0, "shrinkB": 0},
        )
        ax.plot([], [], color=RED, lw=2.0, label="the direction of w")
        if self.through is not None:
            ax.plot(*origin, "D", color=RED, ms=5, label="p, a point with F(p) = 0", zorder=3)
            for x in self.X:
                ax.plot(*np.array([origin, x]).T, color="0.5", lw=0.9, ls=":", zorder=1)
            ax.plot([], [], color="0.5", lw=0.9, ls=":", label="x − p")
        corner = 0.12 * size
        along = np.array([-unit[1], unit[0]])
        for x, foot, distance in zip(self.X, self.feet, self.distances, strict=True):
            side = np.sign(distance) or 1.0
            ax.plot(*np.array([x, foot]).T, color=ORANGE if distance > 0 else BLUE, lw=1.6, ls="--", zorder=2)
            square = foot + corner * np.array([along, along + side * unit, side * unit])
            ax.plot(*square.T, color="0.5", lw=0.9, zorder=2)
            _number(ax, f"{distance:.3g}".replace("-", "−"), 0.5 * (x + foot), ink())
        for colour, marker, sign, words in ((ORANGE, "s", 1, "F > 0"), (BLUE, "o", -1, "F < 0")):
            mine = np.sign(self.distances) == sign
            if mine.any():
                ax.scatter(*self.X[mine].T, color=colour, marker=marker, s=42, label=f"x with {words}, and F(x)/‖w‖", zorder=4)
        ax.scatter(*self.feet.T, facecolor="none", edgecolor=ink(), s=34, label="its foot, the nearest point", zorder=4)
        _frame(ax, low, high, ("feature 0", "feature 1"))


@dataclass(eq=False)
class SlackDisplay(Display):
    """The margin of a linear machine with its width 1/‖w‖, and an arrow for each slack: from the sample to its line F = y.

    An arrow is ξ widths long, ξ = max(0, 1 − yF). It is shorter than one width where the sample is right, and reaches across the
    hyperplane where it is wrong. The two lines F = ±1 are the edges of the target halfspaces, H⁺ for one class and H⁻ for the
    other; a sample of slack 0 lies in the one of its class. Colours, marks and rings are those of `DecisionBoundaryDisplay`.

    Parameters
    ----------
    boundary : DecisionBoundaryDisplay
        What is drawn below the arrows.
    halfspace : Halfspace
    xi : array (n,)
        The slacks.
    tips : array (n, 2)
        Where the arrows end: x + y ξ w/‖w‖².

    Examples
    --------
    >>> from maxmargin import Halfspace, plot
    >>> X, y = [[2.0, 0.0], [0.5, 1.0], [1.0, 2.0], [-1.5, 1.0]], ["b", "b", "a", "a"]
    >>> display = plot.SlackDisplay.from_estimator(Halfspace([1.0, 0.0]), X, y)
    >>> display.xi.tolist(), display.tips[2].tolist()
    ([0.0, 0.5, 2.0, 0.0], [-1.0, 2.0])
    """

    boundary: DecisionBoundaryDisplay
    halfspace: Halfspace
    xi: Floats
    tips: Floats
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, limits: Any = None, **drawing: Unpack[Drawing]
    ) -> Self:
        """Draw a fitted linear classifier on its training data, or a `Halfspace` on any.

        Parameters
        ----------
        estimator, X, y, sample_weight, limits
            As in `DecisionBoundaryDisplay.from_estimator`; two classes, and a linear machine without steps before it.
        ax, legend
            As in `plot`.
        """
        one = halfspace_of(estimator)
        boundary = DecisionBoundaryDisplay.undrawn(estimator, X, y, sample_weight, 60, limits)
        signs = np.where(boundary.labels == 1, 1.0, -1.0)
        xi = one.slack(boundary.X, signs)
        tips = boundary.X + (signs * xi * one.width)[:, None] * one.normalized().w
        return cls(boundary, one, xi, tips).plot(**drawing)

    def _size(self) -> tuple[float, float]:
        return self.boundary._size()

    def _draw(self, ax: Any) -> None:
        self.boundary._draw(ax)
        loose = np.flatnonzero(self.xi > LEAST_SEEN)
        for j in loose:
            look = {"arrowstyle": "-|>", "color": CLASSES[self.boundary.labels[j]], "lw": 1.4, "shrinkA": 3.0, "shrinkB": 0.0}
            ax.annotate("", self.tips[j], self.boundary.X[j], arrowprops=look, zorder=7)
            if len(loose) < FEW and self.xi[j] > SHORT:
                middle, look = 0.5 * (self.tips[j] + self.boundary.X[j]), {"color": ink(), "zorder": 8, "clip_on": True}
                ax.annotate(f"{self.xi[j]:.2g}", middle, (3, 3), textcoords="offset points", fontsize=8, **look)
        if len(loose):
            ax.plot([], [], color="0.5", lw=1.4, marker=">", ms=5, label="slack ξ, in widths 1/‖w‖")
        self._measure(ax)

    def _measure(self, ax: Any) -> None:
        """A double arrow from F = 0 to F = 1, at the place of the plane that is furthest from all samples."""
        xx0, xx1 = self.boundary.xx0, self.boundary.xx1
        low, high = np.array([xx0.min(), xx1.min()]), np.array([xx0.max(), xx1.max()])
        unit, width = self.halfspace.normalized().w, self.halfspace.width
        along, middle = np.array([-unit[1], unit[0]]), self.halfspace.project((0.5 * (low + high))[None])[0]
        feet = middle + np.linspace(-0.5, 0.5, 41)[:, None] * float(np.linalg.norm(high - low)) * along
        ends = feet + width * unit
        pad = 0.04 * (high - low)
        seen = ((np.minimum(feet, ends) > low + pad) & (np.maximum(feet, ends) < high - pad)).all(axis=1)
        if seen.any():
            centres = 0.5 * (feet + ends)[seen]
            busy = np.vstack([self.boundary.X, 0.5 * (self.boundary.X + self.tips)])
            k = int(np.argmax(np.linalg.norm(centres[:, None] - busy[None], axis=2).min(axis=1)))
            look = {"arrowstyle": "<|-|>", "color": RED, "lw": 1.5, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", ends[seen][k], feet[seen][k], arrowprops=look, zorder=7)
            _number(ax, f"1/‖w‖ = {width:.3g}", centres[k], RED)


def _line(ax: Any, halfspace: Halfspace, level: float, **look: Any) -> None:
    """The line F = level, across the axes."""
    unit = halfspace.normalized()
    point = (level * halfspace.width - unit.b) * unit.w
    ax.axline(point, point + np.array([-unit.w[1], unit.w[0]]), **look)


def _number(ax: Any, words: str, at: Floats, colour: str) -> None:
    """Words beside a place, on the colour of the axes."""
    backed = {"facecolor": ax.get_facecolor(), "alpha": 0.85, "linewidth": 0, "pad": 1.0}
    ax.annotate(words, at, (6, 3), textcoords="offset points", fontsize=9, color=colour, bbox=backed, zorder=7)


def _band(ax: Any, halfspace: Halfspace, level: float, low: Floats, high: Floats) -> None:
    """The band −level ≤ F ≤ level, shaded, and its edges, dashed."""
    unit, far = halfspace.normalized(), 2.0 * float(np.linalg.norm(high - low))
    centre = halfspace.project((0.5 * (low + high))[None])[0]
    along, across = far * np.array([-unit.w[1], unit.w[0]]), level * halfspace.width * unit.w
    ax.fill(*np.array([centre + along + across, centre + along - across, centre - along - across, centre - along + across]).T,
            color=ink(), alpha=0.1, lw=0, zorder=0)  # fmt: skip
    for side in (-level, level):
        _line(ax, halfspace, side, color=ink(), lw=1.0, ls="--", zorder=1)


def _samples(ax: Any, X: Floats, labels: Indices, classes: list[str]) -> None:
    """The samples, by the colour and the mark of their class."""
    for c, name in enumerate(classes):
        look = {"s": 44, "marker": MARKERS[c], "color": CLASSES[c], "edgecolor": ink(), "linewidth": 0.6}
        ax.scatter(*X[labels == c].T, **look, label=f"class {name}", zorder=4)


def _frame(ax: Any, low: Floats, high: Floats, names: tuple[str, str]) -> None:
    """Limits, names, and equal units."""
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=names[0], ylabel=names[1], aspect="equal")
