"""``maxmargin demo``: the first thing that a newcomer runs."""

import os
from pathlib import Path
from typing import Annotated

import typer

from maxmargin.cli.files import check_places
from maxmargin.errors import InvalidInputError

Page = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="PAGE",
        help="Where to write the page. Default: maxmargin_demo.html in this folder.",
        show_default=False,
    ),
]
DEFAULT = "maxmargin_demo"


def demo(report: Page = None) -> None:
    """See it work in less than a minute; no file is needed.

    Trains linear and kernel machines on data sets of scikit-learn and certifies them.
    Leaves every sample out once, and writes a page.
    """
    from maxmargin.cli.demonstration import run_demo

    run_demo(page=free_place() if report is None else new_place(report))


def new_place(name: str) -> Path:
    """A place that was asked for; what is there already is not replaced."""
    check_places([], [name])
    if Path(name).exists():
        raise InvalidInputError(f"{name!r} already exists. Choose another name for the page, or remove the file.")
    return Path(name)


def free_place() -> Path:
    """A name in this folder, or in that for temporary files, that no file has."""
    import tempfile

    folder = Path.cwd() if os.access(Path.cwd(), os.W_OK) else Path(tempfile.mkdtemp(prefix=f"{DEFAULT}_"))
    names = (f"{DEFAULT}.html", *(f"{DEFAULT}_{k}.html" for k in range(2, 10_000)))
    return next(folder / name for name in names if not (folder / name).exists())
