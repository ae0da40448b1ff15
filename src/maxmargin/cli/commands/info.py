"""``maxmargin info``: what a bug report needs."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import maxmargin
from maxmargin.cli.screen import Screen

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
    return {
        "maxmargin": maxmargin.__version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()}, {platform.system()} {platform.machine()})",
        **{name: _version(name) for name in CORE},
        **{name: _version(name) for name in EXTRAS if _version(name) != "not installed"},
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "BLAS": _blas(),
        "compiled loops": _cache_folder(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


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
