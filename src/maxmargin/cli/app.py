"""The typer application."""

import os
import sys
from typing import Annotated

import typer

from maxmargin.cli.commands.demo import demo
from maxmargin.cli.commands.fit import fit
from maxmargin.cli.commands.info import info
from maxmargin.cli.commands.predict import predict
from maxmargin.cli.commands.questions import bounds, certify, convert, loo, report
from maxmargin.cli.exit_codes import ending, fail, refused
from maxmargin.cli.options import flat

app = typer.Typer(
    name="maxmargin",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from maxmargin import __version__

        sys.stdout.write(f"maxmargin {__version__}\n")
        raise typer.Exit


@app.callback()
def maxmargin(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Support vector machines in which every answer carries its proof.

    Exit codes: 0 success, 1 bad input, 2 wrong usage, 3 the requested gap was not reached, 130 interrupted.
    """


for command in (demo, fit, predict, certify, loo, bounds, report, convert, info):
    app.command()(ending(flat(command)))


def main() -> None:
    """Run the command line; whatever is wrong is one line on stderr, without a traceback."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (until the program ends)
        elif hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="backslashreplace")  # a terminal that has no Greek shows something
    try:
        code = app(args=sys.argv[1:] or ["--help"], prog_name="maxmargin", standalone_mode=False)
        sys.stdout.flush()
    except OSError as error:  # of --help and --version, which are no commands
        code = refused(error)
    except Exception as error:
        # typer's errors of usage, which bring their exit code: whichever version of click it has inside
        if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
            raise
        where = getattr(getattr(error, "ctx", None), "command_path", "maxmargin")
        command = where.rpartition(" ")[2] if "--json" in sys.argv else None
        code = fail(f"{error.format_message().rstrip('.')}. See {where} --help.", error.exit_code, command)
    sys.exit(code if isinstance(code, int) else 0)
