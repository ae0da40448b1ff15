"""How a command ends: an exit code, and one line on stderr where something went wrong."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import typer

from maxmargin.errors import InvalidInputError, MaxMarginError

DONE, BAD_INPUT, WRONG_USAGE, NOT_REACHED, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141

NAMES_WERE_COMPARED = "X (does not have valid feature names|has feature names)"
"""scikit-learn's remark about columns without names: the reader has found them by name already, or the file has none."""


def tell(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"maxmargin: {' '.join(str(sentence).split())}\n")


def ending(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors of ours into one line and an exit code, warnings into lines; mistakes of the program are not hidden."""

    @wraps(command)
    def call(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=NAMES_WERE_COMPARED)
            warnings.showwarning = _show
            try:
                command(*args, **kwargs)
                sys.stdout.flush()
            except MaxMarginError as error:
                tell(str(error))
                raise typer.Exit(BAD_INPUT) from error
            except MemoryError as error:
                tell(f"The memory does not suffice: {error or 'nothing more is known'}.")
                raise typer.Exit(BAD_INPUT) from error
            except KeyboardInterrupt as error:
                tell("Interrupted; nothing was written.")
                raise typer.Exit(INTERRUPTED) from error
            except OSError as error:
                raise typer.Exit(refused(error)) from error

    return call


def refused(error: OSError) -> int:
    """The exit code where the system takes nothing more; a line says so, unless the reader has just gone away."""
    _leave_stdout()
    if isinstance(error, BrokenPipeError):
        return CLOSED_PIPE
    tell(f"The system refuses: {error}.")
    return BAD_INPUT


@contextmanager
def refusing_bad_data() -> Iterator[None]:
    """What scikit-learn says of data that cannot be used (a ValueError) is bad input, too."""
    try:
        yield
    except MaxMarginError:
        raise
    except ValueError as error:
        raise InvalidInputError(str(error).partition("\n")[0]) from error


def _show(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    tell(str(message))


def _leave_stdout() -> None:
    """Nobody takes what is written to stdout: what is left in its buffer must not raise again when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
