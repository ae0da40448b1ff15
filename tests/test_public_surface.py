"""What a user can name: it loads late, resolves, and explains itself."""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import maxmargin

HEAVY = (
    "scipy",
    "sklearn",
    "numba",
    "clarabel",
    "rich",
    "typer",
    "matplotlib",
    "contourpy",
    "jinja2",
    "pandas",
    "polars",
    "joblib",
    "llvmlite",
    "onnx",
    "pyarrow",
    "dask",
    "distributed",
)


def loaded_by(code):
    """The top-level modules that a fresh interpreter holds after running some code."""
    script = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def named_in_readme():
    """The names in code at the beginning of each line of README's table, with the command line's own line left out."""
    readme = Path(__file__).parents[1] / "README.md"
    firsts = re.findall(r"^\| (`[^|]*`) \|", readme.read_text(encoding="utf-8"), re.MULTILINE)
    return [name for first in firsts if "`maxmargin " not in first for name in re.findall(r"`([\w.]+)`", first)]


def test_each_name_of_readme_is_there_after_importing_the_package():
    names = named_in_readme()
    assert {"LinearSVC", "solvers", "distributed.LinearSVC", "save"} <= set(names)
    if find_spec("distributed") is None:
        names = [name for name in names if not name.startswith("distributed")]
    names.sort(key=lambda name: name not in maxmargin._MODULES)  # before another name loads them
    loaded_by("\n".join(["import maxmargin", *(f"maxmargin.{name}" for name in names)]))


def test_importing_loads_numpy_at_most():
    assert loaded_by("import maxmargin").isdisjoint(HEAVY)
    assert loaded_by("import maxmargin; dir(maxmargin); maxmargin.__version__").isdisjoint(HEAVY)
    assert loaded_by("from maxmargin import errors, InvalidInputError").isdisjoint(HEAVY)


def test_the_look_at_loaded_modules_can_fail():
    assert {"scipy", "sklearn"} <= loaded_by("from maxmargin import HardMarginSVC; HardMarginSVC()")


def test_what_is_not_needed_is_not_loaded():
    assert loaded_by("from maxmargin import HardMarginSVC; HardMarginSVC()").isdisjoint(
        {"numba", "clarabel", "rich", "typer", "matplotlib"}
    )
    assert "matplotlib" not in loaded_by("from maxmargin import plot, report; plot.GapDisplay")
    assert loaded_by("from maxmargin import kernels; kernels.Linear()").isdisjoint({"sklearn", "numba", "clarabel"})


@pytest.mark.parametrize("name", maxmargin.__all__)
def test_each_public_name_resolves_and_has_words(name):
    value = getattr(maxmargin, name)
    assert inspect.getdoc(value), name
    first = inspect.getdoc(value).partition("\n")[0]
    assert first[0].isupper(), f"{name}: {first}"


def public_things():
    """The classes and functions among the public names, exceptions left out."""
    for name in maxmargin.__all__:
        value = getattr(maxmargin, name)
        if inspect.ismodule(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
            continue
        yield name


@pytest.mark.parametrize("name", list(public_things()))
def test_each_public_class_and_function_shows_an_example(name):
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(maxmargin, name)))
    assert examples, f"{name} has no example"


@pytest.mark.parametrize("name", [n for n in maxmargin.bounds.__all__ if n != "Bound"])
def test_each_bound_shows_an_example(name):
    assert doctest.DocTestParser().get_examples(inspect.getdoc(getattr(maxmargin.bounds, name)))


def test_dir_is_complete():
    assert set(dir(maxmargin)) == {*maxmargin.__all__, "__version__"}
    assert dir(maxmargin) == sorted(dir(maxmargin))
    assert len(set(maxmargin.__all__)) == len(maxmargin.__all__)


def test_the_homes_of_names_are_names_and_places():
    assert {name for names in maxmargin._HOMES.values() for name in names} <= set(maxmargin.__all__)
    for home, names in maxmargin._HOMES.items():
        assert set(names) <= set(vars(importlib.import_module(f"maxmargin.{home}")))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'maxmargin' has no attribute 'SoftMarginSVC'"):
        _ = maxmargin.SoftMarginSVC
    with pytest.raises(ImportError, match="SoftMarginSVC"):
        exec("from maxmargin import SoftMarginSVC")
    assert not hasattr(maxmargin, "__wrapped__")


def test_a_star_import_brings_all_of_them():
    names = {}
    exec("from maxmargin import *", names)
    assert set(maxmargin.__all__) <= set(names)


def test_bounds_can_be_imported_as_a_module():
    from maxmargin.bounds import hard_margin

    assert hard_margin is maxmargin.bounds.hard_margin


def test_a_name_is_the_same_object_each_time():
    assert maxmargin.HardMarginSVC is maxmargin.HardMarginSVC
    assert maxmargin.NotSeparableError is maxmargin.errors.NotSeparableError


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert maxmargin.__version__ == version("maxmargin")


def test_it_says_that_it_is_typed():
    from importlib.resources import files

    assert files("maxmargin").joinpath("py.typed").is_file()
