"""Run one suite, or draw its picture again: ``python -m benchmarks linear``, ``python -m benchmarks picture linear``."""

import argparse
import importlib
import os
from collections.abc import Sequence
from typing import Any

from benchmarks.options import Options, parse_cases, parse_names

SUITES: dict[str, tuple[str, ...]] = {
    "hard_margin": (),
    "small": ("data",),
    "small_growth": ("data", "rows"),
    "linear": ("cases", "data", "contenders", "seconds", "merge"),
    "linear_growth": ("cases",),
    "linear_memory": ("cases", "data"),
    "kernel": ("cases", "data", "contenders", "seconds", "merge", "rows"),
    "svr": ("cases", "data", "seconds", "merge", "rows"),
    "linear_svr": ("cases", "data", "seconds", "merge", "rows"),
    "one_class": ("cases", "data", "seconds", "merge", "rows"),
    "nu": ("cases", "data", "seconds", "merge", "rows"),
    "kernel_growth": ("cases", "rows"),
    "kernel_memory": ("data", "contenders", "rows"),
    "kernel_prediction": ("data", "contenders", "rows"),
    "proof_share": ("data",),
    "against": ("data", "suites", "other"),
    "online": ("data",),
    "loo": ("data", "rows"),
    "loo_honest": ("data",),
    "reuters_loo": ("data", "rows"),
    "reuters_capacity": ("data", "rows"),
    "l1": ("data",),
    "ramp": ("data",),
    "distributed": ("data", "contenders"),
    "distributed_rounds": ("data",),
}
"""Each suite with the options that it takes beside the repeats."""

REPEATS = {"small": 7, "small_growth": 7}
"""Where more than 3 runs of each are the default."""

ARGUMENTS: dict[str, dict[str, Any]] = {
    "cases": {"type": parse_cases, "default": (), "metavar": "C:GAP,…", "help": "as in 1:1e-3,100:1e-6"},
    "data": {"type": parse_names, "default": (), "metavar": "NAME,…"},
    "contenders": {"type": parse_names, "default": (), "metavar": "NAME,…"},
    "seconds": {
        "type": float,
        "default": 30.0,
        "help": "a contender that takes longer, and twice as long as we do, is given up",
    },
    "merge": {"action": "store_true", "help": "replace only the rows that are run again"},
    "suites": {"type": parse_names, "default": (), "metavar": "NAME,…", "help": "kernel, linear, loo, l1, online"},
    "other": {"required": True, "metavar": "FOLDER", "help": "another checkout of the project"},
    "rows": {"type": int, "default": None, "help": "of each set so many at most: for a quick look"},
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the name of the suite and run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="suite", required=True)
    for suite, names in SUITES.items():
        command = commands.add_parser(suite)
        command.add_argument("--repeats", type=int, default=REPEATS.get(suite, 3), help="the median of so many runs is kept")
        for name in names:
            command.add_argument(f"--{name}", **ARGUMENTS[name])
    drawn = [
        name + part for name in ("linear", "kernel", "loo", "reuters_loo", "l1", "ramp", "distributed") for part in ("", "_part")
    ]
    commands.add_parser("picture").add_argument("name", choices=[*drawn, "small", "small_part", "small_growth"])
    values = vars(parser.parse_args(arguments))
    suite = values.pop("suite")
    # Read when OpenMP is loaded, so before any suite is. The threads of multi-core LIBLINEAR meet thousands of times a second:
    # if they wait actively and a core is shared, it is ten times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if suite == "picture":
        importlib.import_module(f"benchmarks.{values['name'].removesuffix('_part')}").finish(values["name"])
    else:
        importlib.import_module(f"benchmarks.{suite}").run(Options(**values))


if __name__ == "__main__":
    main()
