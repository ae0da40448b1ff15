"""What is shown, where: answers on stdout, remarks and bars on stderr, or one JSON object."""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Any

import typer

from maxmargin.cli.exit_codes import tell

PANEL = "Output"


@dataclass(frozen=True)
class Screen:
    """The options of what is shown, and the ways to show it."""

    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout instead of text.", rich_help_panel=PANEL)
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No text and no bars, only errors.", rich_help_panel=PANEL)
    ] = False

    @property
    def is_live(self) -> bool:
        """Whether bars are drawn: there is a terminal, and nobody asked for silence."""
        return not self.quiet and sys.stderr.isatty()

    def show(self, *parts: Any) -> None:
        """Texts and tables on stdout, unless JSON or silence was asked for."""
        if self.json or self.quiet:
            return
        from rich.console import Console

        console = Console(highlight=False)
        with console.capture() as captured:  # written by hand, so that a closed pipe is seen
            for part in parts:
                console.print(part, markup=False)
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))

    def answer(self, **values: Any) -> None:
        """The JSON object, if it was asked for."""
        if self.json:
            sys.stdout.write(json.dumps(plain(values), indent=1, allow_nan=False) + "\n")

    def remark(self, sentence: str) -> None:
        """One line on stderr that is no error."""
        if not self.quiet:
            tell(sentence)

    @contextmanager
    def watching_fits(self) -> Iterator[None]:
        """Within the block, fits draw how their gap falls and how long it will take, if there is a terminal."""
        if not self.is_live:
            yield
            return
        from maxmargin.estimators.progress.callbacks import watched_by
        from maxmargin.estimators.progress.display import Display

        with watched_by(partial(Display, lines=False)):
            yield


def plain(value: Any) -> Any:
    """What JSON can hold: infinite and undefined numbers become the texts "inf", "-inf" and "nan".

    Examples
    --------
    >>> plain({"gap": float("inf"), "groups": (1, 2), "C": 10.0})
    {'gap': 'inf', 'groups': [1, 2], 'C': 10.0}
    """
    match value:
        case None | bool() | str():
            return value
        case Enum():
            return value.name
        case int():
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else str(float(value))
        case dict():
            return {str(name): plain(one) for name, one in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return plain(asdict(value))
        case _ if hasattr(value, "_asdict"):
            return plain(value._asdict())
        case list() | tuple():
            return [plain(one) for one in value]
        case _ if hasattr(value, "tolist"):
            return plain(value.tolist())
        case _:
            return str(value)
