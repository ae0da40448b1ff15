"""Everything that must hold before a change lands: ``python -m tests`` from the project's root.

``python -m tests explore`` runs the tests alone, with examples that no run has drawn before; see `conftest.py`.
"""

import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sysconfig.get_path("scripts"))

CHECKS = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "layers": [str(SCRIPTS / "lint-imports"), "--no-cache"],
    "types": [sys.executable, "-m", "mypy"],
    "tests": [sys.executable, "-m", "pytest", "-n", "2", "-q"],
}


def main(arguments: list[str]) -> int:
    """Run each check in turn; the first that fails ends it."""
    if arguments not in ([], ["explore"]):
        sys.stderr.write(f"python -m tests takes nothing, or explore; got {' '.join(arguments)}\n")
        return 2
    names = ["tests"] if arguments else list(CHECKS)
    environment = {**os.environ, "HYPOTHESIS_PROFILE": "explore"} if arguments else None
    for name in names:
        started = time.perf_counter()
        code = subprocess.run(CHECKS[name], cwd=ROOT, check=False, env=environment).returncode
        sys.stderr.write(f"-- {name}: {'ok' if code == 0 else 'FAILED'}, {time.perf_counter() - started:.0f} s\n")
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
