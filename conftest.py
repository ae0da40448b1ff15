"""Settings for all tests and doctests: pictures without a screen, and none left open."""

import os
import sys
from importlib.util import find_spec

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("MAXMARGIN_QUIET", "1")  # tests look at stderr, and the first run compiles
collect_ignore_glob = ["docs/conf.py", "docs/_extensions/*", "docs/gallery/*", "examples/*"]
"""Sphinx's: they change sys.path or need the extra docs. And scripts, which run when they are imported. tests/docs tests both."""
NEEDS = {
    "matplotlib": ("plot", ("/src/maxmargin/plot/", "/docs/plot.md", "/docs/chapters/", "/tests/plot/")),
    "distributed": ("dask", ("/src/maxmargin/distributed/", "/docs/past_one_machine.md", "/tests/distributed/")),
}
"""Packages of extras, and what cannot run without them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what an extra is needed for that is not installed, and say so."""
    for package, (extra, places) in NEEDS.items():
        if find_spec(package) is None:
            for item in items:
                if any(place in item.path.as_posix() for place in places):
                    item.add_marker(pytest.mark.skip(reason=f"needs the extra {extra}: pip install 'maxmargin[{extra}]'"))


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
