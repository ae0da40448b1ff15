"""The recipes of CONTRIBUTING.md, each done in a copy of the sources and tried in a process of its own.

The blocks are read from the page: one that begins with ``# path`` is a new file, one with ``--- path`` changes a file.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^( *)```(?:python|diff)\n\1(?:# |--- )(\S+)\n(.*?)\n\1```", re.MULTILINE | re.DOTALL)

DATA = """
import numpy as np
from sklearn.datasets import make_moons
from maxmargin import LinearSVC, SVC, certify, leave_one_out, load, save

X, y = make_moons(80, noise=0.3, random_state=0)

def check(model, tol):
    assert model.fit(X, y).certificate_.relative_gap <= tol == model.tol
    assert certify(model, X, y).relative_gap <= tol
    save(model, "model.mmz")
    again = load("model.mmz")
    assert again.get_params() == model.get_params()
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert model.score(X, y) > 0.8
    return model
"""

PROMISES = {
    "Add a kernel": """
from maxmargin.kernels import Laplacian
named = check(SVC(kernel="laplacian", gamma=2.0, tol=1e-6), 1e-6)
assert (named.predict(X) == SVC(kernel=Laplacian(gamma=2.0), tol=1e-6).fit(X, y).predict(X)).all()
assert SVC(kernel="laplacian").fit(X, y).kernel_.gamma > 0
assert leave_one_out(named, X[:30], y[:30]).error <= 0.5
""",
    "Add a loss": """
check(SVC(loss="huber_hinge", tol=1e-6, solver="smo"), 1e-6)
linear = check(LinearSVC(loss="huber_hinge", tol=1e-6), 1e-6)
for solver in ("interior_point", "dual_cd"):
    other = LinearSVC(loss="huber_hinge", tol=1e-6, solver=solver).fit(X, y)
    assert np.abs(other.coef_ - linear.coef_).max() < 1e-2
few = SVC(loss="huber_hinge", kernel="linear", tol=1e-6, solver="active_set").fit(X[:40], y[:40])
assert few.certificate_.relative_gap <= 1e-6
assert leave_one_out(few, X[:40], y[:40]).error <= 0.5
""",
    "Add a solver": """
model = SVC(solver="projected_gradient", fit_intercept=False, gamma=2.0, tol=1e-6)
assert "ProjectedGradient" in check(model, 1e-6).solver_
""",
}
"""What each recipe says of its result, for the names in its blocks."""

FILES = {"Add a kernel": 4, "Add a loss": 3, "Add a solver": 3}

SHARED = {
    "Add a loss": [
        "tests/core/losses/test_losses.py",
        "tests/test_every_solver.py",
        "-k",
        "huber_hinge or (textbooks and (smo or active_set or dual_cd or interior_point))",
    ],
    "Add a solver": ["tests/test_every_solver.py", "-k", "projected_gradient and (textbooks or agree)"],
}
"""Tests of ours that should run on what was added."""


def blocks_of(recipe):
    """[(path, text)] of a recipe, in order."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.split(r"^#+ ", page.split(f"### {recipe}", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    return [(path, textwrap.dedent(text) + "\n") for _, path, text in BLOCK.findall(section)]


def changed(old, hunks):
    """A text after some hunks without line numbers: what they keep and remove must stand there exactly once."""
    for hunk in re.split(r"^@@\n", hunks, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        before, after = ("".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
        assert old.count(before) == 1, f"{before!r} stands there {old.count(before)} times"
        old = old.replace(before, after)
    return old


@pytest.mark.parametrize("recipe", PROMISES)
def test_a_recipe_does_what_it_says(recipe, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    blocks = blocks_of(recipe)
    for path, text in blocks:
        file = tmp_path / path
        if file.exists():
            text = changed(file.read_text(encoding="utf-8"), text)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert len({path for path, _ in blocks}) == FILES[recipe]
    own = [path for path, _ in blocks if path.startswith("tests/")]
    runs = [own, SHARED[recipe]] if recipe in SHARED else [own]
    tests = f"""
import pytest
for arguments in {runs}:
    place = "." if arguments == {own} else {str(ROOT)!r}
    files = [place + "/" + each if each.startswith("tests/") else each for each in arguments]
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", place, *files])
    assert code == 0, (code, arguments)
"""
    (tmp_path / "try_it.py").write_text(DATA + PROMISES[recipe] + tests, encoding="utf-8")
    compiled = os.environ.get("NUMBA_CACHE_DIR", str(ROOT / "src/maxmargin/_loops/__pycache__"))
    places = os.pathsep.join([str(tmp_path / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "try_it.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "PYTHONPATH": places, "NUMBA_CACHE_DIR": compiled},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("recipe", FILES)
def test_the_heading_of_a_recipe_counts_its_files(recipe):
    assert f"### {recipe}: {FILES[recipe]} files" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_a_hunk_that_does_not_fit_is_noticed():
    assert changed("a\nb\nc\n", " a\n+x\n@@\n-c\n") == "a\nx\nb\n"
    with pytest.raises(AssertionError, match="2 times"):
        changed("a\na\n", " a\n+x\n")
