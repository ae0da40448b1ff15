"""Formulas as MathML, which browsers draw by themselves: no script, no fonts from elsewhere, no TeX.

The conversion is that of docutils. What it does not know, or would misread, is a warning, and so stops the build.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)
OPENED, CLOSED = re.compile(r"(?<!\\)\{"), re.compile(r"(?<!\\)\}")
BARE_FRACTION = re.compile(r"\\[dt]?frac\s*[^{\s]")
"""A fraction without braces: docutils reads the 12 of ``\\frac12`` as one number."""


def to_mathml(tex: str, *, is_block: bool, place: Any = None) -> str:
    """MathML of a formula in LaTeX; where it cannot be converted a warning and the source."""
    try:
        if BARE_FRACTION.search(tex):
            raise MathError("write \\frac{1}{2}, with braces")
        if len(OPENED.findall(tex)) != len(CLOSED.findall(tex)):
            raise MathError("a brace is open, or closed too often")
        if is_block and "\\\\" in tex and "\\begin" not in tex:
            tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
        return str(latex2mathml.tex2mathml(tex, as_block=is_block))
    except (MathError, SyntaxError) as error:
        LOG.warning("formula %r: %s", tex, error, location=place)
        return f"<code>{tex}</code>"


def visit_inline(writer: Any, node: nodes.math) -> None:
    """A formula in a sentence."""
    writer.body.append(to_mathml(node.astext(), is_block=False, place=node))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """A formula in its own line, which may be scrolled where the screen is narrow."""
    mathml = to_mathml(node.astext(), is_block=True, place=node)
    writer.body.append(f'<div class="formula">{mathml}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
