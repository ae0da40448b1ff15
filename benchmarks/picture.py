"""The picture of a suite: a contender's seconds over ours, one panel a case, one line a set, on a log axis."""

from pathlib import Path
from typing import Any

from benchmarks.results import Row
from benchmarks.summary import FREE_BIAS, case_of, cases, ours_reached

LOOKS = {
    "scikit-learn": ("#0072B2", "o"),
    "scikit-learn-intelex": ("#56B4E9", "P"),
    "LIBLINEAR": ("#E69F00", "s"),
    "multi-core LIBLINEAR": ("#D55E00", "D"),
    "Snap ML": ("#009E73", "^"),
    "ReHLine": ("#CC79A7", "v"),
    "one machine": ("#000000", "o"),
    "Spark MLlib": ("#E69F00", "s"),
}
"""Colours of Okabe and Ito, told apart by the colour-blind, and shapes, told apart in grey."""

AXIS = "a contender's seconds over ours (right of 1: ours is faster;\nhollow: the gap was not reached, a lower bound)"


def draw(rows: list[Row], path: Path) -> bool:
    """Write the picture; False where matplotlib is not installed or nothing was measured."""
    rows = [row for row in ours_reached(rows) if row["contender"] != FREE_BIAS and isinstance(row["ratio"], float)]
    try:
        import matplotlib.figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return False
    if not rows:
        return False
    sets = list(dict.fromkeys(row["data"] for row in rows))[::-1]
    panels = cases(rows)
    names = [name for name in LOOKS if any(row["contender"] == name for row in rows)]
    figure = matplotlib.figure.Figure(figsize=(3.0 * len(panels) + 1.6, 0.62 * len(sets) + 1.7), layout="constrained")
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for panel, case in zip(axes, panels, strict=True):
        _panel(panel, [row for row in rows if case_of(row) == case], sets, names)
        panel.set_title(case, fontsize=10)
    axes[0].set_yticks(range(len(sets)), sets)
    figure.supxlabel(AXIS, fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(names), frameon=False, fontsize=9)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return True


def _panel(panel: Any, rows: list[Row], sets: list[str], names: list[str]) -> None:
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter("{x:g}")
    panel.axvline(1.0, color="black", linewidth=1.0, zorder=1.5)
    panel.grid(axis="x", color="0.9", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(-0.6, len(sets) - 0.4)
    for line in range(len(sets) - 1):
        panel.axhline(line + 0.5, color="0.85", linewidth=0.6, zorder=1.0)
    for number, name in enumerate(names):
        colour, marker = LOOKS[name]
        panel.plot([], [], marker=marker, color=colour, linestyle="", label=name)
        offset = 0.3 - 0.6 * (number + 0.5) / len(names)
        for row in (row for row in rows if row["contender"] == name):
            fill = colour if row["reached"] else "white"
            panel.plot(row["ratio"], sets.index(row["data"]) + offset, marker=marker, color=colour, markerfacecolor=fill)
