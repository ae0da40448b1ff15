"""``maxmargin predict``: one label a line."""

import sys
from typing import Annotated, Any

import typer

from maxmargin.cli.exit_codes import refusing_bad_data
from maxmargin.cli.files import DataFile, ModelFile, Source, check_places, write_lines
from maxmargin.cli.screen import PANEL, Screen
from maxmargin.cli.values import written

Place = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to FILE instead of stdout.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DecisionValues = Annotated[
    bool,
    typer.Option(
        "--decision-values",
        "-v",
        help="Write the decision values after the label, separated by tabs.",
        rich_help_panel=PANEL,
    ),
]
Certified = Annotated[
    bool,
    typer.Option(
        "--certified",
        help="Write certain or open after the label; certain: the exact optimum gives the same label.",
        rich_help_panel=PANEL,
    ),
]


def predict(
    model: ModelFile,
    data: DataFile,
    source: Source,
    screen: Screen,
    output: Place = None,
    decision_values: DecisionValues = False,
    certified: Certified = False,
) -> None:
    """Predict the label of each sample, one per line.

    If the data have labels, stderr shows how many predictions are right.
    """
    check_places([model, data], [output])
    from maxmargin.io import load

    machine = load(model)
    found = source.for_model(data, machine)
    with refusing_bad_data():
        labels, certain = _labels(machine, found.X, certified)
        values = _two_dimensional(machine.decision_function(found.X)) if decision_values else None
    right = _right(labels, found.y, machine.classes_)
    lines = _lines(labels, certain, values)
    if output is not None:
        write_lines(output, lines)
    elif not screen.json:
        for line in lines:
            sys.stdout.write(f"{line}\n")
    if right is not None:
        screen.remark(f"{right} of {len(labels)} labels are right: {right / len(labels):.2%}.")
    elif found.y is not None:
        screen.remark("None of the labels in the data is one of the model's classes, so they were not compared.")
    screen.answer(
        command="predict",
        labels=labels if output is None else None,
        certain=certain,
        decision_values=values,
        samples=len(labels),
        right=right,
        accuracy=None if right is None else right / len(labels),
        saved=output,
    )


def _labels(machine: Any, X: Any, certified: bool) -> tuple[Any, Any]:
    """The labels, and which of them are certain, if that was asked for."""
    from maxmargin.errors import NotSupportedError

    if not certified:
        return machine.predict(X), None
    if not hasattr(machine, "certified_predictions"):
        raise NotSupportedError(
            f"{type(machine).__name__} has no certified predictions. Use SVC, LinearSVC or HardMarginSVC."
        )
    labels, certain = machine.certified_predictions(X)
    return labels, certain


def _two_dimensional(values: Any) -> Any:
    return values.reshape(-1, 1) if values.ndim == 1 else values


def _lines(labels: Any, certain: Any, values: Any) -> Any:
    """A line a sample: its label, and what else was asked for."""
    columns = [[written(label) for label in labels.tolist()]]
    if certain is not None:
        columns.append(["certain" if one else "open" for one in certain.tolist()])
    if values is not None:
        columns += [[repr(one) for one in column] for column in values.T.tolist()]
    return ("\t".join(fields) for fields in zip(*columns, strict=True))


def _right(labels: Any, y: Any, classes: Any) -> int | None:
    """How many labels are those of the data, written as they are; None where the data have none that the model knows."""
    if y is None:
        return None
    known = {written(one) for one in classes.tolist()}
    wanted = [written(one) for one in y.tolist()]
    if known.isdisjoint(wanted):
        return None
    return sum(one == other for one, other in zip(wanted, map(written, labels.tolist()), strict=True))
