"""Everything that must hold before a change lands: ``python -m tests`` from the project's root."""

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


def main() -> int:
    """Run each check in turn; the first that fails ends it."""
    for name, command in CHECKS.items():
        started = time.perf_counter()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        sys.stderr.write(f"-- {name}: {'ok' if code == 0 else 'FAILED'}, {time.perf_counter() - started:.0f} s\n")
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
