"""Markup from text: whatever is not markup already is escaped, here and nowhere else."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

VOID = {"meta", "line", "rect", "circle", "path", "polyline"}
"""Elements that have no content here."""


class Html(str):
    """Text that is markup already."""


class Section(Html):
    """A section of the page, with what its link says and where it leads."""

    heading: str
    anchor: str


def element(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element; children that are no `Html` are escaped, ``class_`` means class, ``a_b`` means a-b, None is left out.

    Examples
    --------
    >>> print(element("p", "1 < 2, ", element("b", "&"), class_="note"))
    <p class="note">1 &lt; 2, <b>&amp;</b></p>
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID and not children:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[Any]) -> Html:
    """Children one after the other, each escaped unless it is markup."""
    return Html("".join(child if isinstance(child, Html) else escape(str(child)) for child in children))


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers_from: int = 1,
    class_: str | None = None,
) -> Html:
    """A table with a caption and headers; columns from `numbers_from` on are aligned to the right."""

    def cell(kind: str, k: int, content: Any, **attributes: Any) -> Html:
        return element(kind, content, class_="n" if k >= numbers_from else None, **attributes)

    body = [
        element("tr", *(cell("td" if k else "th", k, c, scope=None if k else "row") for k, c in enumerate(row)))
        for row in rows
    ]
    top = element("tr", *(cell("th", k, title, scope="col") for k, title in enumerate(head)))
    inner = element("table", element("caption", caption), element("thead", top), element("tbody", *body), class_=class_)
    return element("div", inner, class_="scroll")


def section(title: str, anchor: str, *children: Any) -> Section:
    """A section with its heading."""
    top = element("h2", title, id=anchor)
    found = Section(element("section", top, *(c for c in children if c), aria_labelledby=anchor))
    found.heading, found.anchor = title, anchor
    return found


def paragraph(*children: Any, class_: str | None = None) -> Html:
    """A paragraph."""
    return element("p", *children, class_=class_)


def figure(picture: Html, *caption: Any) -> Html:
    """A picture and what it shows."""
    return element("figure", picture, element("figcaption", *caption))


def number(value: float, digits: int = 4) -> str:
    """A number as people write it: few digits, thousands apart, a real minus."""
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f").replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")
