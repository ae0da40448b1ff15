"""`report`: one page about one model. Its templates escape whatever is filled in, and nothing else here makes markup."""

import os
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from maxmargin.estimators import LeaveOneOut
from maxmargin.html_report.sections import SECTIONS
from maxmargin.html_report.subject import Subject
from maxmargin.html_report.words import above, number, percent
from maxmargin.io._atomic import replacing

TEMPLATES = Environment(
    loader=PackageLoader("maxmargin.html_report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
TEMPLATES.filters.update(above=above, number=number, percent=percent)


def report(
    estimator: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    sample_weight: Any = None,
    feature_names: Any = None,
    leave_one_out: LeaveOneOut | None = None,
    title: str | None = None,
) -> Path | str:
    """Write one self-contained HTML page about a fitted model.

    It says what was asked, what is proved (the certificate, recomputed from the data), where the samples lie, draws the
    boundary (of two features; else a projection, and says which), shows how the gap fell, the strongest features and support
    vectors, leave-one-out if it was run, what the margin promises (vacuous bounds are marked) and how to do it all again. The
    page needs no network and no script, follows the reader's choice of light or dark, and prints.

    Parameters
    ----------
    estimator
        A fitted classifier of this library.
    X, y, sample_weight
        Its training data, in their order.
    path : str or path, optional
        Where to write; the file is replaced as a whole or not at all. By default nothing is written.
    feature_names : sequence of str, optional
        By default those of the data frame that the model was fitted on, or numbers.
    leave_one_out : LeaveOneOut, optional
        The result of `leave_one_out` for the same model and data.
    title : str, optional
        The heading.

    Returns
    -------
    Path or str
        Where it was written; without `path` the page itself.

    Notes
    -----
    Cost: that of predicting the training set a few times; pictures show at most 1000 samples, so that the page stays below 1 MB.
    The same model and data give the same bytes.

    Examples
    --------
    >>> from maxmargin import SVC, report
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> html = report(SVC(C=10).fit(X, y), X, y)
    >>> html.startswith("<!DOCTYPE html>"), "is proved to be within a relative" in html
    (True, True)
    """
    html = _page(Subject.of(estimator, X, y, sample_weight, feature_names, leave_one_out), title)
    if path is None:
        return html
    with replacing(path) as file:
        file.write(html.encode())
    return Path(path)


def _page(subject: Subject, title: str | None) -> str:
    """The whole document: the sections in their order."""
    about = {"subject": subject, "name": type(subject.estimator).__name__}
    sections = {
        gather.__name__: TEMPLATES.get_template(f"{gather.__name__}.html.j2").render(facts, **about)
        for gather in SECTIONS
        if (facts := gather(subject)) is not None
    }
    return TEMPLATES.get_template("page.html.j2").render(title=title, sections=sections, **about)
