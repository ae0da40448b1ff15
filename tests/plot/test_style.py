"""What every display does."""

import subprocess
import sys

import pytest

from maxmargin import plot
from maxmargin.errors import MissingExtraError


def test_a_second_plot_goes_elsewhere_with_the_same_numbers(axes):
    first = plot.LossesDisplay.from_losses(["hinge"])
    again = first.plot(axes, legend=False)
    assert again is first
    assert first.ax_ is axes
    assert axes.get_legend() is None


@pytest.mark.parametrize("name", plot.__all__)
def test_each_display_shows_an_example(name):
    assert ">>>" in getattr(plot, name).__doc__


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from maxmargin import plot, errors\n"
        "try: plot.LossesDisplay.from_losses()\n"
        "except errors.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install 'maxmargin[plot]'" in done.stdout
    assert issubclass(MissingExtraError, ImportError)
