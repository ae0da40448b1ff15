"""Everything that must hold before a change lands: ``python -m tests`` from the project's root.

``python -m tests explore`` runs the tests alone, with examples that no run has drawn before; see `conftest.py`.
``python -m tests --fast`` takes less than a minute: the tests of what changed since the last commit, then a core selection.
"""

import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from tests.changed import mirrors_of_changes

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sysconfig.get_path("scripts"))

CHECKS = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "layers": [str(SCRIPTS / "lint-imports"), "--no-cache"],
    "types": [sys.executable, "-m", "mypy"],
    "tests": [sys.executable, "-m", "pytest", "-n", "2", "-q"],
}

FAST_SECONDS = 50.0
"""No test of a fast run begins later than this after its start. What is left out is counted among the skipped."""

CORE = (
    "tests/test_architecture.py",
    "tests/test_rounding.py",
    "tests/core",
    "tests/solvers/test_driver.py",
    "tests/solvers/test_auto.py",
    "tests/estimators/test_svc.py",
    "tests/estimators/test_linear.py",
    "tests/theorems",
)
"""What a fast run looks at whatever has changed: some 40 seconds of one core."""


def main(arguments: list[str]) -> int:
    """Run each check in turn; the first that fails ends it."""
    if arguments not in ([], ["explore"], ["--fast"]):
        sys.stderr.write(f"python -m tests takes nothing, explore, or --fast; got {' '.join(arguments)}\n")
        return 2
    checks = {"tests": CHECKS["tests"]} if arguments == ["explore"] else dict(CHECKS)
    environment = {name: value for name, value in os.environ.items() if name != "MAXMARGIN_TESTS_UNTIL"}
    if arguments == ["explore"]:
        environment["HYPOTHESIS_PROFILE"] = "explore"
    if arguments == ["--fast"]:
        environment["MAXMARGIN_TESTS_UNTIL"] = str(time.time() + FAST_SECONDS)
        checks["tests"] = [*CHECKS["tests"], "-m", "not slow", *dict.fromkeys([*mirrors_of_changes(), *CORE])]
    for name, command in checks.items():
        started = time.perf_counter()
        code = subprocess.run(command, cwd=ROOT, check=False, env=environment).returncode
        sys.stderr.write(f"-- {name}: {'ok' if code == 0 else 'FAILED'}, {time.perf_counter() - started:.0f} s\n")
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
