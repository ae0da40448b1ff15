"""Results kept in git: a csv of rows and a json of the machine and the versions that made them."""

import csv
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.timing import cores

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "clarabel", "maxmargin")

Row = dict[str, Any]


def save(suite: str, rows: list[Row], **more: Any) -> None:
    """Write results/SUITE.csv and results/SUITE.json; `more` goes into the json."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{suite}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    config = {
        "cores": cores(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
        **more,
    }
    (FOLDER / f"{suite}.json").write_text(json.dumps(config, indent=2) + "\n")


def load(suite: str) -> list[Row]:
    """The rows of results/SUITE.csv with numbers and truths as such; none where there is no such file."""
    path = FOLDER / f"{suite}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def show(title: str, rows: list[Row]) -> None:
    """Print rows as a table."""
    table = Table(title=title, box=None, header_style="bold", padding=(0, 1))
    for column in rows[0]:
        table.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    console = Console()
    (console if console.is_terminal else Console(width=140)).print(table)


def _value(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    try:
        return float(text)
    except ValueError:
        return text
