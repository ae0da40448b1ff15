"""``maxmargin bounds``: what the margin promises about new data."""

from typing import Annotated

import typer

from maxmargin.cli.exit_codes import refusing_bad_data
from maxmargin.cli.files import DataFile, ModelFile, Source, trained_model
from maxmargin.cli.screen import Screen

Delta = Annotated[float, typer.Option("--delta", metavar="NUMBER", help="Probability that a bound fails.")]


def bounds(model: ModelFile, data: DataFile, source: Source, screen: Screen, delta: Delta = 0.05) -> None:
    """Compute every bound that applies to a model of two classes; vacuous ones are marked.

    DATA must be the training data, in the same order.
    """
    if not 0 < delta < 1:
        raise typer.BadParameter(f"--delta must be between 0 and 1, got {delta:g}.")
    from maxmargin.bounds import of_model
    from maxmargin.cli.bounds_table import bounds_table

    machine = trained_model(model)
    found = source.labelled(data, machine)
    with refusing_bad_data():
        known = of_model(machine, found.X, found.y, delta=delta)
    screen.show(bounds_table(known))
    screen.answer(command="bounds", delta=delta, bounds={name: bound.as_dict() for name, bound in known.items()})
