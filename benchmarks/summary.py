"""A suite in a few lines: geometric means of the ratios, and the floors that must hold."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.options import case_name
from benchmarks.results import Row

FREE_BIAS = "ours, free bias"
LIBLINEARS = ("scikit-learn", "LIBLINEAR")
MULTICORE = "multi-core LIBLINEAR"
KERNELS = ("scikit-learn", "scikit-learn-intelex")
EASY, HARD = case_name(1.0, 1e-3), case_name(100.0, 1e-6)
OWN_C = "own C, gap 1e-3"
"""The case of the kernel suite in which each set has a C of its own."""


def geometric_mean(values: Iterable[float]) -> float:
    """exp of the mean of the logarithms."""
    return float(np.exp(np.mean(np.log(list(values)))))


@dataclass(frozen=True)
class Floor:
    """What must hold for the ratios against one contender, of one case or (None) of all."""

    contender: str
    case: str | None
    measure: Callable[[Iterable[float]], float]
    bound: float
    is_upper: bool = False

    def selects(self, row: Row) -> bool:
        """Whether a row counts."""
        return row["contender"] == self.contender and self.case in (None, case_of(row))

    def holds(self, value: float) -> bool:
        """Whether a measured value is on the right side."""
        return value <= self.bound if self.is_upper else value >= self.bound


LINEAR_FLOORS = (
    *(Floor(name, EASY, min, 1.0) for name in LIBLINEARS),
    Floor(MULTICORE, EASY, geometric_mean, 1.0),
    *(Floor(name, HARD, geometric_mean, 5.0) for name in LIBLINEARS),
    Floor(FREE_BIAS, None, geometric_mean, 2.0, is_upper=True),
)
KERNEL_FLOORS = (
    *(Floor(name, OWN_C, min, 1.0) for name in KERNELS),
    *(Floor(name, OWN_C, geometric_mean, bound) for name, bound in zip(KERNELS, (7.0, 2.0), strict=True)),
)


def case_of(row: Row) -> str:
    """The case that a row belongs to: the one it names, or its C and gap."""
    return str(row["case"]) if "case" in row else case_name(row["C"], row["gap"])


def cases(rows: list[Row]) -> list[str]:
    """The cases of some rows, the easiest first."""
    return list(dict.fromkeys(case_of(row) for row in sorted(rows, key=lambda row: (row["C"], -row["gap"]))))


def ours_reached(rows: list[Row]) -> list[Row]:
    """The rows whose gap we reached ourselves: a ratio of times at different gaps says nothing."""
    return [row for row in rows if row["our gap"] <= row["gap"]]


def means(rows: list[Row]) -> list[Row]:
    """Geometric means over the sets, one line a contender and one column a case; ≥ where a gap was not reached."""
    rows = ours_reached(rows)
    return [
        {"contender": name} | {case: _mean([r for r in _measured(rows, name) if case_of(r) == case]) for case in cases(rows)}
        for name in dict.fromkeys(row["contender"] for row in rows)
    ]


def verdicts(rows: list[Row], floors: Iterable[Floor]) -> list[Row]:
    """Each floor with its measured value: met, not met, or not shown where only a lower bound of the ratio is known."""
    return [_verdict(floor, [r for r in _measured(rows, floor.contender) if floor.selects(r)]) for floor in floors]


def _measured(rows: list[Row], contender: str) -> list[Row]:
    return [row for row in rows if row["contender"] == contender and isinstance(row["ratio"], float)]


def _mean(rows: list[Row]) -> str:
    if not rows:
        return "–"
    sign = "" if all(row["reached"] for row in rows) else "≥ "
    return f"{sign}{geometric_mean(row['ratio'] for row in rows):.2f}"


def _verdict(floor: Floor, rows: list[Row]) -> Row:
    is_bound = not all(row["reached"] for row in rows)
    measured = f"{'≥ ' if is_bound else ''}{floor.measure([row['ratio'] for row in rows]):.2f}" if rows else "–"
    where = "on each set" if floor.measure is min else "in the mean"
    return {
        "against": floor.contender,
        "case": floor.case or "all",
        "floor": f"{'≤' if floor.is_upper else '≥'} {floor.bound:g} × {where}",
        "measured": measured,
        "sets": len({row["data"] for row in rows}),
        "verdict": _judge(floor, rows) if rows else "not run",
    }


def _judge(floor: Floor, rows: list[Row]) -> str:
    """A lower bound that is too low shows nothing, unless an upper one was asked for."""
    missed = [row for row in rows if row["our gap"] > row["gap"] or (floor.is_upper and not row["reached"])]
    if missed:
        return f"not met: our gap is too large on {_sets(missed)}"
    if floor.holds(floor.measure([row["ratio"] for row in rows])):
        return "met"
    if floor.measure is not min:
        return "not met" if all(row["reached"] for row in rows) else "not shown"
    short = [row for row in rows if not floor.holds(row["ratio"])]
    shown = [row for row in short if row["reached"]]
    return f"not met: {_sets(shown)}" if shown else f"not shown: {_sets(short)}"


def _sets(rows: list[Row]) -> str:
    return ", ".join(dict.fromkeys(row["data"] for row in rows))
