"""``maxmargin report``: one page about one model."""

from typing import Annotated

import typer

from maxmargin.cli.exit_codes import refusing_bad_data
from maxmargin.cli.files import DataFile, ModelFile, Source, check_places
from maxmargin.cli.screen import PANEL, Screen

Page = Annotated[
    str,
    typer.Option("--output", "-o", metavar="PAGE", help="The HTML file.", rich_help_panel=PANEL, show_default=False),
]
Loo = Annotated[bool, typer.Option("--loo", help="Include exact leave-one-out, which may take a while.")]
Title = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="The heading of the page.", show_default=False)
]


def report(
    model: ModelFile,
    data: DataFile,
    source: Source,
    screen: Screen,
    output: Page,
    loo: Loo = False,
    title: Title = None,
) -> None:
    """Write one self-contained HTML page about a model: proof, pictures, bounds, how to reproduce.

    DATA must be the training data, in the same order.
    """
    check_places([model, data], [output])
    from maxmargin import Status, leave_one_out
    from maxmargin import report as write
    from maxmargin.io import load

    machine = load(model)
    found = source.labelled(data, machine)
    with refusing_bad_data():
        result = leave_one_out(machine, found.X, found.y, verbose=screen.is_live) if loo else None
        if result is not None and result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        write(machine, found.X, found.y, output, feature_names=found.feature_names, leave_one_out=result, title=title)
    screen.show(f"Page: {output}")
    screen.answer(command="report", saved=output, leave_one_out=None if result is None else result.error)
