"""``maxmargin demo``: the first thing that a newcomer runs."""

import os
from pathlib import Path
from typing import Annotated

from maxmargin.cli.files import check_places
from maxmargin.cli.options import option
from maxmargin.errors import InvalidInputError

PAGE = "Where to write the page. Default: maxmargin_demo.html in this folder."


def demo(report: Annotated[str | None, option("--report", "PAGE", PAGE)] = None) -> None:
    """See it work in less than a minute; no file is needed.

    Trains linear and kernel machines on data sets of scikit-learn and certifies them.
    Leaves every sample out once, and writes a page.
    """
    from maxmargin.cli.demonstration import run_demo

    check_places([], [report])
    if report is not None and Path(report).exists():
        raise InvalidInputError(f"{report!r} already exists. Choose another name for the page, or remove the file.")
    run_demo(free_place() if report is None else Path(report))


def free_place() -> Path:
    """A name in this folder, or in that for temporary files, that no file has."""
    import tempfile

    folder = Path.cwd() if os.access(Path.cwd(), os.W_OK) else Path(tempfile.mkdtemp(prefix="maxmargin_demo_"))
    names = ("maxmargin_demo.html", *(f"maxmargin_demo_{k}.html" for k in range(2, 10_000)))
    return next(folder / name for name in names if not (folder / name).exists())
