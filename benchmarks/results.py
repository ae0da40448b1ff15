"""Results kept in git: a csv of rows and a json of the machine and the versions that made them."""

import csv
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "clarabel", "maxmargin")


def save(suite: str, rows: list[dict[str, Any]]) -> None:
    """Write results/SUITE.csv and results/SUITE.json."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{suite}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    config = {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }
    (FOLDER / f"{suite}.json").write_text(json.dumps(config, indent=2) + "\n")


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a table."""
    table = Table(title=title, box=None, header_style="bold", padding=(0, 1))
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "data" else "right")
    for row in rows:
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)
