"""The typer application, and the two commands that need no file: ``demo`` and ``info``."""

import os
import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from maxmargin import __version__
from maxmargin.cli.fit import fit
from maxmargin.cli.options import check_places, flat, option
from maxmargin.cli.questions import bounds, certify, convert, loo, predict, report
from maxmargin.cli.screen import Screen, ending, fail, refused
from maxmargin.errors import InvalidInputError

PAGE = "Where to write the page. Default: maxmargin_demo.html in this folder."


def demo(report: Annotated[str | None, option("--report", "PAGE", PAGE)] = None) -> None:
    """See it work in less than a minute; no file is needed.

    Trains linear and kernel machines on data sets of scikit-learn and certifies them.
    Leaves every sample out once, and writes a page.
    """
    from maxmargin.cli.demonstration import run_demo

    check_places([], [report])
    if report is not None and Path(report).exists():
        raise InvalidInputError(f"{report!r} already exists. Choose another name for the page, or remove the file.")
    run_demo(free_place() if report is None else Path(report))


def free_place() -> Path:
    """A name in this folder, or in that for temporary files, that no file has."""
    import tempfile

    folder = Path.cwd() if os.access(Path.cwd(), os.W_OK) else Path(tempfile.mkdtemp(prefix="maxmargin_demo_"))
    names = ("maxmargin_demo.html", *(f"maxmargin_demo_{k}.html" for k in range(2, 10_000)))
    return next(folder / name for name in names if not (folder / name).exists())


CORE = ("numpy", "scipy", "scikit-learn", "numba", "clarabel", "rich", "typer", "jinja2", "contourpy")
EXTRAS = ("matplotlib", "dask", "onnx", "scikit-learn-intelex")


def info(screen: Screen) -> None:
    """Show versions, cores, BLAS and the cache folder, as a bug report needs them."""
    from maxmargin.cli.about import table

    found = facts()
    screen.show(table("Ll", found.items()))
    screen.answer(command="info", **found)


def facts() -> dict[str, str]:
    """Everything that `info` prints, by name."""
    found = {}
    for name in (*CORE, *EXTRAS):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return {
        "maxmargin": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()}, {platform.system()} {platform.machine()})",
        **{name: found.get(name, "not installed") for name in CORE},
        **{name: found[name] for name in EXTRAS if name in found},
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "BLAS": _blas(),
        "compiled loops": _cache_folder(),
    }


def _blas() -> str:
    import scipy.linalg  # noqa: F401  (loads the BLAS that is to be described)
    from threadpoolctl import threadpool_info

    found = {
        f"{pool.get('internal_api')} {pool.get('version')}, {pool.get('num_threads')} threads"
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    }
    return "; ".join(sorted(found)) or "unknown"


def _cache_folder() -> str:
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return "compiler off (MAXMARGIN_JIT=0)"
    from maxmargin._loops.disk_cache import folder_in_use

    return str(folder_in_use() or "not kept: every process compiles them")


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
