"""The typer application, the commands that need no file, ``demo``, ``warm-up`` and ``info``, and how a command ends.

It ends with an exit code. Where something went wrong, one line on stderr says what.
"""

import json
import os
import platform
import sys
import warnings
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import distributions
from pathlib import Path
from typing import Annotated

import typer

from maxmargin import __version__
from maxmargin.cli.about import table
from maxmargin.cli.commands import bounds, certify, convert, fit, loo, predict, report
from maxmargin.cli.letters import with_hint
from maxmargin.cli.options import BAD_INPUT, CLOSED_PIPE, DONE, INTERRUPTED, Screen, flat, option, tell
from maxmargin.cli.validation import cv, search
from maxmargin.errors import InvalidInputError, MaxMarginError

PAGE = "Where to write the page. Default: maxmargin_demo.html in a new temporary folder."


def demo(report: Annotated[str | None, option("--report", "PAGE", PAGE)] = None) -> None:
    """See it work in less than a minute; no file is needed.

    Trains linear and kernel machines on data sets of scikit-learn and certifies them.
    Leaves every sample out once, and writes a page.
    """
    from maxmargin.cli.demonstration import run_demo

    if report is not None and Path(report).exists():
        raise InvalidInputError(f"{report!r} already exists. Choose another name for the page, or remove the file.")
    run_demo(report)


PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "numba", "clarabel", "rich", "typer", "jinja2", "contourpy"),
    *("matplotlib", "dask", "onnx", "scikit-learn-intelex"),
)


def info(screen: Screen) -> None:
    """Show versions, cores, BLAS and the cache folder, as a bug report needs them."""
    found = facts()
    screen.show(table("Ll", found.items()))
    screen.answer(command="info", **found)


def facts() -> dict[str, str]:
    """Everything that `info` prints, by name."""
    installed = {str(one.name).lower(): one.version for one in distributions()}
    return {
        "maxmargin": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()}, {platform.system()} {platform.machine()})",
        **{name: installed[name] for name in PACKAGES if name in installed},
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "BLAS": _blas(),
        "compiled loops": _cache_folder(),
    }


def _blas() -> str:
    import scipy.linalg  # noqa: F401  (loads the BLAS that is to be described)
    from threadpoolctl import ThreadpoolController

    pools = ThreadpoolController().select(user_api="blas").info()
    found = {f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} threads" for pool in pools}
    return "; ".join(sorted(found)) or "unknown"


def _cache_folder() -> str:
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return "compiler off (MAXMARGIN_JIT=0)"
    from maxmargin._loops.disk_cache import folder_in_use

    return str(folder_in_use() or "not kept: every process compiles them")


def warm_up(screen: Screen) -> None:
    """Compile what common commands need, and keep it on disk.

    It takes half a minute the first time. Without it, the first command of each kind compiles what it needs.
    """
    import maxmargin

    os.environ["MAXMARGIN_QUIET"] = "1"  # this is what it is for
    done = maxmargin.warm_up(lambda part, seconds: screen.show(f"{part}: {seconds:.1f} s"))
    screen.show("", str(done))
    screen.answer(command="warm-up", **asdict(done))


PORT = typer.Option("--port", min=0, max=65535, help="Port to listen on, on this machine only. Default: a free one.")


def lab(
    port: Annotated[int, PORT] = 0,
    browser: Annotated[bool, option("--browser/--no-browser", None, "Whether to open the page. Default: yes.")] = True,
) -> None:
    """Open a page to play with: place points, move sliders, see boundary, margin and proof at once.

    It runs on this machine only and asks no network. Ctrl-C ends it.
    """
    import webbrowser

    from maxmargin.lab import Lab

    one = Lab(port)
    sys.stdout.write(f"The lab is open at {one.address}\nCtrl-C ends it.\n")
    sys.stdout.flush()
    if browser:
        webbrowser.open(one.address)
    with suppress(KeyboardInterrupt):
        one.run()


app = typer.Typer(
    name="maxmargin",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        sys.stdout.write(f"maxmargin {__version__}\n")
        raise typer.Exit


VERSION = typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")


@app.callback()
def maxmargin(version: Annotated[bool, VERSION] = False) -> None:
    """Support vector machines in which every answer carries its proof.

    Exit codes: 0 success, 1 bad input, 2 wrong usage, 3 the requested gap was not reached, 130 interrupted.
    """


for command in (demo, fit, predict, certify, loo, cv, search, bounds, report, convert, lab, warm_up, info):
    app.command()(flat(command))


def fail(sentence: str, code: int, command: str | None) -> int:
    """Say what went wrong on stderr and, where the name of a command is given (`--json`), as an object on stdout; the code."""
    tell(sentence)
    if command is not None:
        with suppress(OSError):  # a reader that has gone away has the exit code
            told = {"command": command, "error": " ".join(str(sentence).split()), "exit_code": code}
            sys.stdout.write(json.dumps(told, indent=1) + "\n")
            sys.stdout.flush()
    return code


def refused(error: OSError, command: str | None) -> int:
    """The exit code where the system takes nothing more; a line says so, unless the reader has just gone away."""
    code = CLOSED_PIPE
    if not isinstance(error, BrokenPipeError):
        code = fail(f"The operating system reported an error: {error.strerror or error}.", BAD_INPUT, command)
    nowhere = os.open(os.devnull, os.O_WRONLY)  # what is left in the buffer must not raise again when Python ends
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return code


NAMES_WERE_COMPARED = "X (does not have valid feature names|has feature names)"
"""scikit-learn's remark about columns without names: the reader has found them by name already, or the file has none."""


def main() -> None:
    """Run the command line: an error of ours is one line on stderr and an exit code, a warning is a line.

    Other errors keep their traceback. A ValueError counts as an error of the data: scikit-learn raises it for data that cannot be
    used.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (until the program ends)
        elif hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="backslashreplace")  # a terminal that has no Greek shows something
    arguments = sys.argv[1:] or ["--help"]
    command = arguments[0] if "--json" in arguments else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=NAMES_WERE_COMPARED)
        warnings.showwarning = lambda message, *_, **__: tell(str(message))
        try:
            code = DONE
            try:  # typer's own way to run a command would print a line for Ctrl-C and hide closed pipes
                program = typer.main.get_command(app)
                with program.make_context("maxmargin", arguments) as context:
                    program.invoke(context)
            except typer.Exit as end:
                code = end.exit_code
            sys.stdout.flush()
        except (MaxMarginError, ValueError) as error:
            whole = str(error)
            code = fail(whole if isinstance(error, MaxMarginError) else whole.partition("\n")[0], BAD_INPUT, command)
        except MemoryError as error:
            code = fail(f"Out of memory: {error}." if str(error) else "Out of memory.", BAD_INPUT, command)
        except KeyboardInterrupt as error:
            code = fail(str(error) or "Interrupted; nothing was written.", INTERRUPTED, command)
        except OSError as error:
            code = refused(error, command)
        except Exception as error:
            # typer's errors of usage, which bring their exit code: whichever version of click it has inside
            if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
                if command is not None:
                    fail(f"{type(error).__name__}: {error}", BAD_INPUT, command)
                raise
            where = getattr(getattr(error, "ctx", None), "command_path", "maxmargin")
            command = command and where.rpartition(" ")[2]
            said = f"{error.format_message().rstrip('.')}. See {where} --help."
            letter = "argument" if "unexpected extra argument" in said else getattr(error, "option_name", "")
            code = fail(with_hint(said, letter), error.exit_code, command)
    sys.exit(code)
