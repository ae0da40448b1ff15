"""Draw problems, fit, and judge with independent code.

    python -m tests.campaign [MINUTES] [SEED] [--only FAMILY]       all families in turn until the time is over
    python -m tests.campaign exact --linear 20000 --kernels 2000 --large 200 [--seed SEED]       so many certificates each

A seed is a sequence of problems for each family; the time decides how far it gets. A failure prints the lines that reproduce it.
The exit code is 1 if there was any.
"""

import argparse
import sys
import time

from tests.campaign.draws import FAMILIES, draw
from tests.campaign.runs import Tally, run

SHARES = {"linear": 0.35, "kernels": 0.2, "left_out": 0.15, "words": 0.1, "large": 0.15, "units": 0.05}
"""Parts of a campaign's time."""

SMALL_CAMPAIGN, SMALL_LARGE = 10.0, 3000
"""Minutes up to which a campaign draws large problems of at most so many samples, so that one of them is not all of it."""

SEEDS_APART = 1_000_000
"""Distance of the first numbers of two campaigns with neighbouring seeds."""


def main(arguments: list[str]) -> int:
    """Run, print the table, return the exit code."""
    if arguments[:1] == ["exact"]:
        return exact(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("minutes", nargs="?", type=float, default=10.0)
    parser.add_argument("seed", nargs="?", type=int, default=None, help="the time of day if it is left out")
    parser.add_argument("--only", choices=FAMILIES, help="one family")
    parser.add_argument("--claims", action="store_true", help="exit with 0 after stalls, which depend on the machine's pace")
    given = parser.parse_args(arguments)
    seed = int(time.time()) % 100_000 if given.seed is None else given.seed
    ends = time.monotonic() + 60.0 * given.minutes
    tally = Tally()
    spent = dict.fromkeys([given.only] if given.only else SHARES, 0.0)
    numbers = dict.fromkeys(spent, seed * SEEDS_APART)
    while (now := time.monotonic()) < ends:
        family = min(spent, key=lambda name: spent[name] / SHARES[name])
        number = numbers[family]
        if given.minutes > SMALL_CAMPAIGN or family != "large" or len(draw(family, number).y) <= SMALL_LARGE:
            tally.add(run(family, number, ends - now))
        spent[family] += time.monotonic() - now
        numbers[family] += 1
    code = finish(tally, f"seed {seed}")
    return 0 if given.claims and all(check == "stall" for _, check in tally.failed) else code


def exact(arguments: list[str]) -> int:
    """Only certificates, a given number of each family."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign exact", description=exact.__doc__)
    for family in ("linear", "kernels", "units", "large"):
        parser.add_argument(f"--{family}", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    tally = Tally()
    for family in ("linear", "kernels", "units", "large"):
        for number in range(getattr(given, family)):
            tally.add(run(family, given.seed * SEEDS_APART + number, only_certificates=True))
    return finish(tally, f"seed {given.seed}")


def finish(tally: Tally, name: str) -> int:
    """Print the table, and say whether all is well."""
    sys.stdout.write(f"\n{tally.table()}\n")
    sys.stdout.write(f"{name}: {tally.n_failures} failures\n" if tally.n_failures else f"{name}: no failures\n")
    return 1 if tally.n_failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
