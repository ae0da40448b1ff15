"""The pages keep up with the code: names, tests and parameters that they speak of are there, and none is forgotten."""

import re
import warnings
from pathlib import Path

import pytest
import sklearn.linear_model
import sklearn.svm
from sklearn.datasets import load_iris

import maxmargin
from maxmargin import bounds, distributed, io, kernels, plot, solvers

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
IN_CODE = re.compile(r"`([^`]+)`")


def page(name):
    return (DOCS / f"{name}.md").read_text()


def described():
    """module.name of each thing that the API reference describes."""
    module, found = "maxmargin", set()
    for kind, what in re.findall(r"^\.\. (\w+):: ([\w.]+)$", page("api"), re.MULTILINE):
        if kind in ("module", "currentmodule", "automodule"):
            module = what
        if kind == "automodule":
            found |= {f"maxmargin.{name}" for name in dir(maxmargin.errors) if name.endswith("Error")}
        elif kind.startswith("auto"):
            found.add(f"{module}.{what}")
    return found


@pytest.mark.parametrize("module", [maxmargin, bounds, distributed, io, kernels, plot, solvers], ids=lambda m: m.__name__)
def test_the_reference_describes_each_public_name(module):
    here = {f"{module.__name__}.{name}" for name in module.__all__}
    submodules = {f"maxmargin.{name}" for name in maxmargin._MODULES}
    again = {f"maxmargin.io.{name}" for name in ("export", "load", "save")}  # described as maxmargin.save and so on
    assert here - described() <= submodules | again


def test_the_reference_describes_nothing_else():
    public = {f"{m.__name__}.{name}" for m in (maxmargin, bounds, distributed, io, kernels, plot, solvers) for name in m.__all__}
    assert described() - public <= {"maxmargin.errors"}


def public_attributes(model):
    return {name for name in dir(model) if re.fullmatch(r"[a-z][a-zA-Z0-9_]*_", name)}


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (sklearn.svm.SVC, maxmargin.SVC),
        (sklearn.svm.LinearSVC, maxmargin.LinearSVC),
        (sklearn.svm.NuSVC, maxmargin.SVC),
        (sklearn.linear_model.SGDClassifier, maxmargin.PegasosSVC),
    ],
)
def test_what_scikit_learn_has_and_we_lack_is_listed_with_its_replacement(theirs, ours):
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missing = theirs().get_params().keys() - ours().get_params().keys()
        missing |= public_attributes(theirs().fit(X, y)) - public_attributes(ours().fit(X, y))
    first_cells = [row.split("|")[1] for row in page("from_scikit_learn").splitlines() if row.startswith("| `")]
    listed = {name for cell in first_cells for name in IN_CODE.findall(cell)}
    assert missing <= listed


def test_what_is_listed_as_missing_is_missing():
    section = page("from_scikit_learn").split("## Parameters that are not there")[1].split("\n## ")[0]
    rows = [row.split("|")[1:3] for row in section.splitlines() if row.startswith("| `")]
    twins = {
        "SVC": maxmargin.SVC,
        "LinearSVC": maxmargin.LinearSVC,
        "NuSVC": maxmargin.SVC,
        "SGDClassifier": maxmargin.PegasosSVC,
    }
    assert len(rows) >= 4
    for names, owner in rows:
        assert not set(IN_CODE.findall(names)) & twins[IN_CODE.findall(owner)[0]]().get_params().keys()


def test_the_errata_name_tests_that_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page("errata"))
    assert len(named) >= 15
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(), test


def test_no_page_asks_the_network():
    for path in [*DOCS.glob("*.md"), *DOCS.glob("*.py")]:
        assert not re.search(r"!\[[^\]]*\]\(https?:|cdn|src=.https?:", path.read_text()), path.name


def test_readme_fits_a_screen_or_two_and_has_one_picture():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    assert len(re.findall(r"!\[", text)) == 1


def test_links_of_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target
