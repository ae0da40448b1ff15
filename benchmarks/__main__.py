"""Run one suite, or draw its picture again: ``python -m benchmarks linear``, ``python -m benchmarks picture linear``."""

import argparse
import importlib
import os
from collections.abc import Sequence

from benchmarks.options import Options, parse_cases, parse_names

SUITES = ("hard_margin", "linear", "linear_growth", "linear_memory", "online")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the name of the suite and run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="suite", required=True)
    for suite in SUITES:
        command = commands.add_parser(suite)
        command.add_argument("--repeats", type=int, default=3, help="the median of so many runs is kept")
        if suite not in ("hard_margin", "online"):
            command.add_argument(
                "--cases", type=parse_cases, default=(), metavar="C:GAP,…", help="as in 1:1e-3,100:1e-6"
            )
        if suite in ("linear", "linear_memory", "online"):
            command.add_argument("--data", type=parse_names, default=(), metavar="NAME,…")
        if suite == "linear":
            command.add_argument("--contenders", type=parse_names, default=(), metavar="NAME,…")
            command.add_argument(
                "--seconds",
                type=float,
                default=30.0,
                help="a contender that takes longer, and twice as long as we do, is given up",
            )
            command.add_argument("--merge", action="store_true", help="replace only the rows that are run again")
    commands.add_parser("picture").add_argument("name", choices=("linear", "linear_part"))
    values = vars(parser.parse_args(arguments))
    suite = values.pop("suite")
    # Read when OpenMP is loaded, so before any suite is. The threads of multi-core LIBLINEAR meet thousands of times a second:
    # if they wait actively and a core is shared, it is ten times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if suite == "picture":
        importlib.import_module("benchmarks.linear").finish(values["name"])
    else:
        importlib.import_module(f"benchmarks.{suite}").run(Options(**values))


if __name__ == "__main__":
    main()
