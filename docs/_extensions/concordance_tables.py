"""The tables of the concordance, made from ``docs/concordance.toml`` when the site is built.

``{concordance} UML`` is the table of one text: what stands where, its public names, a line that runs, the test, the page.
``{concordance-setup}`` is the program that the lines take for granted.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DATA = Path(__file__).parents[1] / "concordance.toml"


class FromData(SphinxDirective):
    """A directive whose Markdown is made from the data file."""

    def run(self) -> list[nodes.Node]:
        """Write Markdown and have it parsed; tell Sphinx on which file it rests."""
        self.env.note_dependency(str(DATA))
        return self.parse_text_to_nodes(self.write(tomllib.loads(DATA.read_text(encoding="utf-8"))))

    def write(self, data: dict[str, Any]) -> str:
        """The Markdown."""
        raise NotImplementedError


class Setup(FromData):
    """What each line takes for granted."""

    def write(self, data: dict[str, Any]) -> str:
        """A block of code that can be copied."""
        return f"```python\n{data['setup']}```"


class Concordance(FromData):
    """The items of one text."""

    required_arguments: ClassVar = 1

    def write(self, data: dict[str, Any]) -> str:
        """A table of them."""
        return table(data[self.arguments[0]], data["pages"])


def table(items: list[dict[str, Any]], pages: dict[str, str]) -> str:
    """A list table, since its cells hold code; sections or slides are rows in bold."""
    lines = ["`````{list-table}", ":header-rows: 1", ":class: concordance", "", "* - there", "  - here"]
    place = None
    for item in items:
        if item["place"] != place:
            place = item["place"]
            lines += ["* -", f"  - **{place}**"]
        lines += [f"* - {item['at']}", f"  - {description(item, pages)}", "", *code(item["run"])]
    return "\n".join([*lines, "`````"])


def description(item: dict[str, Any], pages: dict[str, str]) -> str:
    """What it says, names, page and tests, each on a line of its own."""
    names = ", ".join(f"[`{name}`]({home_of(name)}.md)" for name in item["names"])
    page, _, section = pages[item["page"]].partition("#")
    link = f"[{words(pages[item['page']])}]({page}.md{'#' * bool(section)}{section})"
    tests = ", ".join(f"`{test.rpartition('::')[2]}`" for test in item["tests"])
    return "\\\n    ".join([item["title"], f"{names} · {link}", tests])


@cache
def reference() -> dict[str, str]:
    """The page of the reference that describes each name."""
    rows = re.findall(r"^\| \[`([\w.]+)`\]\((api/\w+)\.md\)", (DATA.parent / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


def home_of(name: str) -> str:
    """The page of a name, or of the class that it belongs to."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        if (known := ".".join(parts[:k])) in reference():
            return reference()[known]
    raise KeyError(f"{name} stands in the concordance and is missing in docs/api.md.")


def words(page: str) -> str:
    """What a link to a page is called."""
    return page.partition("#")[2].replace("-", " ") or page.rpartition("/")[2].replace("_", " ")


def code(run: str) -> list[str]:
    """A block of code in a cell."""
    return ["    ```python", *(f"    {line}".rstrip() for line in run.rstrip("\n").splitlines()), "    ```"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("concordance", Concordance)
    app.add_directive("concordance-setup", Setup)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
