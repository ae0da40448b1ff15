"""The page: the sections in their order. Its templates escape whatever is filled in, and nothing else here makes markup."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from maxmargin.html_report.sections import SECTIONS
from maxmargin.html_report.subject import Subject
from maxmargin.html_report.svg import outline
from maxmargin.html_report.words import number, percent


def page(subject: Subject, title: str | None) -> str:
    """The whole document."""
    sections = [
        (anchor, heading, _templates().get_template(f"{anchor}.html.j2").render(facts, subject=subject))
        for anchor, (heading, gather) in SECTIONS.items()
        if (facts := gather(subject)) is not None
    ]
    name = type(subject.estimator).__name__
    about = " against ".join(subject.classes) if subject.is_binary else f"{len(subject.classes)} classes"
    return (
        _templates()
        .get_template("page.html.j2")
        .render(subject=subject, name=name, heading=title or f"{name}: {about}", sections=sections)
    )


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("maxmargin.html_report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters.update(number=number, percent=percent)
    found.globals.update(outline=outline)
    return found
