"""What Markdown and docstrings cannot say: c_j with its subscript, code without an empty last line."""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

SUBSCRIPT = re.compile(r"((?<![A-Za-z_.])(?:[A-Za-zα-ωΣΩ]|min|max|argmin)|‖)_([a-z]{1,2}|[A-Z0-9∞])(?![a-z0-9_(])")
"""A symbol of one letter (or min, max, ‖…‖) and an index of one or two: c_j, Σ_j, k_ii, ‖w‖_∞, but no name of a variable."""

AS_WRITTEN = (nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.math, nodes.math_block, nodes.raw)


def tidy(app: Sphinx, doctree: nodes.document) -> None:
    """Set subscripts in prose, and end each piece of code with its last line."""
    for code in doctree.findall(nodes.literal_block):
        text = code.astext().rstrip()
        code.rawsource = text
        code.children = []
        code += nodes.Text(text)
    for text in list(doctree.findall(nodes.Text)):
        if SUBSCRIPT.search(text) and not _is_as_written(text):
            text.parent.replace(text, list(_with_subscripts(text)))


def _is_as_written(text: nodes.Text) -> bool:
    parent = text.parent
    while parent is not None:
        if isinstance(parent, AS_WRITTEN):
            return True
        parent = parent.parent
    return False


def _with_subscripts(text: str) -> Iterator[nodes.Node]:
    begin = 0
    for match in SUBSCRIPT.finditer(text):
        yield nodes.Text(text[begin : match.end(1)])
        yield nodes.subscript("", match.group(2))
        begin = match.end()
    yield nodes.Text(text[begin:])


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to pages that have been read."""
    app.connect("doctree-read", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
