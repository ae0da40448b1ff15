"""The losses side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from maxmargin.core.losses import Loss, loss_from_name
from maxmargin.plot.style import BLACK, CURVES, LINES, Display, require_matplotlib
from maxmargin.typing import Floats

FORMULAS = {
    "zero_one": "0–1: 1 if z ≤ 0",
    "hinge": "hinge: max(0, 1 − z)",
    "ramp": "ramp: min(1, max(0, 1 − z))",
    "perceptron": "perceptron: max(0, −z)",
    "squared_hinge": "squared hinge: max(0, 1 − z)²",
}


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

    @classmethod
    def from_losses(
        cls,
        losses: Sequence[str | Loss] = ("zero_one", "hinge", "ramp", "perceptron", "squared_hinge"),
        *,
        z: tuple[float, float] = (-1.6, 2.2),
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw some losses, by name or as objects, over an interval of z.

        Parameters
        ----------
        losses : sequence of str or Loss
        z : pair of float
            The ends of the interval.
        ax, legend
            As in `plot`.
        """
        require_matplotlib()
        grid = np.unique(np.concatenate([np.linspace(z[0], z[1], 801), [0.0, np.nextafter(0.0, 1.0), 1.0]]))
        grid = grid[(grid >= z[0]) & (grid <= z[1])]
        found = [loss_from_name(loss) for loss in losses]
        return cls(grid, {loss.name: loss.value(grid) for loss in found}).plot(ax, legend=legend)

    def _draw(self, ax: Any) -> None:
        colours = {"zero_one": BLACK}
        for k, (name, values) in enumerate(self.values.items()):  # thinner and thinner, so that none hides another
            ax.plot(
                self.z, values, color=colours.get(name, CURVES[k % len(CURVES)]), ls=LINES[k % len(LINES)],
                lw=max(3.4 - 0.5 * k, 1.4), label=FORMULAS.get(name, name),
            )  # fmt: skip
        ax.axvline(1.0, color="0.8", lw=0.8, zorder=0)
        ax.axvline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set(xlabel="z = y F(x)", ylabel="loss", xlim=(self.z[0], self.z[-1]), ylim=(-0.08, 3.2))
        ax.text(-0.04, 2.98, "wrong", ha="right", fontsize=8, color="0.35")
        ax.text(0.5, 2.98, "inside", ha="center", fontsize=8, color="0.35")
        ax.text(1.04, 2.98, "outside the margin", fontsize=8, color="0.35")

    def _legend(self, ax: Any) -> None:
        ax.legend(fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 0.93), framealpha=0.9, edgecolor="0.8")
