"""The table of leave-one-out: samples, error, share retrained, seconds, ξα; and what settled the labels."""

from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from maxmargin.estimators import LeaveOneOut


def loo_tables(result: "LeaveOneOut") -> list[Any]:
    """Two tables: the numbers, and how many labels each theorem settled; and which machines were meant."""
    share = result.n_retrained / max(result.n, 1)
    error = f"{result.error:.2%}"
    if result.error_range.lower < result.error_range.upper:
        error = f"{result.error_range.lower:.2%} … {result.error_range.upper:.2%}"
    numbers = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    row = {
        "samples": str(result.n),
        "error": error,
        "retrained": f"{share:.2%}",
        "seconds": f"{result.seconds:.3g}",
    }
    if not isinstance(result.xi_alpha, tuple):
        row["ξα error"] = f"≈ {result.xi_alpha.error:.2%}"
        row["ξα recall"] = f"≈ {result.xi_alpha.recall:.2%}"
        row["ξα precision"] = f"≈ {result.xi_alpha.precision:.2%}"
    for heading in row:
        numbers.add_column(heading, justify="right")
    numbers.add_row(*row.values())
    settled = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    settled.add_column(justify="right")
    settled.add_column(style="dim")
    for how, count in result.counts().items():
        settled.add_row(str(count), Text(str(how)))
    return [Padding(numbers, (0, 0, 0, 2)), Padding(settled, (1, 0, 0, 2)), f"\n{result.meaning}"]
