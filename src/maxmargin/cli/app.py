"""The typer application: one function a command."""

import sys

import typer

from maxmargin.errors import MaxMarginError

app = typer.Typer(
    name="maxmargin",
    help="Support vector machines in which every answer carries its proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

BAD_INPUT = 1


@app.command()
def demo() -> None:
    """See it work in a few seconds: no file needed."""
    from maxmargin.cli.demo import run_demo

    run_demo()


@app.command()
def info() -> None:
    """Tell versions, cores, BLAS and the cache folder."""
    from maxmargin.cli.info import show_info

    show_info()


def main() -> None:
    """Run the command line; errors are one sentence, without a traceback. (Typer answers Ctrl-C with exit code 130.)"""
    try:
        app()
    except MaxMarginError as error:
        sys.stderr.write(f"maxmargin: {error}\n")
        sys.exit(BAD_INPUT)
