"""What is shown, where, and how a command ends.

Answers go to stdout, remarks and bars to stderr, or one JSON object to stdout.
A command ends with an exit code. Where something went wrong, one line on stderr says what.
"""

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Any

from maxmargin.cli.options import OUTPUT, option

CONSTANTS = {"Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}
DONE, BAD_INPUT, WRONG_USAGE, NOT_REACHED, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141


def tell(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"maxmargin: {' '.join(str(sentence).split())}\n")


def fail(sentence: str, code: int, command: str | None) -> int:
    """Say what went wrong on stderr and, where the name of a command is given (`--json`), as an object on stdout; the code."""
    tell(sentence)
    if command is not None:
        with suppress(OSError):  # a reader that has gone away has the exit code
            told = {"command": command, "error": " ".join(str(sentence).split()), "exit_code": code}
            sys.stdout.write(json.dumps(told, indent=1) + "\n")
            sys.stdout.flush()
    return code


def refused(error: OSError, command: str | None = None) -> int:
    """The exit code where the system takes nothing more; a line says so, unless the reader has just gone away."""
    code = CLOSED_PIPE
    if not isinstance(error, BrokenPipeError):
        code = fail(f"The operating system reported an error: {error.strerror or error}.", BAD_INPUT, command)
    nowhere = os.open(os.devnull, os.O_WRONLY)  # what is left in the buffer must not raise again when Python ends
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return code


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
