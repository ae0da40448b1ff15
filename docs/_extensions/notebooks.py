"""Each chapter as a notebook: the page's own text and code, written beside the page when the site is built.

Code that prints something ends a cell, so that its result is shown. Pictures are left out, because the cells draw them, and so
are links, because their targets are pages of the site. Boxes that open, such as solutions, become sections that are folded.
"""

import doctest
import json
import re
from pathlib import Path
from typing import Any

FOLDER = "chapters"
FENCED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n?", re.MULTILINE)
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\((?!https?:)[^)]+\)")
OPENED, CLOSED = re.compile(r"^:::+\{dropdown\} *(.*)$", re.MULTILINE), re.compile(r"^:::+$", re.MULTILINE)
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
OPTION = re.compile(r"\s*# doctest: .*$", re.MULTILINE)
HEADING = re.compile(r"^(?=#{1,6} )", re.MULTILINE)
INTRODUCTION = (
    "This notebook is a chapter of maxmargin's documentation. It needs `pip install 'maxmargin[plot]'`. "
    "Run the cells from the top: a cell uses names of those above it."
)


def cells_of(page: str) -> list[dict[str, Any]]:
    """The cells of a page, without numbers: its words by headings, its examples by what they print."""
    pieces = FENCED.split(page)
    found: list[dict[str, Any]] = []
    for k, piece in enumerate(pieces):
        found += _code(piece) if k % 2 else _words(piece)
    found.insert(1, {"cell_type": "markdown", "metadata": {}, "source": INTRODUCTION})
    return found


def notebook_of(page: str) -> dict[str, Any]:
    """A notebook, format 4.5."""
    cells = [cell | {"id": f"cell-{k}"} for k, cell in enumerate(cells_of(page), 1)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _words(text: str) -> list[dict[str, Any]]:
    text = CLOSED.sub("", OPENED.sub(r"##### \1\n", TARGET.sub("", PICTURE.sub("", text))))
    parts = [LINK.sub(r"\1", part).strip() for part in HEADING.split(text)]
    return [{"cell_type": "markdown", "metadata": _folded(part), "source": part} for part in parts if part]


def _folded(part: str) -> dict[str, Any]:
    return {"heading_collapsed": True, "jp-MarkdownHeadingCollapsed": True} if part.startswith("##### ") else {}


def _code(text: str) -> list[dict[str, Any]]:
    found, lines = [], []
    for example in doctest.DocTestParser().get_examples(text):
        lines.append(OPTION.sub("", example.source.rstrip("\n")))
        if example.want:
            found.append(_cell(lines, ["raises-exception"] if example.exc_msg is not None else []))
            lines = []
    return [*found, _cell(lines, [])] if lines else found


def _cell(lines: list[str], tags: list[str]) -> dict[str, Any]:
    metadata = {"tags": tags} if tags else {}
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [], "source": "\n".join(lines)}


def offer(app: Any, doctree: Any) -> None:
    """Below the title of a chapter, the link to its notebook."""
    from docutils import nodes  # not above: pictures and tests need the cells, not Sphinx

    folder, _, name = app.env.docname.rpartition("/")
    title = next(iter(doctree.findall(nodes.title)), None)
    if folder == FOLDER and name != "index" and title is not None:
        words = "Download this chapter as a notebook"
        link = nodes.raw("", f'<p class="notebook"><a href="{name}.ipynb" download>{words}</a></p>', format="html")
        title.parent.insert(title.parent.index(title) + 1, link)


def write(app: Any, error: Exception | None) -> None:
    """Write the notebooks beside the pages."""
    if error is None and app.builder.format == "html":
        for page in chapters(Path(app.srcdir)):
            target = Path(app.outdir) / FOLDER / f"{page.stem}.ipynb"
            target.parent.mkdir(exist_ok=True)
            target.write_text(json.dumps(notebook_of(page.read_text()), ensure_ascii=False, indent=1) + "\n")


def chapters(docs: Path) -> list[Path]:
    """The pages that are chapters, by name."""
    return sorted(page for page in (docs / FOLDER).glob("*.md") if page.stem != "index")


def setup(app: Any) -> dict[str, bool]:
    """Listen to pages that have been read, and to the end."""
    app.connect("doctree-read", offer)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
