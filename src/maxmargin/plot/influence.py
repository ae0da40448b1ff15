"""Displays of what one sample does to the boundary: the machine with it and without it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, Unpack

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from maxmargin.core.certificate.parts import INSIDE, ON, OUTSIDE
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import Anatomy, Subject
from maxmargin.plot.boundary import DecisionBoundaryDisplay
from maxmargin.plot.style import RED, Drawing, require_matplotlib
from maxmargin.typing import Floats, Indices

TOL = 1e-9
"""Relative gap of the fits: what is drawn are decision values near 1, of the optimum."""


@dataclass(eq=False)
class InfluenceDisplay:
    """What happens to the boundary when one sample is left out: a panel for each of some samples.

    The machine of all samples is drawn as by `DecisionBoundaryDisplay`, the boundary without the sample in red and dashed. By
    default there is a panel for each group of samples that occurs:

    1. α = 0. No support vector: nothing moves.
    2. 0 < α < c. On the margin: ξ = 0, and the influence of the sample is α.
    3. α = c and ξ ≤ 1. Inside the margin, with a small training error.
    4. ξ > 1. A training error stays an error.

    The titles number the first three "Case 1" to "Case 3", as the lecture does. Its cases 2 and 3 also ask for 2αR² + ξ < 1
    (`theory.InfluenceCase`); the groups do not, and `lemma` has that number.

    Parameters
    ----------
    samples : array (k,)
        Which samples are left out, one in each panel.
    panels : list of DecisionBoundaryDisplay
    without : list of arrays (r, r)
        F of the machine without the sample, on the panel's grid.
    before, after : arrays (k,)
        y F of the sample, with and without it in the training set.
    alpha, xi, lemma : arrays (k,)
        Its dual variable, its slack, and 2αR² + ξ, R² the largest k(x, x).
    titles : list of str

    Attributes
    ----------
    axes_, figure_
        What was drawn on: one axes for each sample, in rows.

    Examples
    --------
    >>> from maxmargin import LinearSVC, plot
    >>> X = [[0.0, 0.0], [1.0, 0.2], [1.2, 1.0], [2.9, 1.0], [4.0, 0.0], [3.2, 2.0]]
    >>> display = plot.InfluenceDisplay.from_estimator(LinearSVC(C=1.0), X, ["a", "a", "a", "b", "b", "b"])
    >>> display.titles[0], bool(display.before[0] == display.after[0].round(6) or display.alpha[0] == 0)
    ('Case 1: no support vector', True)
    """

    samples: Indices
    panels: list[DecisionBoundaryDisplay]
    without: list[Floats]
    before: Floats
    after: Floats
    alpha: Floats
    xi: Floats
    lemma: Floats
    titles: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, samples: Sequence[int] | None = None, grid_resolution: int = 120,
        limits: Any = None, **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Fit a classifier with all samples and without each of some; two features, two classes.

        Parameters
        ----------
        estimator : LinearSVC, SVC or HardMarginSVC
            Fitted or not: it is copied, and trained to a small gap. Costs and the kernel's parameters are those of all samples.
        X, y
            As in `fit`.
        samples : sequence of int, optional
            Which samples to leave out; by default one of each group that occurs.
        grid_resolution, limits
            As in `DecisionBoundaryDisplay.from_estimator`.
        ax, legend
            As in `plot`.
        """
        require_matplotlib()
        labels = np.asarray(y)
        if len(np.unique(labels)) != 2:
            raise InvalidInputError(f"Influence is drawn for two classes, got {len(np.unique(labels))}.")
        model = clone(estimator).set_params(tol=TOL).fit(X, labels)
        subject = Subject(model, X, labels)
        part = subject.parts[0]
        if part.problem is None or part.groups is None or subject.plane is None or subject.steps:
            raise InvalidInputError("Influence needs a machine with an objective, of two features and without steps before it.")
        chosen = _one_of_each_case(part) if samples is None else [int(i) for i in samples]
        panel = DecisionBoundaryDisplay.of_subject(subject, grid_resolution, limits)
        grid = np.column_stack([panel.xx0.ravel(), panel.xx1.ravel()])
        left_out = [_without(model, part, i, X, labels) for i in chosen]
        without = [one.decision_function(grid).reshape(panel.xx0.shape) for one in left_out]
        own = [float(one.decision_function(_safe_indexing(X, [i]))[0]) for one, i in zip(left_out, chosen, strict=True)]
        picked, R2 = np.asarray(chosen, dtype=np.intp), float(part.problem.kernel.diag(subject.X).max())
        alpha, xi = np.asarray(part.alpha)[picked], part.slacks[picked]
        titles = [_CASES[_case(part, i)] for i in chosen]
        numbers = (part.margins[picked], part.y[picked] * own, alpha, xi, 2.0 * alpha * R2 + xi)
        return cls(picked, [panel] * len(chosen), without, *numbers, titles).plot(**drawing)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw the panels, two in a row.

        Parameters
        ----------
        ax : array of matplotlib Axes, optional
            As many as there are samples; by default a new figure.
        legend : bool
            Whether to explain the marks, below all panels.
        """
        require_matplotlib()
        k = len(self.samples)
        if ax is None:
            from matplotlib import pyplot

            columns, rows = min(k, 2), -(-k // 2)
            height = 3.7 / self.panels[0].shape()[1] + 0.75
            figure = pyplot.figure(figsize=(4.4 * columns, height * rows + 0.6), layout="constrained")
            ax = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
            for spare in ax.ravel()[k:]:
                spare.set_visible(False)
        elif np.size(ax) != k:
            raise InvalidInputError(f"{k} axes are needed, one for each sample, got {np.size(ax)}.")
        self.axes_ = np.asarray(ax, dtype=object)
        used = self.axes_.ravel()[:k]
        self.figure_ = used[0].figure
        explained: dict[str, Any] = {}
        for j, one in enumerate(used):
            panel = self.panels[j].plot(one, legend=False)
            for level, width in ((0.0, 2.0), (-1.0, 0.9), (1.0, 0.9)):
                if self.without[j].min() < level < self.without[j].max():
                    one.contour(
                        panel.xx0,
                        panel.xx1,
                        self.without[j],
                        levels=[level],
                        colors=RED,
                        linestyles="--",
                        linewidths=width,
                        zorder=3,
                    )
            one.plot([], [], color=RED, lw=2.0, ls="--", label="without the sample")
            at = panel.X[self.samples[j]]
            one.scatter(
                *at,
                s=260,
                facecolor="none",
                edgecolor=RED,
                linewidth=1.6,
                marker="o",
                zorder=8,
                label="the sample that is left out",
            )
            alpha, xi, lemma, before, after = (
                f"{round(float(v[j]), 5) + 0.0:.3g}".replace("-", "−")
                for v in (self.alpha, self.xi, self.lemma, self.before, self.after)
            )
            words = f"{self.titles[j]}\nα = {alpha}, ξ = {xi}, 2αR² + ξ = {lemma}\nyF = {before}, and {after} without it"
            one.set_title(words, fontsize=9)
            one.label_outer()
            explained |= dict(zip(*reversed(one.get_legend_handles_labels()), strict=True))
        if legend:
            place = {"loc": "outside lower center", "ncols": 3, "fontsize": 8, "frameon": False}
            self.figure_.legend(explained.values(), explained.keys(), **place)
        return self


_CASES = {
    "outside": "Case 1: no support vector",
    "on": "Case 2: on the margin",
    "inside": "Case 3: inside the margin",
    "wrong": "A training error",
}


def _case(part: Anatomy, i: int) -> str:
    """Which case of the lemma a sample is."""
    group = np.asarray(part.groups)[i]
    if part.slacks[i] > 1.0:
        return "wrong"
    return {OUTSIDE: "outside", ON: "on", INSIDE: "inside"}.get(int(group), "outside")


def _one_of_each_case(part: Anatomy) -> list[int]:
    """A sample of each case that occurs: outside near the margin, on it of small α, else of small ξ."""
    assert part.alpha is not None
    cases = np.array([_case(part, i) for i in range(len(part.y))])
    order = {"outside": part.margins, "on": part.alpha, "inside": part.slacks, "wrong": part.slacks}
    found = [np.flatnonzero(cases == case) for case in order]
    return [int(mine[np.argmin(key[mine])]) for mine, key in zip(found, order.values(), strict=True) if len(mine)]


def _without(model: Any, part: Anatomy, i: int, X: Any, labels: Any) -> Any:
    """The machine without sample i; costs and kernel as they were resolved on all samples."""
    assert part.problem is not None
    if len(np.unique(np.delete(labels, i))) < 2:
        raise InvalidInputError(f"Sample {i} is the only one of its class: without it there is no boundary. Choose others.")
    others, cost = np.delete(np.arange(len(labels)), i), part.problem.cost
    known = model.get_params(deep=False)
    same: dict[str, Any] = {"kernel": model.kernel_} if "kernel" in known else {}
    if "C" in known:
        same |= {"C": 1.0, "class_weight": None}
    weights = {"sample_weight": cost[others]} if np.isfinite(cost).all() else {}
    return clone(model).set_params(**same).fit(_safe_indexing(X, others), labels[others], **weights)
