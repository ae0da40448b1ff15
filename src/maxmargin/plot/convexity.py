"""Displays of convexity: lines that stay below a convex function, and the primal and dual value of one constraint."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from maxmargin.core import Loss, loss_from_name
from maxmargin.errors import InvalidInputError
from maxmargin.plot.style import BESIDE, BLUE, CURVES, LINES, RED, Display, Drawing, ink
from maxmargin.typing import Floats

FAN = 5
"""Lines that stand for all subgradients at a kink."""

OTHERS = (0.5, 2.0)
"""Multiples of the best λ whose lines are drawn besides."""


@dataclass(eq=False)
class TangentsDisplay(Display):
    """A convex function and lines that touch it from below: its tangents, and at a kink the fan of its subgradients.

        f(z) ≥ f(a) + g (z − a) for all z:        g is a subgradient of f at a

    Where f has a derivative that is the only g (the first-order condition). At a kink every slope between the left and the right
    derivative is one. Where 0 is one of them, f is smallest.

    Parameters
    ----------
    z, values : arrays (k,)
        The function on a grid.
    at, heights : arrays (p,)
        The points a, and f there.
    slopes : array (p, 2)
        The smallest and the largest subgradient at each.
    name : str
        Of the function.

    Examples
    --------
    >>> from maxmargin import plot
    >>> display = plot.TangentsDisplay.from_loss("hinge", at=[-0.5, 1.0])
    >>> display.slopes.tolist()
    [[-1.0, -1.0], [-1.0, 0.0]]
    """

    z: Floats
    values: Floats
    at: Floats
    heights: Floats
    slopes: Floats
    name: str = "f"
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_loss(
        cls,
        loss: str | Loss,
        at: Sequence[float] = (0.0, 1.0),
        *,
        z: tuple[float, float] = (-1.6, 2.6),
        **drawing: Unpack[Drawing],
    ) -> Self:
        """Draw a convex loss as a function of z = yF.

        Parameters
        ----------
        loss : str or Loss
        at : sequence of float
            Where lines touch it.
        z : pair of float
            The ends of the interval that is drawn.
        ax, legend
            As in `plot`.
        """
        found = loss_from_name(loss)

        def slopes(a: float) -> tuple[float, float]:
            left, right = found.subgradient([np.nextafter(a, -np.inf), np.nextafter(a, np.inf)])
            return float(left), float(right)

        words = found.name.replace("_", " ")
        return cls.from_function(found.value, slopes, at, z=z, name=words, **drawing)

    @classmethod
    def from_function(
        cls, function: Callable[[Floats], ArrayLike], slopes: Callable[[float], Any], at: Sequence[float],
        *, z: tuple[float, float], name: str = "f", **drawing: Unpack[Drawing],
    ) -> Self:  # fmt: skip
        """Draw any convex function of one number.

        Parameters
        ----------
        function : callable
            From an array to the values there.
        slopes : callable
            From a number to the derivative, or to the pair of the left and the right one.
        at, z
            As in `from_loss`.
        name : str
            What the function is called.
        ax, legend
            As in `plot`.
        """
        points = np.asarray(at, dtype=np.float64)
        grid = np.unique(np.concatenate([np.linspace(*z, 801), points]))
        values, heights = (np.asarray(function(where), dtype=np.float64) for where in (grid, points))
        pairs = np.array([np.broadcast_to(np.asarray(slopes(a), dtype=np.float64), 2) for a in points.tolist()]).reshape(-1, 2)
        for a, height, pair in zip(points, heights, pairs, strict=True):
            lines = height + pair[:, None] * (grid - a)
            above = np.flatnonzero((lines > values + 1e-9 * (1.0 + np.abs(values) + np.abs(lines))).any(axis=0))
            if len(above):
                where = f"at {a:g} with the slopes {pair.tolist()} is above {name} at {grid[above[0]]:.3g}"
                raise InvalidInputError(f"A line that touches {name} {where}: give a convex function and its derivatives.")
        return cls(grid, values, points, heights, pairs, name).plot(**drawing)

    def _draw(self, ax: Any) -> None:
        room = float(np.ptp(self.values)) or 1.0
        ax.plot(self.z, self.values, color=ink(), lw=2.4, label=f"{self.name}(z)", zorder=3)
        for k, (a, height, (low, high)) in enumerate(zip(self.at, self.heights, self.slopes, strict=True)):
            colour, style = CURVES[k % len(CURVES)], LINES[1 + k % (len(LINES) - 1)]
            is_kink = high - low > 1e-9 * (1.0 + abs(high) + abs(low))  # the two sides of a smooth place differ by rounding
            words = f"at {a:g}: " + (f"each g from {low:.3g} to {high:.3g}" if is_kink else f"g = {low + 0.0:.3g}")
            lines = [height + g * (self.z - a) for g in np.linspace(low, high, FAN if is_kink else 1)]
            if is_kink:
                ax.fill_between(self.z, lines[0], lines[-1], color=colour, alpha=0.12, lw=0, zorder=0)
            for i, line in enumerate(lines):
                ax.plot(self.z, line, color=colour, ls=style, lw=1.3, label=words.replace("-", "−") if i == 0 else None, zorder=2)
            ax.plot(a, height, "o", color=colour, ms=7, mec=ink(), zorder=4)
        low, high = float(self.values.min()) - 0.35 * room, float(self.values.max()) + 0.03 * room
        ax.set(xlabel="z", ylabel=self.name, xlim=(self.z[0], self.z[-1]), ylim=(low, high))


@dataclass(eq=False)
class DualityDisplay(Display):
    """Primal and dual value of a problem with one constraint, as a picture of all its points.

        p* = min f(x) subject to g(x) ≤ 0,        d* = max over λ ≥ 0 of q(λ),    q(λ) = min f(x) + λ g(x)

    Each x is a point (g(x), f(x)). The primal value is the lowest point that is not right of the axis g = 0. A line of slope −λ
    that touches all points from below meets that axis at q(λ), so no such line meets it above p*: weak duality. The best of them
    meets it at d*. Strong duality, d* = p*, holds for a convex problem with a point where g < 0: then the points and all that is
    above and right of them make a convex set.

    Parameters
    ----------
    constraint, objective : arrays (k,)
        g and f at each x.
    primal, dual : float
        p* and d* of these x.
    multiplier : float
        The λ of the best line.
    is_curve : bool
        Whether neighbouring x are joined by lines.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import plot
    >>> x = np.linspace(-2.0, 2.0, 401)
    >>> display = plot.DualityDisplay.from_values(1.0 - x, x**2)
    >>> round(display.primal, 6), round(display.dual, 6), round(display.multiplier, 1)
    (1.0, 1.0, 2.0)
    """

    constraint: Floats
    objective: Floats
    primal: float
    dual: float
    multiplier: float
    is_curve: bool = True
    legend_place: ClassVar[dict[str, Any]] = BESIDE

    @classmethod
    def from_values(
        cls, constraint: ArrayLike, objective: ArrayLike, *, is_curve: bool = True, **drawing: Unpack[Drawing]
    ) -> Self:
        """Draw the points (g(x), f(x)) of some x.

        Parameters
        ----------
        constraint, objective : arrays (k,)
            g and f at each x. Both values are those of the smallest f over these x alone.
        is_curve : bool
            Whether to join neighbours by lines; False for x of more than one number.
        ax, legend
            As in `plot`.
        """
        g, f = np.ravel(np.asarray(constraint, dtype=np.float64)), np.ravel(np.asarray(objective, dtype=np.float64))
        if g.shape != f.shape or not (np.isfinite(g).all() and np.isfinite(f).all()):
            raise InvalidInputError(f"constraint and objective need a finite number for each x, got {g.shape} and {f.shape}.")
        if not (g <= 0).any():
            raise InvalidInputError("No x has g(x) ≤ 0, so there is no primal value. Add such an x, or loosen the constraint.")
        best = linprog([0.0, -1.0], A_ub=np.column_stack([-g, np.ones_like(g)]), b_ub=f, bounds=[(0.0, None), (None, None)])
        multiplier = max(float(best.x[0]), 0.0)
        return cls(g, f, float(f[g <= 0].min()), float((f + multiplier * g).min()), multiplier, is_curve).plot(**drawing)

    def _draw(self, ax: Any) -> None:
        g, f = self.constraint, self.objective
        (left, right), (low, high) = ((v.min(), v.max()) for v in (g, f))
        wide, tall = float(right - left) or 1.0, float(high - low) or 1.0
        ends = np.array([left - 0.08 * wide, right + 0.08 * wide])
        bottom, top = min(low, self.dual) - 0.1 * tall, high + 0.06 * tall
        ax.axvspan(ends[0], 0.0, color=ink(), alpha=0.06, lw=0, zorder=0)
        ax.axvline(0.0, color=ink(), lw=1.0, zorder=1)
        look = {"ls": "-", "lw": 2.0} if self.is_curve else {"ls": "", "marker": ".", "ms": 2.5}
        ax.plot(g, f, color="0.5", label="(g(x), f(x)) for each x", zorder=2, **look)
        for k, share in enumerate(OTHERS):  # other multipliers, whose lines meet the axis lower
            value = float((f + share * self.multiplier * g).min())
            ax.plot(ends, value - share * self.multiplier * ends, color=BLUE, lw=0.9, alpha=0.5, zorder=2,
                    label="such lines with another λ" if k == 0 else None)  # fmt: skip
            ax.plot(0.0, value, "D", color=BLUE, ms=3.5, alpha=0.7, zorder=4)
        words = f"the highest of these lines: λ = {self.multiplier:.3g}"
        ax.plot(ends, self.dual - self.multiplier * ends, color=BLUE, lw=1.8, ls="--", label=words, zorder=3)
        gap = self.primal - self.dual
        is_open = gap > 1e-3 * tall
        if is_open:
            ax.plot([0.0, 0.0], [self.dual, self.primal], color=RED, lw=4.0, alpha=0.5, solid_capstyle="butt", zorder=3,
                    label=f"the gap p* − d* = {gap:.3g}")  # fmt: skip
        best = int(np.flatnonzero(g <= 0)[np.argmin(f[g <= 0])])
        ax.plot([g[best], 0.0], [self.primal] * 2, color=RED, lw=1.0, ls=":", zorder=3)
        ax.plot(
            g[best],
            self.primal,
            "o",
            color=RED,
            ms=8,
            mec=ink(),
            label=f"p* = {self.primal:.4g}, the lowest f among feasible x",
            zorder=5,
        )
        ax.plot(0.0, self.dual, "D", color=BLUE, ms=6, mec=ink(), label=f"d* = {self.dual:.4g}, the highest q(λ)", zorder=6)
        ax.text(0.01, 0.02, "feasible", transform=ax.transAxes, fontsize=8, color="0.5")
        ax.set(xlabel="g(x)", ylabel="f(x)", xlim=tuple(ends), ylim=(bottom, top))
