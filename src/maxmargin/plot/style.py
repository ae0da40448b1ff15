"""How all pictures look, and what every display does."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self, TypedDict

import numpy as np

from maxmargin.core.certificate.parts import ABSENT, INSIDE, ON, OUTSIDE
from maxmargin.errors import MissingExtraError

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
"""Colours of Okabe and Ito, told apart by the colour-blind."""

GREY = "0.45"
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
"""Line styles in the order of use: curves are told apart without their colours."""

CURVES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
"""A mark for each class; from the eleventh class on they repeat."""


CLASSES = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW, "0.5")
"""A colour for each class; from the ninth class on they repeat, with other marks."""


class Look(NamedTuple):
    """How a group of samples is drawn, in the colour of its class: how opaque, with what edge, with a ring or without."""

    label: str
    opacity: float
    edge: float = 0.0
    has_ring: bool = False
    is_hollow: bool = False

    def drawn(self, colour: str, scale: float = 1.0) -> dict[str, Any]:
        """What `scatter` takes for samples of some class."""
        if self.is_hollow:
            return {"facecolor": "none", "edgecolor": colour, "linewidth": 0.8, "alpha": self.opacity}
        return {"facecolor": colour, "edgecolor": ink(), "linewidth": scale * self.edge, "alpha": self.opacity}


GROUPS = {
    OUTSIDE: Look("α = 0: outside the margin", 0.45),
    ON: Look("0 < α < c: on the margin", 1.0, 0.8, has_ring=True),
    INSIDE: Look("α = c: inside it or wrong", 0.85, 0.8),
    ABSENT: Look("c = 0: left out", 0.6, is_hollow=True),
}
"""The groups of complementary slackness: pale, ringed, edged and hollow, so that colours are left to the classes."""


def ink() -> str:
    """The colour of lines and words in matplotlib's present style: light where its background is dark."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


BESIDE = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
"""A legend right of the axes, for pictures that have no free corner. On axes of a figure without a layout engine, they become
narrower by its width."""


class Drawing(TypedDict, total=False):
    """What every ``from_…`` hands on to `Display.plot`."""

    ax: Any
    legend: bool


def require_matplotlib() -> None:
    """Say which extra is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("Pictures need matplotlib, which is not installed. Run: pip install 'maxmargin[plot]'") from error


class Display(ABC):
    """Abstract base of the displays.

    Attributes
    ----------
    ax_, figure_
        What was drawn on, once it was.
    """

    ax_: Any
    figure_: Any
    legend_place: ClassVar[dict[str, Any]] = {"framealpha": 0.9, "edgecolor": "0.8"}
    legend_inside: ClassVar[str] = "upper right"
    """Where a legend that finds no room beside the axes stands."""

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw on some axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        legend : bool
            Whether to explain the marks.

        Returns
        -------
        Display
            Itself, with `ax_` and `figure_`.
        """
        require_matplotlib()
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=self._size(), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        ax.spines[["top", "right"]].set_visible(False)
        if legend and ax.get_legend_handles_labels()[0]:
            self._explain(ax)
        return self

    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return (6.4, 4.4)

    def _explain(self, ax: Any) -> None:
        """Add the legend. Beside the axes they give room for it, as for a colour bar, where the figure's layout does not; where
        less than half would be left of them it is small, and inside.
        """
        legend, figure = ax.legend(fontsize=8, **self.legend_place), ax.figure
        if self.legend_place is not BESIDE or figure.get_layout_engine() is not None:
            return
        figure.draw_without_rendering()
        spec = ax.get_subplotspec()  # its place is the same when it is drawn on again
        box = ax.get_position(original=True) if spec is None else spec.get_position(figure)
        left = box.width - 1.05 * float(np.ptp(figure.transSubfigure.inverted().transform(legend.get_window_extent())[:, 0]))
        if left >= 0.5 * box.width:
            ax.set_position((box.x0, box.y0, left, box.height))
        else:
            ax.legend(fontsize=6, **Display.legend_place | {"loc": self.legend_inside})

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw all but the legend."""
