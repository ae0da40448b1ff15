"""What notebooks show: a sentence, and numbers below it. Colours of words are the notebook's own, light or dark."""

from collections.abc import Mapping
from html import escape
from typing import Any

EDGES = {True: "#009E73", False: "#E69F00", None: "#8c8c8c"}
"""The colour of the edge where something is proved, where it is not, and where nothing was to be."""


def box(sentence: str, numbers: Mapping[str, Any], is_proved: bool | None = None) -> str:
    """HTML of a sentence with a table of numbers; all of it is escaped.

    Examples
    --------
    >>> "<td" in box("a < b", {"gap": 0.5}), "a &lt; b" in box("a < b", {})
    (True, True)
    """
    cell = 'style="text-align: left; padding: .1em 1.2em .1em 0; background: none"'
    rows = [f"<tr><td {cell}>{escape(name)}</td><td {cell}>{escape(str(value))}</td></tr>" for name, value in numbers.items()]
    table = f'<table style="border: 0; margin: .4em 0 0">{"".join(rows)}</table>' if rows else ""
    style = f"border-left: 4px solid {EDGES[is_proved]}; padding: .2em 0 .2em .8em; margin: .4em 0; max-width: 50em"
    return f'<div class="maxmargin" style="{style}"><div>{escape(sentence)}</div>{table}</div>'
