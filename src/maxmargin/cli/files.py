"""Which files a command reads and writes: data for training and for models, and places where results may go."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.errors import InvalidInputError

if TYPE_CHECKING:
    from maxmargin.io import Data

PANEL = "Data"

DataFile = Annotated[
    str, typer.Argument(metavar="DATA", help="svmlight, CSV, Parquet or npz; - is standard input.", show_default=False)
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file: ours, LIBSVM's or SVM-light's.", show_default=False)
]


@dataclass(frozen=True)
class Source:
    """The options of how data are read."""

    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Column of the labels, by name or number (0 is the first, −1 the last); for npz the name of the array. "
            "Default: the last column, or y.",
            rich_help_panel=PANEL,
        ),
    ] = None
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="auto|svmlight|csv|parquet|npz",
            help="The format. auto: by the suffix, or else by the content.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = "auto"
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV file names the columns. Default: detected.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = None

    def labelled(self, path: str, model: Any = None) -> "Data":
        """Samples and labels: to train on, or, with a model, those that it was trained on."""
        data = self.for_model(path, model) if model is not None else self._read(path)
        if data.y is None:
            raise InvalidInputError(f"{path}: no labels were found. Use --target to say where they are.")
        return data

    def for_model(self, path: str, model: Any) -> "Data":
        """Samples with the features of a model, and labels if there are any."""
        names = getattr(model, "feature_names_in_", None)
        return self._read(
            path,
            n_features=int(model.n_features_in_),
            feature_names=None if names is None else [str(name) for name in names],
        )

    def _read(self, path: str, **wanted: Any) -> "Data":
        from maxmargin.io import read_data

        return read_data(path, target=self.target, header=self.header, format=self.format, **wanted)


def trained_model(path: str) -> Any:
    """A model that knows its certificate: what can be asked about its training data."""
    from maxmargin.errors import NotSupportedError
    from maxmargin.io import load

    model = load(path)
    if not hasattr(model, "certificate_"):
        raise NotSupportedError(
            f"{path}: this {type(model).__name__} carries no certificate. Perceptrons and models trained on streams have "
            "none, and the formats of LIBSVM and SVM-light cannot store it. Use a model saved by `maxmargin fit`."
        )
    return model


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
        if name in (None, "-"):
            continue
        place = Path(os.path.realpath(str(name)))
        if str(place) in taken:
            raise InvalidInputError(f"{name!r} is used for two files. Choose another place for the output.")
        taken.add(str(place))
        if place.is_dir():
            raise InvalidInputError(f"Cannot write {name!r}: it is a folder. Add the name of a file.")
        if not place.parent.is_dir():
            raise InvalidInputError(f"Cannot write {name!r}: there is no folder {str(place.parent)!r}.")
        if not os.access(place.parent, os.W_OK):
            raise InvalidInputError(f"Cannot write {name!r}: the folder {str(place.parent)!r} is not writable.")


def write_lines(place: str, lines: Iterable[str]) -> None:
    """A text file, written whole or not at all."""
    from maxmargin.io._atomic import replacing

    with replacing(place) as file:
        for line in lines:
            file.write(f"{line}\n".encode())
