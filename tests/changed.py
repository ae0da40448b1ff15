"""The tests of what changed since the last commit, found by where a file stands and by its name.

The test of src/maxmargin/a/b.py is tests/a/test_b.py; failing that tests/a/test_b_*.py; the same anywhere in tests/; tests that
import maxmargin.a.b; and what is named after a folder on the way, as tests/a/test_c.py for src/maxmargin/a/c/b.py.
"""

import re
import subprocess
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
SOURCE = PurePosixPath("src/maxmargin")


def changed_files(root: Path = ROOT) -> list[str]:
    """Files that differ from HEAD or are new, and still exist; none where there is no git."""
    commands = [
        ["git", "diff", "--name-only", "--relative", "-z", "HEAD", "--"],
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
    ]
    names: set[str] = set()
    for command in commands:
        try:
            answer = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return []
        names.update(answer.split("\0"))
    return sorted(name for name in names if name and (root / name).is_file())


def mirrors_of(path: str, root: Path = ROOT) -> list[str]:
    """The test files of one file; of a source file also the file itself, for its examples."""
    file = PurePosixPath(path)
    if file.suffix != ".py":
        return []
    if file.parts[0] == "tests":
        return [path] if file.name.startswith("test_") else []
    if not file.is_relative_to(SOURCE):
        return []
    *folders, name = file.relative_to(SOURCE).with_suffix("").parts
    tests = root / "tests"
    own = tests / folders[0].lstrip("_") if folders else tests
    if name == "__init__":
        found = _named(folders[-1] if folders else "public_surface", own, tests)
    else:
        found = _named(name, own, tests) or _importing(".".join(["maxmargin", *folders, name]), tests)
    for folder in reversed(folders[1:]):
        found = found or _named(folder, own, tests)
    return [path, *(test.relative_to(root).as_posix() for test in found)]


def _named(word: str, *folders: Path) -> list[Path]:
    """Tests named after a word, in the first of some folders that has any."""
    patterns = [pattern.format(word.lstrip("_")) for pattern in ("test_{}.py", "test_{}_*.py")]
    return next((found for folder in folders for p in patterns if (found := sorted(folder.rglob(p)))), [])


def _importing(module: str, folder: Path) -> list[Path]:
    """Tests that name a module."""
    name = re.compile(rf"\b{re.escape(module)}\b")
    return [test for test in sorted(folder.rglob("test_*.py")) if name.search(test.read_text(encoding="utf-8"))]


def mirrors_of_changes(root: Path = ROOT) -> list[str]:
    """Those of all changed files, each once."""
    return list(dict.fromkeys(test for path in changed_files(root) for test in mirrors_of(path, root)))
