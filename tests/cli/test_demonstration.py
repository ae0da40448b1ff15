"""The demo as a newcomer sees it."""

import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the demo runs."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(place):
    """What a newcomer sees, from a fresh process. (Where the loops are compiled first, on a busy machine, it takes its time.)"""
    code = "import sys; sys.argv = ['maxmargin', 'demo']; from maxmargin.cli import main; main()"
    (place / "temporary").mkdir()
    environment = os.environ | {"TMPDIR": str(place / "temporary"), "TEMP": str(place / "temporary")}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, check=False, cwd=place, env=environment)


def test_the_demo_runs_through(demo):
    assert demo.returncode == 0, demo.stderr.decode()
    assert demo.stderr == b""


@pytest.mark.parametrize(
    "words",
    [
        "every answer carries its proof",
        "1. A hard margin",
        "is proved to be within a relative",
        "2. No hyperplane, and why",
        "No hyperplane separates 'virginica' from 'versicolor'",
        "in rational arithmetic",
        "3. A kernel machine, and every sample left out once",
        "Exact leave-one-out: 569 models",
        "retrained seconds ξα error",
        "4. What the margin promises",
        "hard margin",
        "plug-in",
        "5. Speed",
        "scikit-learn",
        "A page about the model of part 3 was written to",
        "maxmargin fit --help",
    ],
)
def test_the_demo_says(demo, words):
    assert words in " ".join(demo.stdout.decode().split())


def test_the_demo_fits_on_a_narrow_terminal(demo):
    assert max(map(len, demo.stdout.decode().splitlines())) <= 100


def test_the_demo_writes_a_page_elsewhere_and_says_where(demo, place):
    (page,) = (place / "temporary").glob("*/maxmargin_demo.html")
    assert str(page) in "".join(demo.stdout.decode().split())
    assert "leave-one-out" in page.read_text(encoding="utf-8").lower()
    assert list(place.iterdir()) == [place / "temporary"]
