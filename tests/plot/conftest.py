"""Two clouds in the plane, and axes that no window shows."""

from importlib.util import find_spec

import numpy as np
import pytest

collect_ignore_glob = [] if find_spec("matplotlib") else ["test_*.py"]


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1)
    return rng.standard_normal((60, 2)) * 0.9 + np.outer(y, [1.1, 0.6]), np.where(y > 0, "yes", "no")


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


def labels_of(ax):
    return ax.get_legend_handles_labels()[1]
