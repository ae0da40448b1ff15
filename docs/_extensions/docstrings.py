"""How docstrings become pages: formulas as they are written, bars as bars, links to public names only."""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import maxmargin
from maxmargin import bounds, io, kernels, plot, solvers

BEFORE_NAPOLEON, AFTER_NAPOLEON = 400, 600
"""Napoleon turns the sections into fields with Sphinx's default priority, 500."""

PUBLIC = {name for module in (maxmargin, bounds, io, kernels, plot, solvers) for name in module.__all__}
IN_BACKTICKS = re.compile(r"(`+[^`]*`+)")
WIDE_GAP = re.compile(r"(?<=\S) {4,}(?=\S)")

LONGEST = 84
"""Characters that a page has room for in one line of a formula."""


def prepare(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Mark the formulas of a docstring, list its attributes, and keep its bars from being read as substitutions."""
    lines[:] = _with_bars(_with_attributes(_with_formulas(lines)))


def rejoin(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Undo what Napoleon made of a property's sentence with a colon: it took the words before it for a type."""
    kinds = [number for number, line in enumerate(lines) if line.startswith(":type: ")]
    if what == "property" and kinds:
        words = lines.pop(kinds[0]).removeprefix(":type: ")
        lines[0] = f"{words}: {lines[0].lstrip()}"


def unlink(app: Sphinx, doctree: nodes.document) -> None:
    """Leave links only where they lead to a public name: the n of ``array (n,)`` is no attribute of some class."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("refdomain") == "py" and link["reftarget"].rpartition(".")[2] not in PUBLIC:
            link.replace_self(link.children)


def _with_formulas(lines: list[str]) -> list[str]:
    """Put ``.. code-block:: text`` before each indented paragraph that stands before the first section."""
    marked: list[str] = []
    end = _first_section(lines)
    for number, line in enumerate(lines[:end]):
        begins = line.startswith("    ") and number > 0 and not lines[number - 1].strip()
        if begins and not _is_inside_formula(marked):
            marked += [".. code-block:: text", ""]
        marked += _broken(line) if line.startswith("    ") else [line]
    return marked + lines[end:]


def _broken(line: str) -> list[str]:
    """A formula that is too long for the page, broken where its parts stand far apart."""
    if len(line) <= LONGEST:
        return [line]
    parts = WIDE_GAP.split(line.strip())
    return [f"    {part}" for part in parts]


def _first_section(lines: list[str]) -> int:
    """The line of the first heading, underlined by dashes, or of the first example or markup."""
    for number, line in enumerate(lines):
        if _is_heading(lines, number) or line.startswith((">>>", "::", "..")) or line.rstrip().endswith("::"):
            return number
    return len(lines)


def _is_inside_formula(marked: list[str]) -> bool:
    return next((line for line in reversed(marked) if line.strip()), "").startswith("    ")


def _with_attributes(lines: list[str]) -> list[str]:
    """Write the section Attributes as a list: Napoleon would lose the underscores, and all names of a line but one."""
    begin = next((number for number, line in enumerate(lines) if line == "Attributes" and _is_heading(lines, number)), None)
    if begin is None:
        return lines
    after = range(begin + 2, len(lines))
    end = next((number for number in after if _is_heading(lines, number)), len(lines))
    written = ["", "", ":Attributes:", ""]  # two empty lines end a section of Napoleon's
    for line in lines[begin + 2 : end]:
        written.append(f"    {line}" if line.startswith(" ") or not line else _entry(line))
    return [*lines[:begin], *written, "", *lines[end:]]


def _entry(line: str) -> str:
    """An item of the list: names as code, the type behind them."""
    names, _, kind = line.partition(" : ")
    code = ", ".join(f"``{name.strip()}``" for name in names.split(","))
    return f"    * {code}" + (f" (*{kind}*)" if kind else "")


def _is_heading(lines: list[str], number: int) -> bool:
    below = lines[number + 1] if number + 1 < len(lines) else ""
    return len(below) > 2 and not below.strip("-")


def _with_bars(lines: list[str]) -> list[str]:
    """Escape each | that stands in prose: not in code, and not in an example."""
    escaped, is_example, is_formula = [], False, False
    for line in lines:
        is_example = bool(line.strip()) and (is_example or line.lstrip().startswith(">>>"))
        is_formula = line.startswith(".. code-block") or (is_formula and (not line.strip() or line.startswith("    ")))
        escaped.append(line if is_example or is_formula else _escape(line))
    return escaped


def _escape(line: str) -> str:
    parts = IN_BACKTICKS.split(line)
    return "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to autodoc, and to pages that have been read."""
    app.connect("autodoc-process-docstring", prepare, priority=BEFORE_NAPOLEON)
    app.connect("autodoc-process-docstring", rejoin, priority=AFTER_NAPOLEON)
    app.connect("doctree-read", unlink)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
