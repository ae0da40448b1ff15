"""The path of the L1 penalty: which features enter, in which order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from maxmargin.errors import InvalidInputError
from maxmargin.estimators import L1Path
from maxmargin.plot.style import CURVES, LINES, Display, require_matplotlib
from maxmargin.typing import Floats, Indices


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

    @classmethod
    def from_path(
        cls,
        path: L1Path,
        *,
        feature_names: Sequence[str] | None = None,
        n_named: int = 6,
        ax: Any = None,
        legend: bool = True,
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
        require_matplotlib()
        d = path.coef.shape[1]
        if feature_names is not None and len(feature_names) != d:
            raise InvalidInputError(f"{d} feature names are needed, got {len(feature_names)}.")
        named = path.entry_order[: max(int(n_named), 0)].tolist()
        names = [f"feature {j}" if feature_names is None else str(feature_names[j]) for j in named]
        return cls(path.Cs, path.coef, path.entry_order, names).plot(ax, legend=legend)

    def _draw(self, ax: Any) -> None:
        others = self.order[len(self.names) :]
        for j in others:
            ax.plot(self.Cs, self.coef[:, j], color="0.75", lw=0.8, zorder=1)
        for k, (j, name) in enumerate(zip(self.order, self.names, strict=False)):
            colour, style = CURVES[k % len(CURVES)], LINES[(k // len(CURVES) + k) % len(LINES)]
            ax.plot(self.Cs, self.coef[:, j], color=colour, ls=style, lw=2.0, label=name, zorder=2)
        if len(others):
            ax.plot([], [], color="0.75", lw=0.8, label=f"{len(others)} more features")
        ax.axhline(0.0, color="black", lw=0.8, zorder=0)
        ax.set(xscale="log", xlabel="C", ylabel="weight", xlim=(self.Cs[0], self.Cs[-1]))

    def _legend(self, ax: Any) -> None:
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
