"""What import-linter cannot tell. The layers, and who may import what, stand in pyproject.toml; `python -m tests` checks them."""

import ast
from pathlib import Path

import maxmargin

ROOT = Path(maxmargin.__file__).parent


def test_nothing_prints_but_the_command_line():
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).parts[0] != "cli":
            calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
            assert not [n for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"], path


def test_imports_are_absolute():
    """import-linter resolves relative ones too, but a reader should not have to."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path
