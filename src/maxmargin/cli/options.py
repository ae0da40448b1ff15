"""How options are declared (one by one, and in groups that several commands take), and which files a command reads and writes."""

import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.errors import InvalidInputError

if TYPE_CHECKING:
    from maxmargin.io import Data


DATA, MODEL, STOP, OUTPUT = "Data", "Model", "When to stop", "Output"
"""The panels of ``--help``."""

INPUTS, OUTPUTS = ("model", "data"), ("output", "alphas", "out", "report")
"""The parameters of commands that are names of files."""


def option(names: str, metavar: str | None, help: str, panel: str | None = None) -> Any:
    """An option: its names with spaces between them, what stands for its value (a switch has none), and what it does."""
    return typer.Option(*names.split(), metavar=metavar, help=help, rich_help_panel=panel, show_default=False)


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Spell out, for typer, the parameters of a command that are groups: dataclasses, whose fields become its options.

    Places that it must not write to are refused before it is called.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Place:
    ...     street: str = "Main"
    >>> @flat
    ... def go(who: str, place: Place) -> None:
    ...     print(who, place)
    >>> list(inspect.signature(go).parameters)
    ['who', 'street']
    >>> go(who="Ann", street="High")
    Ann Place(street='High')
    """
    parameters = inspect.signature(command).parameters
    groups: dict[str, Any] = {name: one.annotation for name, one in parameters.items() if is_dataclass(one.annotation)}
    fields = {name: inspect.signature(group).parameters for name, group in groups.items()}
    spelled = [
        own.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in parameters.items()
        for own in (fields[name].values() if name in groups else [one])
    ]

    @wraps(command)
    def call(**values: Any) -> None:
        check_places(map(values.get, INPUTS), map(values.get, OUTPUTS))
        made = {name: group(**{own: values.pop(own) for own in fields[name]}) for name, group in groups.items()}
        command(**values, **made)

    call.__signature__ = inspect.Signature(spelled)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in spelled}
    return call


FILE, MODEL_FILE = "svmlight, CSV, Parquet or npz; - is standard input.", "A model file: ours, LIBSVM's or SVM-light's."
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_FILE, show_default=False)]
TARGET = (
    "Column of the labels, by name or number (0 is the first, −1 the last); for npz the name of the array. "
    "Default: the last column, or y."
)
HEADER = "Whether the first line of a CSV file names the columns. Default: detected."


@dataclass(frozen=True)
class Source:
    """The data, and the options of how they are read."""

    data: Annotated[str, typer.Argument(metavar="DATA", help=FILE, show_default=False)]
    target: Annotated[str | None, option("--target -t", "COLUMN", TARGET, DATA)] = None
    format: Annotated[
        str, option("--format", "auto|svmlight|csv|parquet|npz", "auto: by the suffix, or else by the content.", DATA)
    ] = "auto"
    header: Annotated[bool | None, option("--header/--no-header", None, HEADER, DATA)] = None

    def training_data(self, place: str) -> "tuple[Any, Data]":
        """The model of a file, and the samples and labels that it was trained on."""
        import maxmargin

        model = maxmargin.load(place)
        return model, self.labelled(model)

    def labelled(self, model: Any = None) -> "Data":
        """Samples and labels: to train on, or, with a model, those that it was trained on."""
        data = self.read(model)
        if data.y is None:
            raise InvalidInputError(f"{self.data}: no labels were found. Use --target to say where they are.")
        return data

    def read(self, model: Any = None) -> "Data":
        """Samples, with the features of a model if one is given, and labels if there are any."""
        from maxmargin.io import read_data

        names, width = getattr(model, "feature_names_in_", None), getattr(model, "n_features_in_", None)
        known = None if names is None else [str(name) for name in names]
        how = asdict(self)
        return read_data(how.pop("data"), n_features=width, feature_names=known, **how)


def check_places(inputs: Iterable[str | None], outputs: Iterable[str | None]) -> None:
    """Refuse places that cannot be written, or that are read from, before any work is done.

    Examples
    --------
    >>> check_places(["data.csv"], ["data.csv"])
    Traceback (most recent call last):
    ...
    maxmargin.errors.InvalidInputError: 'data.csv' is used for two files. Choose another place for the output.
    """
    taken = {os.path.realpath(name) for name in inputs if name not in (None, "-")}
    for name in outputs:
        if name is None or name == "-":
            continue
        place = Path(os.path.realpath(name))
        if str(place) in taken:
            raise InvalidInputError(f"{name!r} is used for two files. Choose another place for the output.")
        taken.add(str(place))
        if place.is_dir():
            raise InvalidInputError(f"Cannot write {name!r}: it is a folder. Add the name of a file.")
        if not os.access(place.parent, os.W_OK):
            raise InvalidInputError(f"Cannot write {name!r}: {str(place.parent)!r} is no folder that can be written to.")


def write_lines(place: str, lines: Iterable[str]) -> None:
    """A text file, written whole or not at all."""
    from maxmargin.io._atomic import replacing

    with replacing(place) as file:
        for line in lines:
            file.write(f"{line}\n".encode())


def written(label: Any) -> str:
    """A label as it stands in files: whole numbers without a fraction.

    Examples
    --------
    >>> written("bird"), written(1), written(1.0), written(1.5)
    ('bird', '1', '1', '1.5')
    """
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
