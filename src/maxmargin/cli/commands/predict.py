"""``maxmargin predict``: one label per line."""

import sys
from typing import Annotated, Any

from maxmargin.cli.files import DataFile, ModelFile, Source, check_places, write_lines, written
from maxmargin.cli.options import OUTPUT, option
from maxmargin.cli.screen import Screen
from maxmargin.errors import NotSupportedError

PLACE = "Write to FILE instead of stdout."
VALUES = "Write the decision values after the label, separated by tabs."
CERTIFIED = "Write certain or open after the label; certain: the exact optimum gives the same label."


def predict(
    model: ModelFile,
    data: DataFile,
    source: Source,
    screen: Screen,
    output: Annotated[str | None, option("--output -o", "FILE", PLACE, OUTPUT)] = None,
    decision_values: Annotated[bool, option("--decision-values -v", None, VALUES, OUTPUT)] = False,
    certified: Annotated[bool, option("--certified", None, CERTIFIED, OUTPUT)] = False,
) -> None:
    """Predict the label of each sample, one per line.

    If the data have labels, stderr shows how many predictions are right.
    """
    check_places([model, data], [output])
    from maxmargin.io import load

    machine = load(model)
    found = source.read(data, machine)
    if certified and not hasattr(machine, "certified_predictions"):
        raise NotSupportedError(
            f"{type(machine).__name__} has no certified predictions. Use SVC, LinearSVC or HardMarginSVC."
        )
    labels, certain = machine.certified_predictions(found.X) if certified else (machine.predict(found.X), None)
    names = [written(label) for label in labels.tolist()]
    values = machine.decision_function(found.X).reshape(len(names), -1) if decision_values else None
    columns = [names]
    if certain is not None:
        columns.append(["certain" if one else "open" for one in certain.tolist()])
    if values is not None:
        columns += [list(map(repr, column)) for column in values.T.tolist()]
    lines = ("\t".join(fields) for fields in zip(*columns, strict=True))
    if output is not None:
        write_lines(output, lines)
    elif not screen.json:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    right = _right(names, found.y, machine.classes_)
    if right is not None:
        screen.remark(f"{right} of {len(names)} labels are right: {right / len(names):.2%}.")
    elif found.y is not None:
        screen.remark("None of the labels in the data is one of the model's classes, so they were not compared.")
    screen.answer(
        command="predict",
        labels=labels if output is None else None,
        certain=certain,
        decision_values=values,
        samples=len(names),
        right=right,
        accuracy=None if right is None else right / len(names),
        saved=output,
    )


def _right(names: list[str], y: Any, classes: Any) -> int | None:
    """How many labels are those of the data, written as they are; None where the data have none that the model knows."""
    wanted = [] if y is None else [written(one) for one in y.tolist()]
    if {written(one) for one in classes.tolist()}.isdisjoint(wanted):
        return None
    return sum(one == other for one, other in zip(wanted, names, strict=True))
