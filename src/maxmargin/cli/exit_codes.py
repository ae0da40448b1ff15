"""How a command ends: an exit code, and one line on stderr where something went wrong."""

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from maxmargin.errors import MaxMarginError

DONE, BAD_INPUT, WRONG_USAGE, NOT_REACHED, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141

NAMES_WERE_COMPARED = "X (does not have valid feature names|has feature names)"
"""scikit-learn's remark about columns without names: the reader has found them by name already, or the file has none."""


def tell(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"maxmargin: {' '.join(str(sentence).split())}\n")


def fail(sentence: str, code: int, command: str | None) -> int:
    """Say what went wrong on stderr and, where the name of a command is given (`--json`), as an object on stdout; the code."""
    tell(sentence)
    if command is not None:
        with contextlib.suppress(OSError):  # a reader that has gone away has the exit code
            told = {"command": command, "error": " ".join(str(sentence).split()), "exit_code": code}
            sys.stdout.write(json.dumps(told, indent=1) + "\n")
            sys.stdout.flush()
    return code


def ending(command: Callable[..., None]) -> Callable[..., None]:
    """Turn an error of ours into one line and an exit code, and warnings into lines. Other errors keep their traceback.

    A ValueError counts as an error of the data: scikit-learn raises it for data that cannot be used.
    """

    @wraps(command)
    def call(*args: Any, **kwargs: Any) -> None:
        name = command.__name__ if kwargs.get("json") else None
        if kwargs.get("quiet"):
            os.environ.setdefault("MAXMARGIN_QUIET", "1")  # no message about compiling either
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=NAMES_WERE_COMPARED)
            warnings.showwarning = lambda message, *_, **__: tell(str(message))
            try:
                command(*args, **kwargs)
                sys.stdout.flush()
                return
            except MaxMarginError as error:
                code = fail(str(error), BAD_INPUT, name)
            except ValueError as error:
                code = fail(str(error).partition("\n")[0], BAD_INPUT, name)
            except MemoryError as error:
                code = fail(f"Out of memory: {error}." if str(error) else "Out of memory.", BAD_INPUT, name)
            except KeyboardInterrupt as error:
                code = fail(str(error) or "Interrupted; nothing was written.", INTERRUPTED, name)
            except OSError as error:
                code = refused(error, name)
        raise typer.Exit(code)

    return call


def refused(error: OSError, command: str | None = None) -> int:
    """The exit code where the system takes nothing more; a line says so, unless the reader has just gone away."""
    code = CLOSED_PIPE
    if not isinstance(error, BrokenPipeError):
        code = fail(f"The operating system reported an error: {error.strerror or error}.", BAD_INPUT, command)
    nowhere = os.open(os.devnull, os.O_WRONLY)  # what is left in the buffer must not raise again when Python ends
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return code
