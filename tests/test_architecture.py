"""Arrows point down only: the layers of the package, read off its import statements."""

import ast
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(maxmargin.__file__).parent
LAYERS = (  # each may import from those below it and from itself
    ("cli",),
    ("plot", "reporting", "distributed"),
    ("io",),
    ("bounds",),
    ("estimators",),
    ("analysis",),
    ("solvers",),
    ("core",),
    ("kernels",),
    ("_loops", "threads"),
    ("rounding",),
    ("errors", "typing"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
DISPLAY = Path("estimators/display.py")  # what verbose=True shows
SEPARATE = {
    "plot",
    "reporting",
    "distributed",
    "_loops",
    "errors",
    "typing",
    "threads",
}  # beside others on their level, and strangers to them


def imports(source):
    """Every module that some source text imports, also inside functions; relative imports are left to fail elsewhere."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def unit(module):
    """The layer's name that a module of ours belongs to, or None for others and for the package itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "maxmargin" and len(parts) > 1 and parts[1] in LEVEL else None


def files():
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        if inside.parts != ("__init__.py",):
            yield inside


def violations(inside, source):
    """What a file imports that it may not."""
    own = inside.parts[0].removesuffix(".py")
    bad = []
    for module in sorted(imports(source)):
        other = unit(module)
        if other is not None and other != own:
            upward = LEVEL[other] < LEVEL[own]
            sideways = LEVEL[other] == LEVEL[own] and other in SEPARATE
            bad += [module] * (upward or sideways)
        outside = module.split(".")[0]
        if outside == "sklearn" and LEVEL[own] > LEVEL["estimators"]:
            bad.append(module)
        if outside == "numba" and own != "_loops":
            bad.append(module)
        if outside == "matplotlib" and own != "plot":
            bad.append(module)
        if outside == "clarabel" and inside != Path("solvers/cone.py"):
            bad.append(module)
        if outside in ("dask", "distributed") and own != "distributed":
            bad.append(module)
        if outside in ("onnx", "pyarrow") and own != "io":
            bad.append(module)
        if outside in ("rich", "typer") and own != "cli" and (outside, inside) != ("rich", DISPLAY):
            bad.append(module)
    return bad


@pytest.mark.parametrize("inside", list(files()), ids=str)
def test_each_file_keeps_to_its_layer(inside):
    assert inside.parts[0].removesuffix(".py") in LEVEL, f"{inside} has no place in the layers"
    assert violations(inside, (ROOT / inside).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("inside", "source"),
    [
        ("core/problem.py", "from maxmargin.solvers import solve"),
        ("core/problem.py", "def f():\n    import sklearn.base"),
        ("analysis/exact.py", "from sklearn.svm import SVC"),
        ("analysis/exact.py", "from maxmargin import estimators"),
        ("solvers/auto.py", "import numba"),
        ("solvers/auto.py", "import clarabel"),
        ("_loops/jit.py", "from maxmargin.core import Problem"),
        ("threads.py", "from maxmargin._loops import jit"),
        ("kernels/rbf.py", "from maxmargin.core.problem import Problem"),
        ("errors.py", "from maxmargin.typing import Floats"),
        ("estimators/base.py", "import rich"),
        ("reporting/page.py", "import matplotlib"),
        ("reporting/page.py", "from maxmargin.plot import GapDisplay"),
        ("estimators/base.py", "import onnx"),
        ("estimators/base.py", "from maxmargin.io import save"),
        ("bounds.py", "from maxmargin.io import save"),
        ("estimators/display.py", "import typer"),
    ],
)
def test_a_forbidden_import_is_noticed(inside, source):
    assert violations(Path(inside), source)


@pytest.mark.parametrize(
    ("inside", "source"),
    [
        ("solvers/cone.py", "import clarabel"),
        ("_loops/jit.py", "import numba"),
        ("estimators/display.py", "from rich.progress import Progress"),
        ("estimators/base.py", "from sklearn.base import BaseEstimator"),
        ("io/_onnx.py", "import onnx"),
        ("io/_machine.py", "from maxmargin.estimators import SVC"),
        ("estimators/base.py", "from maxmargin.core import Problem"),
        ("core/problem.py", "from maxmargin.core.losses import Hinge"),
    ],
)
def test_an_allowed_import_is_not_blamed(inside, source):
    assert violations(Path(inside), source) == []


def test_the_loops_know_nothing_of_ours():
    for path in (ROOT / "_loops").glob("*.py"):
        ours = {m for m in imports(path.read_text(encoding="utf-8")) if unit(m) not in (None, "_loops")}
        assert ours == set(), path.name


def test_nothing_prints_but_the_command_line():
    for inside in files():
        if inside.parts[0] != "cli":
            calls = [
                n for n in ast.walk(ast.parse((ROOT / inside).read_text(encoding="utf-8"))) if isinstance(n, ast.Call)
            ]
            assert not [n for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"], inside


def test_the_contracts_of_import_linter_hold():
    importlinter = pytest.importorskip("importlinter.api")
    toml = next((p / "pyproject.toml" for p in ROOT.parents if (p / "pyproject.toml").is_file()), None)
    if toml is None:
        pytest.skip("installed without its pyproject.toml")
    assert importlinter.read_configuration(str(toml))["contracts_options"], "no contract was found"
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    assert lint_imports(config_filename=str(toml), no_cache=True) == EXIT_STATUS_SUCCESS
