"""Run one suite by name: ``python -m benchmarks hard_margin``."""

import argparse
import importlib

SUITES = ("hard_margin", "linear")


def main() -> None:
    """Read the name of the suite and run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--repeats", type=int, default=3, help="the median of so many runs is kept")
    arguments = parser.parse_args()
    importlib.import_module(f"benchmarks.{arguments.suite}").run(arguments.repeats)


if __name__ == "__main__":
    main()
