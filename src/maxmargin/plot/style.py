"""How all pictures look, and what every display does."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self, TypedDict

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


class Look(NamedTuple):
    """How a group of samples is drawn."""

    label: str
    face: str
    edge: str


GROUPS = {
    OUTSIDE: Look("α = 0: outside the margin", "white", GREY),
    ON: Look("0 < α < c: on the margin", BLUE, BLACK),
    INSIDE: Look("α = c: inside it or wrong", ORANGE, BLACK),
    ABSENT: Look("c = 0: left out", "0.85", "0.6"),
}
"""The groups of complementary slackness: hollow, dark and light, so that grey print keeps them apart."""


BESIDE = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
"""A legend right of the axes, for pictures that have no free corner."""


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

            _, ax = pyplot.subplots(figsize=(6.4, 4.4), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        ax.spines[["top", "right"]].set_visible(False)
        if legend and ax.get_legend_handles_labels()[0]:
            ax.legend(fontsize=8, **self.legend_place)
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw all but the legend."""
