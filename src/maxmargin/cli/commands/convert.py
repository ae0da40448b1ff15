"""``maxmargin convert``: a model for other programs, or theirs as ours."""

from pathlib import Path
from typing import Annotated

import typer

from maxmargin.cli.files import ModelFile, check_places
from maxmargin.cli.screen import Screen

Out = Annotated[
    str,
    typer.Argument(metavar="OUT", help="The new file: .maxmargin, .libsvm, .svmlight or .onnx.", show_default=False),
]
Format = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="maxmargin|libsvm|svmlight|onnx",
        help="The format. Default: by the suffix of OUT.",
        show_default=False,
    ),
]
Features = Annotated[
    int | None,
    typer.Option(
        "--features",
        metavar="NUMBER",
        help="Number of features. LIBSVM's and SVM-light's files do not contain it.",
        show_default=False,
    ),
]


def convert(model: ModelFile, out: Out, screen: Screen, to: Format = "auto", features: Features = None) -> None:
    """Write a model in another format; what the format cannot hold is refused."""
    check_places([model], [out])
    from maxmargin.io import FORMATS, export, load

    if to == "auto" and Path(out).suffix.removeprefix(".") not in FORMATS:
        raise typer.BadParameter(
            f"{out!r} has none of the suffixes {', '.join('.' + one for one in FORMATS)}; use --to."
        )
    if to not in ("auto", *FORMATS):
        raise typer.BadParameter(f"--to must be one of {', '.join(FORMATS)}, got {to!r}.")
    machine = load(model, n_features=features)
    export(machine, out, format=to)
    screen.show(f"{type(machine).__name__}: {out}")
    screen.answer(command="convert", estimator=type(machine).__name__, saved=out)
