"""The profiles of Hypothesis: everyday runs repeat themselves, exploring ones do not."""

import ast
from pathlib import Path

import pytest
from hypothesis import settings

from tests.strategies import examples

HERE = Path(__file__).parent


def test_everyday_runs_draw_the_same_examples_and_keep_no_files():
    profile = settings.get_profile("everyday")
    assert profile.derandomize
    assert profile.database is None


def test_exploring_runs_draw_new_examples_and_remember_what_failed():
    profile = settings.get_profile("explore")
    assert not profile.derandomize
    assert profile.database is not None


@pytest.mark.parametrize("name", ["everyday", "explore"])
def test_a_number_of_examples_leaves_the_rest_to_the_profile(name):
    before = settings.get_current_profile_name() if hasattr(settings, "get_current_profile_name") else "everyday"
    try:
        settings.load_profile(name)
        profile = settings.get_profile(name)
        assert (examples(7).max_examples, examples(7).derandomize) == (7, profile.derandomize)
        assert examples(7).database is profile.database
    finally:
        settings.load_profile(before)


def test_no_test_decides_for_itself_whether_its_examples_repeat():
    places = []
    for path in HERE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("derandomize", "database"):
                places.append(path.relative_to(HERE).as_posix())
    assert set(places) == {"conftest.py"}
