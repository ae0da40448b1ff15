"""Run a module of the benchmarks in a process of its own and read the JSON that it prints last."""

import json
import os
import subprocess
import sys
from typing import Any


def run_fresh(module: str, *arguments: str, **environment: str) -> Any:
    """What ``python -m MODULE ARGUMENTS`` printed last."""
    output = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return json.loads(output.splitlines()[-1])
