"""The one decorator for compiled loops.

``MAXMARGIN_JIT=0`` in the environment runs the same source as plain Python: for debuggers, coverage and tests.
"""

import os
from collections.abc import Callable
from typing import Any

REASSOCIATE = {"reassoc", "contract", "nsz"}
"""Sums may be reordered; NaN and infinities keep their meaning."""


def loop(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop without the GIL; kept in a disk cache where one can be written."""
    return _compiled(function, REASSOCIATE)


def loop_as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a loop that is laid out by hand: its sums are not reordered, so that it is not vectorised."""
    return _compiled(function, {"contract"})


def loop_without_nan(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a loop whose inputs are known to be finite: the largest of many is then found in vectors."""
    return _compiled(function, REASSOCIATE | {"nnan"})


def _compiled(function: Callable[..., Any], freedom: set[str]) -> Callable[..., Any]:
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return function
    import numba

    options = {"nogil": True, "fastmath": freedom, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # nowhere to write the cache
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
