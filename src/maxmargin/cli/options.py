"""How options are declared, one by one and in groups: `Source`, what is read, and `Screen`, what is shown.

Answers go to stdout, remarks and bars to stderr, or one JSON object to stdout.
"""

import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass, replace
from enum import Enum
from functools import partial, wraps
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
        """Samples as a model takes them, if one is given, and labels if there are any."""
        from maxmargin.io import read_data

        names, width = getattr(model, "feature_names_in_", None), getattr(model, "n_features_in_", None)
        known = None if names is None else [str(name) for name in names]
        how = asdict(self)
        data = read_data(how.pop("data"), n_features=width, feature_names=known, **how)
        takes_sparse = not hasattr(model, "transform_input") or model.__sklearn_tags__().input_tags.sparse
        return data if takes_sparse or not hasattr(data.X, "toarray") else replace(data, X=data.X.toarray())


def machine_of(model: Any) -> Any:
    """The machine that a model is, or that a pipeline ends in."""
    from maxmargin.estimators.wrapped import unwrapped

    return unwrapped(model).machine


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


CONSTANTS = {"Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}
DONE, BAD_INPUT, WRONG_USAGE, NOT_REACHED, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141


def tell(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"maxmargin: {' '.join(str(sentence).split())}\n")


SHOWN_WARNINGS = 3


@contextmanager
def few_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect what fits warn of; the first few are shown afterwards, and how many more there are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    for warning in caught[:SHOWN_WARNINGS]:
        tell(str(warning.message))
    if len(caught) > SHOWN_WARNINGS:
        tell(f"… and {len(caught) - SHOWN_WARNINGS} more such messages, for other problems.")


@dataclass(frozen=True)
class Screen:
    """The options of what is shown, and the ways to show it."""

    json: Annotated[bool, option("--json", None, "One JSON object on stdout instead of text.", OUTPUT)] = False
    quiet: Annotated[bool, option("--quiet -q", None, "No text and no bars, only errors.", OUTPUT)] = False

    def __post_init__(self) -> None:
        if self.quiet:
            os.environ.setdefault("MAXMARGIN_QUIET", "1")  # no message about compiling either

    @property
    def is_live(self) -> bool:
        """Whether bars are drawn: stderr is a terminal, and --quiet was not given."""
        return not self.quiet and sys.stderr.isatty()

    def show(self, *parts: Any, width: int | None = None) -> None:
        """Write texts and tables to stdout, unless --json or --quiet was given."""
        if self.json or self.quiet:
            return
        from rich.console import Console

        console = Console(highlight=False, width=width)
        with console.capture() as captured:  # written by hand, so that a closed pipe is seen
            for part in parts:
                console.print(part, markup=False)
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))

    def answer(self, **values: Any) -> None:
        """Write the JSON object, if --json was given."""
        if self.json:
            sys.stdout.write(json.dumps(plain(values), indent=1, allow_nan=False) + "\n")

    def remark(self, sentence: str) -> None:
        """One line on stderr that is no error."""
        if sentence and not self.quiet:
            tell(sentence)

    def watch_fits(self) -> None:
        """From now on fits draw how their gap falls and how long it will take, if there is a terminal."""
        if self.is_live:
            from maxmargin.estimators.progress import callbacks, display

            callbacks.WATCHER.set(partial(display.Display, lines=False))


def plain(value: Any) -> Any:
    """What JSON can hold: infinite and undefined numbers become the texts "inf", "-inf" and "nan".

    Examples
    --------
    >>> plain({"gap": float("inf"), "groups": (1, 2), "C": 10.0})
    {'gap': 'inf', 'groups': [1, 2], 'C': 10.0}
    """
    return json.loads(json.dumps(value, default=_plain), parse_constant=CONSTANTS.get)


def _plain(value: Any) -> Any:
    """What stands for an object that JSON does not know."""
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.tolist() if hasattr(value, "tolist") else str(value)
