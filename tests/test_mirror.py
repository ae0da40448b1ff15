"""Tests mirror the tree: the test of src/maxmargin/a/b.py is tests/a/test_b.py.

A second subject of b is tests/a/test_b_subject.py. What a folder does as a whole is tests/a/test_a.py, or test_a_subject.py;
it also counts for the modules of the folder that have no test of their own. Folders of tests have no leading underscore.
"""

from pathlib import Path, PurePosixPath

import maxmargin

TESTS = Path(__file__).parent
SOURCE = Path(maxmargin.__file__).parent

WITHOUT_TEST = {
    "_loops/": "loops are tested through the solvers that call them; some have tests of their own besides",
    "analysis/bound.py": "the shape of one bound: tests/analysis/test_bounds.py",
    "analysis/critical_cost.py": "of the L1 penalty: tests/solvers/l1/test_l1.py",
    "core/ramp.py": "one convex step: tests/solvers/ramp/test_ramp.py",
    "core/solution.py": "fields, and sentences of statuses: tests/solvers/test_driver.py",
    "distributed/workers/": "where blocks are: tests/distributed/test_distributed.py",
    "estimators/kernel_machine.py": "of SVC: tests/estimators/test_svc.py, test_svc_prediction.py",
    "estimators/multiclass/": "one-vs-one and one-vs-rest: tests/estimators/test_svc.py, test_linear.py",
    "estimators/separable.py": "of HardMarginSVC: tests/estimators/test_svc_hard_margin.py",
    "estimators/stochastic/partial_fit.py": "of both streams: tests/estimators/stochastic",
    "io/": "parts of reading and writing: what is read and written has its tests",
    "kernel_matrix/expansion.py": "sums of kernel rows: tests/kernel_matrix/test_matrix.py",
    "kernel_matrix/kept_rows.py": "rows that are kept: tests/kernel_matrix/test_matrix.py",
    "typing.py": "names of types",
}
"""Modules, or folders with all that is below, that need no test of their own, and why."""

WITHOUT_SOURCE = {
    "docs/": "the pages and the site",
    "estimators/test_of_scikit_learn.py": "scikit-learn's tests",
    "scripts/": "what users write",
    "theorems/": "what must hold whatever the code",
    "test_architecture.py": "all of src/",
    "test_bad_input.py": "all estimators",
    "test_benchmarks.py": "benchmarks/",
    "test_campaign.py": "tests/campaign",
    "test_changed.py": "tests/changed.py",
    "test_claims.py": "tests/claims.py",
    "test_every_solver.py": "all solvers",
    "test_house.py": "tests/house.py",
    "test_mirror.py": "this file",
    "test_profiles.py": "tests/conftest.py",
    "test_public_surface.py": "all public names",
    "test_recipes.py": "CONTRIBUTING.md",
    "test_routes.py": "tests/routes.py",
}
"""Tests, or folders of them, that are about no module or folder of src/, and what they are about."""


def modules():
    """Of src/, without what only exports names."""
    return {p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py") if p.name != "__init__.py"}


def all_tests():
    """All test files."""
    return {p.relative_to(TESTS).as_posix() for p in TESTS.rglob("test_*.py")}


def place_of(module):
    """The folder of a module's test, and the words that its name may begin with: the module's, or that of its folder."""
    *folders, name = PurePosixPath(module).with_suffix("").parts
    folders = [folder.lstrip("_") for folder in folders]
    return "/".join(folders), name.lstrip("_"), folders[-1] if folders else "maxmargin"


def is_test_of(test, place, word):
    """Whether a test stands in a folder and is named after a word."""
    file = PurePosixPath(test)
    about = file.stem.removeprefix("test_")
    return file.parent == PurePosixPath(place or ".") and (about == word or about.startswith(f"{word}_"))


def without_test(modules, tests):
    """Modules that no test is named after, nor after their folder."""
    places = {module: place_of(module) for module in modules}
    return {
        module
        for module, (place, *words) in places.items()
        if not any(is_test_of(test, place, word) for test in tests for word in words)
    }


def without_source(modules, tests):
    """Tests that are named after no module and no folder of their place."""
    places = [place_of(module) for module in modules]
    return {test for test in tests if not any(is_test_of(test, place, word) for place, *words in places for word in words)}


def is_listed(path, listed):
    return path in listed or any(each.endswith("/") and path.startswith(each) for each in listed)


def test_each_module_has_a_test_where_one_looks_for_it():
    assert sorted(m for m in without_test(modules(), all_tests()) if not is_listed(m, WITHOUT_TEST)) == []


def test_each_test_is_of_a_module_or_a_folder_that_is_there():
    assert sorted(t for t in without_source(modules(), all_tests()) if not is_listed(t, WITHOUT_SOURCE)) == []


def test_no_exception_is_stale():
    for listed, found in (
        (WITHOUT_TEST, without_test(modules(), all_tests())),
        (WITHOUT_SOURCE, without_source(modules(), all_tests())),
    ):
        assert [each for each in listed if not any(is_listed(path, [each]) for path in found)] == []


def test_the_rule():
    files = {"a/b.py", "a/_c/d.py", "e.py"}
    assert without_test(files, {"a/test_b.py", "a/c/test_d_again.py", "test_e.py"}) == set()
    assert without_test(files, {"a/test_a.py", "a/c/test_c_whole.py"}) == {"e.py"}
    assert without_source(files, {"a/test_b.py", "a/test_d.py", "test_e_f.py", "test_f.py"}) == {
        "a/test_d.py",
        "test_f.py",
    }
