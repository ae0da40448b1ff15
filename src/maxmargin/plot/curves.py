"""Displays of curves: the losses, the gap of a fit against time, the path of the L1 penalty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.analysis.stopped_early import stopped_early
from maxmargin.core import Loss, Trace, loss_from_name
from maxmargin.errors import InvalidInputError
from maxmargin.estimators import L1Path
from maxmargin.estimators.base import check_choice
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.multiclass.per_problem import PerProblem
from maxmargin.estimators.wrapped import unwrapped
from maxmargin.plot.style import BESIDE, BLUE, CURVES, LINES, MARKERS, RED, Display, Drawing, ink
from maxmargin.typing import Floats, Indices

FORMULAS = {
    "zero_one": "0–1: 1 if z ≤ 0",
    "hinge": "hinge: max(0, 1 − z)",
    "ramp": "ramp: min(1, max(0, 1 − z))",
    "perceptron": "perceptron: max(0, −z)",
    "squared_hinge": "squared hinge: max(0, 1 − z)²",
}
FLOOR = 1e-17
"""A gap of 0 is drawn here: a logarithm has no place for it."""

LEAST = 1e-12
"""The smallest relative gap that `GapDisplay.from_training` goes on to: beyond it rounding decides."""


@dataclass(eq=False)
class LossesDisplay(Display):
    """What a sample costs, as a function of z = yF.

    The hinge is convex and nowhere below the 0–1 loss; the squared hinge too, with smaller values inside the margin and larger
    ones for wrong samples. The ramp lies between the 0–1 loss and the hinge and is not convex. The perceptron's loss has no
    margin.

    Parameters
    ----------
    z : array (k,)
    values : dict of str to array (k,)
        ℓ(z) of each loss, by its name.

    Examples
    --------
    >>> from maxmargin import plot
    >>> display = plot.LossesDisplay.from_losses(["hinge", "ramp"])
    >>> bool((display.values["ramp"] <= display.values["hinge"]).all()), display.ax_.get_xlabel()
    (True, 'z = y F(x)')
    """

    z: Floats
    values: dict[str, Floats]
    legend_place: ClassVar = Display.legend_place | {"bbox_to_anchor": (1.0, 0.93), "loc": "upper right"}

    @classmethod
    def from_losses(
        cls, losses: Sequence[str | Loss] = tuple(FORMULAS), *, z: tuple[float, float] = (-1.6, 2.2),
        **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Draw some losses, by name or as objects, over an interval of z.

        Parameters
        ----------
        losses : sequence of str or Loss
        z : pair of float
            The ends of the interval.
        ax, legend
            As in `plot`.
        """
        grid = np.unique([*np.linspace(*z, 801), *(kink for kink in (0.0, 5e-324, 1.0) if z[0] <= kink <= z[1])])
        found = [loss_from_name(loss) for loss in losses]
        return cls(grid, {loss.name: loss.value(grid) for loss in found}).plot(**drawing)

    def _draw(self, ax: Any) -> None:
        for k, (name, values) in enumerate(self.values.items()):  # thinner and thinner, so that none hides another
            colour = ink() if name == "zero_one" else CURVES[k % len(CURVES)]
            ax.plot(
                self.z, values, color=colour, ls=LINES[k % len(LINES)], lw=max(3.4 - 0.5 * k, 1.4),
                label=FORMULAS.get(name, name),
            )  # fmt: skip
        for kink in (0.0, 1.0):
            ax.axvline(kink, color="0.6", lw=0.8, zorder=0)
        ax.set(xlabel="z = y F(x)", ylabel="loss", xlim=(self.z[0], self.z[-1]), ylim=(-0.08, 3.2))
        zones = ((-0.04, "right", "wrong"), (0.5, "center", "inside"), (1.04, "left", "outside the margin"))
        for z, side, words in zones:
            ax.text(z, 2.98, words, ha=side, fontsize=8, color="0.5", clip_on=True)


@dataclass(eq=False)
class GapDisplay(Display):
    """The relative duality gap (P − D)/max(|P|, |D|) at each certified moment of a fit, or P and D themselves.

    Each point is a proof: the model of that moment was so close to the best possible. Most solvers ask for one at their end
    only; `from_training` stops for more. Of more than two classes there is a curve for each problem, the one that ended with
    the largest gap in front. ``shows="values"`` draws that one only: the best primal value so far, the best dual value so far,
    and the band between them, in which the optimum lies.

    Parameters
    ----------
    traces : list of traces
        One for each problem, in order: points with `seconds`, `primal`, `dual` and `relative_gap`.
    tol : float or None
        The gap that was asked for.
    names : list of str or None
        Of the traces; None where they are the problems of one fit.
    shows : {"gap", "values"}
    against : {"seconds", "rounds"}
        Of the solver; compiling is not counted.

    Examples
    --------
    >>> from maxmargin import LinearSVC, plot
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> display = plot.GapDisplay.from_estimator(LinearSVC().fit(X, y))
    >>> display.ax_.get_yscale(), bool(display.gaps[0][-1] <= 1e-3)
    ('log', True)
    """

    traces: list[Trace]
    tol: float | None = None
    names: list[str] | None = None
    shows: str = "gap"
    against: str = "seconds"

    @property
    def moments(self) -> list[Floats]:
        """When each trace was certified: seconds or rounds."""
        return [np.array([at.seconds if self.against == "seconds" else at.iteration for at in trace]) for trace in self.traces]

    @property
    def gaps(self) -> list[Floats]:
        """The relative gaps at these moments."""
        return [np.array([point.relative_gap for point in trace]) for trace in self.traces]

    @property
    def worst(self) -> int:
        """The trace with the largest gap at the end."""
        return int(np.argmax([np.min(gap) for gap in self.gaps]))

    @classmethod
    def from_estimator(cls, estimator: Any, *, shows: str = "gap", **drawing: Unpack[Drawing]) -> Self:
        """Draw the trace of a fitted classifier, and the `tol` that it was asked for."""
        estimator = unwrapped(estimator).machine
        if not hasattr(estimator, "trace_"):
            check_is_fitted(estimator)
            raise InvalidInputError(f"This {type(estimator).__name__} has no trace_: it was not trained by a gap.")
        traces = estimator.trace_ if isinstance(estimator.trace_, PerProblem) else (estimator.trace_,)
        return cls(list(traces), estimator.tol, None, shows).plot(**drawing)

    @classmethod
    def from_training(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, shows: str = "values", **drawing: Unpack[Drawing]
    ) -> Self:
        """Train the problems of a fitted classifier again, stopping after 1, 2, 3, 5, … rounds, and draw what is certified there.

        X, y and the weights are its training data. SMO takes small rounds here. Cost: some four fits for each problem.
        """
        stored = stored_problems(estimator, X, y, sample_weight)
        goal = max(stored.tol or 0.0, LEAST)
        traces = [stopped_early(problem, goal) for problem, _ in stored.problems]
        return cls(traces, goal, None, shows, "rounds").plot(**drawing)

    @classmethod
    def from_traces(
        cls, traces: Mapping[str, Trace] | Sequence[Trace], *, tol: float | None = None, shows: str = "gap",
        **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Draw traces, such as those of `solvers.solve`, by their names, say of solvers; without names they are numbered."""
        named = traces if isinstance(traces, Mapping) else {f"trace {k}": trace for k, trace in enumerate(traces, 1)}
        if not named or not all(named.values()):
            raise InvalidInputError("A trace needs at least one certified moment.")
        return cls(list(named.values()), tol, list(named), shows).plot(**drawing)

    def __post_init__(self) -> None:
        check_choice("shows", self.shows, ("gap", "values"))

    def _draw(self, ax: Any) -> None:
        (self._draw_values if self.shows == "values" else self._draw_gaps)(ax)
        ax.set(xlabel=self.against)
        if self.against == "seconds":
            ax.set_xlim(left=0.0)
        else:
            ax.set_xscale("log")
        ax.grid(axis="y", color="0.5", alpha=0.2, lw=0.8)
        ax.set_axisbelow(True)

    def _draw_gaps(self, ax: Any) -> None:
        words = "relative gap" if len(self.gaps) == 1 else f"the largest of {len(self.gaps)} gaps"
        front = {"color": BLUE, "ms": 4, "lw": 1.6, "label": words, "zorder": 3}
        for k, (moments, gaps) in enumerate(zip(self.moments, self.gaps, strict=True)):
            look = front if k == self.worst else {"color": "0.7", "ms": 2.5, "lw": 0.8}
            if self.names is not None:
                look = front | {"color": CURVES[k % len(CURVES)], "ls": LINES[k % len(LINES)], "label": self.names[k]}
            shown = np.isfinite(gaps)
            ax.plot(moments[shown], np.maximum(gaps[shown], FLOOR), marker=MARKERS[k % 10 if self.names else 0], **look)
        if self.tol:
            ax.axhline(self.tol, color=ink(), lw=1.0, ls="--", label=f"tol = {self.tol:g}")
        ax.set(ylabel="relative duality gap", yscale="log")

    def _draw_values(self, ax: Any) -> None:
        values = np.array([(at.primal, at.dual) for at in self.traces[self.worst]])
        shown = np.isfinite(values).all(axis=1)
        moments, values = self.moments[self.worst][shown], values[shown]
        primal, dual = np.minimum.accumulate(values[:, 0]), np.maximum.accumulate(values[:, 1])
        ax.fill_between(moments, dual, primal, color=ink(), alpha=0.1, lw=0, label="the optimum lies here")
        look = {"lw": 1.8, "ms": 3.5, "marker": "o"}
        ax.plot(moments, primal, color=RED, label="primal value: what the model achieves", **look)
        ax.plot(moments, dual, color=BLUE, ls="--", label="dual value: what no model can beat", **look)
        which = "" if len(self.traces) == 1 else f" of {self.names[self.worst] if self.names else 'the largest gap'}"
        ax.set(ylabel=f"objective{which}")


@dataclass(eq=False)
class L1PathDisplay(Display):
    """The weights of a sparse linear machine over C, from the first feature on.

        min ‖w‖₁ + C Σ_j ξ_j

    The features that enter first are drawn in colours and named, the others in grey.

    Parameters
    ----------
    Cs : array (k,)
    coef : array (k, d)
    order : index array
        The features with a weight, in the order in which they enter.
    names : list of str
        Of the first of them, which are drawn in colours.

    Examples
    --------
    >>> from maxmargin import l1_path, plot
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], [0, 0, 1, 1]
    >>> display = plot.L1PathDisplay.from_path(l1_path(X, y, Cs=[0.2, 0.3, 10.0]), feature_names=["income", "age"])
    >>> display.names[0], display.ax_.get_xscale()
    ('income', 'log')
    """

    Cs: Floats
    coef: Floats
    order: Indices
    names: list[str]
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_path(
        cls, path: L1Path, *, feature_names: Sequence[str] | None = None, n_named: int = 6, **drawing: Unpack[Drawing]
    ) -> Self:
        """Draw the result of `l1_path`.

        Parameters
        ----------
        path : L1Path
        feature_names : sequence of str, optional
            A name for each feature; by default their numbers.
        n_named : int
            How many of the features that enter first are drawn in colours.
        ax, legend
            As in `plot`.
        """
        d = path.coef.shape[1]
        if feature_names is not None and len(feature_names) != d:
            raise InvalidInputError(f"{d} feature names are needed, got {len(feature_names)}.")
        named = path.entry_order[: max(int(n_named), 0)].tolist()
        names = [f"feature {j}" if feature_names is None else str(feature_names[j]) for j in named]
        return cls(path.Cs, path.coef, path.entry_order, names).plot(**drawing)

    def _draw(self, ax: Any) -> None:
        for k, (j, name) in enumerate(zip(self.order, self.names, strict=False)):
            colour, style = CURVES[k % len(CURVES)], LINES[(k // len(CURVES) + k) % len(LINES)]
            ax.plot(self.Cs, self.coef[:, j], color=colour, ls=style, lw=2.0, label=name, zorder=2)
        others = self.order[len(self.names) :]
        if len(others):
            first, *_ = ax.plot(self.Cs, self.coef[:, others], color="0.75", lw=0.8, zorder=1)
            first.set_label(f"{len(others)} more features")
        ax.axhline(0.0, color=ink(), lw=0.8, zorder=0)
        ax.set(xscale="log", xlabel="C", ylabel="weight", xlim=(self.Cs[0], self.Cs[-1]))
