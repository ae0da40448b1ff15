"""The pages keep up with the code: names, tests and parameters that they speak of are there, and none is forgotten."""

import ast
import builtins
import doctest
import inspect
import re
import warnings
from pathlib import Path

import pytest
import sklearn.linear_model
import sklearn.svm
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

import maxmargin
from maxmargin import bounds, distributed, io, kernels, losses, plot, solvers, theory

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
IN_CODE = re.compile(r"`([^`]+)`")


def page(name):
    return (DOCS / f"{name}.md").read_text()


MODULES = (maxmargin, bounds, distributed, io, kernels, losses, plot, solvers, theory)
"""All that is public."""

PAGES_OF_THE_REFERENCE = sorted((DOCS / "api").glob("*.md"))


def described_by(path):
    """module.name of each thing that a page of the API reference describes, as often as it does."""
    module, found = "maxmargin", []
    for kind, what in re.findall(r"^\.\. (\w+):: ([\w.]+)$", path.read_text(), re.MULTILINE):
        if kind in ("module", "currentmodule", "automodule"):
            module = what
        if kind == "automodule":
            found += [f"maxmargin.{name}" for name in dir(maxmargin.errors) if name.endswith("Error")]
        elif kind.startswith("auto"):
            found.append(f"{module}.{what}")
    return found


def described():
    """All of these, of all pages."""
    return [name for path in PAGES_OF_THE_REFERENCE for name in described_by(path)]


def index_of_the_reference():
    """The rows of docs/api.md: a name without `maxmargin.`, its page, one line about it."""
    return re.findall(r"^\| \[`([\w.]+)`\]\(api/(\w+)\.md\) \| (.+) \|$", page("api"), re.MULTILINE)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_the_reference_describes_each_public_name(module):
    here = {f"{module.__name__}.{name}" for name in module.__all__}
    submodules = {f"maxmargin.{name}" for name in maxmargin._MODULES}
    again = {f"maxmargin.io.{name}" for name in ("export", "load", "save")}  # described as maxmargin.save and so on
    assert here - set(described()) <= submodules | again


def test_the_reference_describes_nothing_else():
    public = {f"{m.__name__}.{name}" for m in MODULES for name in m.__all__}
    assert set(described()) <= public


def test_each_public_name_stands_on_one_page():
    names = described()
    assert sorted(names) == sorted(set(names))


def test_the_index_of_the_reference_leads_to_the_page_of_each_name():
    rows = index_of_the_reference()
    assert sorted((f"maxmargin.{name}", home) for name, home, _ in rows) == sorted(
        (name, path.stem) for path in PAGES_OF_THE_REFERENCE for name in described_by(path)
    )
    assert all(4 <= len(line) <= 90 for _, _, line in rows)


EXPLAINED_ONCE = {"plug_in"}
"""Parameters that the page explains for all of its functions."""


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_each_parameter_of_a_public_function_or_estimator_is_explained(module):
    things = [getattr(module, name) for name in module.__all__]
    for thing in things:
        if inspect.isfunction(thing) or (inspect.isclass(thing) and issubclass(thing, BaseEstimator)):
            words = set(re.findall(r"\w+", inspect.getdoc(thing)))
            assert set(inspect.signature(thing).parameters) - words <= EXPLAINED_ONCE, thing.__name__


def taken_from_nowhere(code):
    """Names that some code reads and nothing in it makes."""
    nodes = list(ast.walk(ast.parse(code)))
    made = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    made |= {(each.asname or each.name) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for each in node.names}
    made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - made - set(dir(builtins))


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_the_examples_of_a_public_name_can_be_copied_as_they_are(module):
    for name in module.__all__:
        thing = getattr(module, name)
        members = vars(thing).values() if inspect.isclass(thing) else ()
        described = [thing, *(member for member in members if inspect.isroutine(member))] if callable(thing) else []
        for each in described:
            examples = doctest.DocTestParser().get_examples(inspect.getdoc(each) or "")
            assert not taken_from_nowhere("".join(example.source for example in examples)), (name, each)


def test_a_name_from_nowhere_is_found():
    assert taken_from_nowhere("import numpy as np\nx = [np.sum(k) for k in y]") == {"y"}


def test_what_people_look_for_and_do_not_find_has_an_answer():
    words = page("questions").lower()
    for looked_for in ("regression", "svr", "one-class", "outlier", "novelty", "probabilit", "nu-svc", "choose c", "gamma"):
        assert looked_for in words, looked_for
    for entry in ("regression", "probability", "outlier", "choose C", "SVR", "one-class", "nu"):  # first in the site's search
        assert f"   ! single: {entry}\n" in page("questions"), entry


def public_attributes(model):
    return {name for name in dir(model) if re.fullmatch(r"[a-z][a-zA-Z0-9_]*_", name)}


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (sklearn.svm.SVC, maxmargin.SVC),
        (sklearn.svm.LinearSVC, maxmargin.LinearSVC),
        (sklearn.svm.SVR, maxmargin.SVR),
        (sklearn.svm.LinearSVR, maxmargin.LinearSVR),
        (sklearn.svm.NuSVC, maxmargin.NuSVC),
        (sklearn.svm.NuSVR, maxmargin.NuSVR),
        (sklearn.svm.OneClassSVM, maxmargin.OneClassSVM),
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
        "SGDClassifier": maxmargin.PegasosSVC,
    }
    assert len(rows) >= 3
    for names, owner in rows:
        assert not set(IN_CODE.findall(names)) & twins[IN_CODE.findall(owner)[0]]().get_params().keys()


def test_the_errata_name_tests_that_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page("errata"))
    assert len(named) >= 15
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(), test


def test_no_page_asks_the_network():
    pages = [*DOCS.glob("*.md"), *DOCS.glob("chapters/*.md"), *PAGES_OF_THE_REFERENCE]
    for path in [*pages, *DOCS.glob("*.py"), *(ROOT / "examples").iterdir()]:
        assert not re.search(r"!\[[^\]]*\]\(https?:|cdn|src=.https?:", path.read_text() if path.is_file() else ""), path.name


def test_readme_fits_a_screen_or_two_and_has_one_picture():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    assert len(re.findall(r"!\[", text)) == 1


def test_links_of_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target
