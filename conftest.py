"""Settings for all tests and doctests: pictures without a screen, and none left open."""

import os
import sys
from importlib.util import find_spec

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
collect_ignore_glob = ["docs/conf.py", "docs/_extensions/*"]
"""Sphinx's: they change sys.path or need the extra docs. tests/docs looks at them."""
NEEDS_MATPLOTLIB = ("/src/maxmargin/plot/", "/docs/plot.md", "/tests/plot/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what draws where matplotlib is not installed, and say so."""
    if find_spec("matplotlib") is None:
        for item in items:
            if any(place in item.path.as_posix() for place in NEEDS_MATPLOTLIB):
                item.add_marker(pytest.mark.skip(reason="needs the extra plot: pip install 'maxmargin[plot]'"))


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
