"""The table of bounds: value, formula, and whether it says anything."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from maxmargin.analysis.bounds import Bound


def bounds_table(bounds: "Mapping[str, Bound]") -> Group:
    """A line a bound, and below what the marks mean."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("bound")
    table.add_column("value", justify="right")
    table.add_column("")
    table.add_column("formula", style="dim", overflow="fold")
    for name, bound in bounds.items():
        style = "dim" if bound.vacuous else ""
        table.add_row(
            Text(name.replace("_", " "), style=style),
            Text(_short(bound), style=style),
            _marks(bound),
            Text(bound.formula),
        )
    meanings = []
    if any(bound.vacuous for bound in bounds.values()):
        meanings.append("vacuous: 1 or more, and no error is larger than 1")
    if any(bound.plug_in for bound in bounds.values()):
        meanings.append("plug-in: uses values measured on the sample; the theorem is about the distribution")
    return Group(Padding(table, (0, 0, 0, 2)), Padding(Text("; ".join(meanings), style="dim"), (1, 0, 0, 2)))


def _short(bound: "Bound") -> str:
    return f"{bound.value:,}" if isinstance(bound.value, int) else f"{float(bound):.3g}"


def _marks(bound: "Bound") -> Text:
    marks = Text()
    if bound.vacuous:
        marks.append("vacuous", style="bold yellow")
    if bound.plug_in:
        marks.append(", plug-in" if bound.vacuous else "plug-in", style="yellow")
    return marks
