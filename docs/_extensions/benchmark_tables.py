"""The tables of the page about benchmarks, made from ``benchmarks/results/*.csv`` when the site is built.

- ``{benchmark-table} SUITE``: the stored rows; ``:columns:`` chooses some of them
- ``{benchmark-ratios} SUITE``: seconds of ours, ratios of the others, one table for each case
- ``{benchmark-means} SUITE``: geometric means of the ratios
- ``{benchmark-machine} SUITE``: one sentence, cores and versions
"""

import json
import re
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from benchmarks import results, summary

OURS = "ours"
NUMBER = re.compile(r"(?:≥ )?[−-]?\d[\d .e+-]*s?|–")


class FromResults(SphinxDirective):
    """A directive whose Markdown is made from the rows of one suite."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write Markdown and have it parsed; tell Sphinx on which file it rests."""
        suite = self.arguments[0]
        self.env.note_dependency(str(results.FOLDER / f"{suite}.csv"))
        rows = results.load(suite)
        text = self.write(suite, rows) if rows else f"No results of `{suite}` are kept in git."
        return self.parse_text_to_nodes(text)

    def write(self, suite: str, rows: list[results.Row]) -> str:
        """The Markdown."""
        raise NotImplementedError


class StoredTable(FromResults):
    """The stored rows."""

    option_spec: ClassVar = {"columns": directives.unchanged}

    def write(self, suite: str, rows: list[results.Row]) -> str:
        """Rows as they are, numbers to three digits; rows that look the same once."""
        chosen = [name.strip() for name in self.options.get("columns", ",".join(rows[0])).split(",")]
        lines = dict.fromkeys(tuple(cell(row, name) for name in chosen) for row in rows)
        return markdown_table([dict(zip(chosen, line, strict=True)) for line in lines])


class Ratios(FromResults):
    """One table a case: a row for each set, a column for each contender."""

    def write(self, suite: str, rows: list[results.Row]) -> str:
        """Tables under a line that names the case."""
        return "\n\n".join(f"**{case}**\n\n{markdown_table(ratios(rows, case))}" for case in summary.cases(rows))


class Means(FromResults):
    """Geometric means over the sets."""

    def write(self, suite: str, rows: list[results.Row]) -> str:
        """What the suite prints itself."""
        return markdown_table(summary.means(rows))


class Machine(FromResults):
    """What the results were measured with."""

    def write(self, suite: str, rows: list[results.Row]) -> str:
        """One sentence from the suite's json."""
        config = json.loads((results.FOLDER / f"{suite}.json").read_text())
        versions = ", ".join(f"{name} {config[name]}" for name in results.PACKAGES if name in config)
        told = {
            "repeats": "runs of each",
            "seconds": "seconds of patience",
            "load before": "load of the machine before",
        }
        settings = ", ".join(f"{words} {config[name]:g}" for name, words in told.items() if name in config)
        where = f"{config['cores']} cores ({config['machine']}), Python {config['python']}, {versions}"
        return f"Measured on {where}." + (f" The last run, whose rows may be some of these: {settings}." if settings else "")


def ratios(rows: list[results.Row], case: str) -> list[results.Row]:
    """A case's sets, each with our seconds and everyone's ratio; ≥ where the contender did not reach the gap."""
    here = [row for row in summary.ours_reached(rows) if summary.case_of(row) == case]
    found = {(row["data"], row["contender"]): row for row in here}
    names = [name for name in _in_order(rows, "contender") if any(name == measured for _, measured in found)]
    table = []
    for data in _in_order(rows, "data"):
        mine = {name: found[data, name] for name in names if (data, name) in found}
        if mine:
            seconds = next(iter(mine.values()))[OURS]
            measured = {name: cell(mine[name], "ratio") if name in mine else "–" for name in names}
            table.append({"data": f"`{data}`", OURS: f"{seconds:.3g} s"} | measured)
    return table


def _in_order(rows: list[results.Row], name: str) -> list[str]:
    """The values of a column, each once, as they first appear."""
    return list(dict.fromkeys(row[name] for row in rows))


def cell(row: results.Row, name: str) -> str:
    """One value as text."""
    value = row[name]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value or "–"
    if name in ("n", "d", "rows", "columns", "entries", "classes", "features", "our features", "support", "epochs"):
        return f"{value:,.0f}".replace(",", " ")
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}".replace(",", " ")
    is_bound = name == "ratio" and row.get("reached") is False
    return f"≥ {text}" if is_bound else text


def markdown_table(rows: list[dict[str, str]]) -> str:
    """A pipe table: numbers to the right, words to the left."""
    names = list(rows[0])
    sides = ["---:" if NUMBER.fullmatch(rows[0][name]) else "---" for name in names]
    lines = [names, sides, *([row[name] for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("benchmark-table", StoredTable)
    app.add_directive("benchmark-ratios", Ratios)
    app.add_directive("benchmark-means", Means)
    app.add_directive("benchmark-machine", Machine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
