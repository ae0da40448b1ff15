"""The examples of the gallery run by themselves, draw something, and each stands in one group of the gallery's page."""

import ast
import re
import runpy
from pathlib import Path

import pytest

pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs the extra plot: pip install 'maxmargin[plot]'")

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_example_runs_and_draws_a_picture(path, monkeypatch, capsys):
    monkeypatch.setattr(pyplot, "show", lambda: None)
    runpy.run_path(str(path), run_name="__main__")
    assert pyplot.get_fignums()
    assert all(pyplot.figure(number).axes for number in pyplot.get_fignums())
    said = capsys.readouterr().out
    assert "False" not in said, said  # what an example checks about itself holds


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_example_says_in_a_few_sentences_what_is_seen(path):
    title, rule, *words = ast.get_docstring(ast.parse(path.read_text())).splitlines()
    assert rule == "=" * len(title)
    assert 2 <= len(re.findall(r"[.?:](?:\s|$)", "\n".join(words))) <= 8


def test_the_gallery_shows_each_example_once():
    shown = re.findall(r"^ {4}\.\./examples/(\w+\.py)$", (EXAMPLES / "index.rst").read_text(), re.MULTILINE)
    assert sorted(shown) == [path.name for path in SCRIPTS]
    assert len(shown) >= 20
