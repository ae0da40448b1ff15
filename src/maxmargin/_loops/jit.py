"""The decorators for compiled loops.

``MAXMARGIN_JIT=0`` in the environment runs the same source as plain Python: for debuggers, coverage and tests. Loops of this
package are kept on disk (`disk_cache`). What compiling costs is counted apart from what the loops do (`compile_time`).
"""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

from maxmargin._loops.compile_time import COMPILE_TIME

REASSOCIATE = {"reassoc", "contract", "nsz"}
"""Sums may be reordered; NaN and infinities keep their meaning."""


def loop(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop without the GIL; kept on disk where a folder can be written."""
    return _compiled(function, REASSOCIATE)


def loop_as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a loop that is laid out by hand: its sums are not reordered, so that it is not vectorised."""
    return _compiled(function, {"contract"})


def loop_without_nan(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a loop whose inputs are known to be finite: the largest of many is then found in vectors."""
    return _compiled(function, REASSOCIATE | {"nnan"})


def loop_exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a loop whose every rounding counts: nothing is reordered or fused."""
    return _compiled(function, set())


def by_precision(single: Callable[..., Any], double: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one number that other loops can call: `single` for float32, `double` for float64."""

    def in_single(value: Any) -> Any:
        return single(value)

    def in_double(value: Any) -> Any:
        return double(value)

    def either(value: Any) -> Any:
        return single(value) if value.dtype.itemsize == 4 else double(value)

    if os.environ.get("MAXMARGIN_JIT", "1") != "0":
        from numba.extending import overload

        @overload(either)  # type: ignore[untyped-decorator]
        def _chosen(value: Any) -> Any:
            return in_single if value.bitwidth == 32 else in_double

    return either


def _larger() -> Callable[..., Any]:
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return max
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def larger(_context: Any, x: Any, y: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            flags = ("nnan", "nsz")
            is_larger = builder.fcmp_ordered(">", *arguments, flags=flags)
            return builder.select(is_larger, *arguments, flags=flags)

        return (x(x, y), generate) if isinstance(x, types.Float) and x == y else None

    return larger  # type: ignore[no-any-return]


with COMPILE_TIME:  # numba is imported here
    larger = _larger()
"""The larger of two finite numbers of one type. Unlike `max`, it lets the compiler find the largest of many in vectors."""


def _compiled(function: Callable[..., Any], freedom: set[str]) -> Callable[..., Any]:
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return function
    import numba

    from maxmargin._loops.disk_cache import LoopCache

    compiled = numba.njit(nogil=True, fastmath=freedom, error_model="numpy")(function)
    if compiled is not function:  # NUMBA_DISABLE_JIT=1 leaves it as it is
        compiled.compile = _timed(compiled.compile)  # called once for each type, and never by a call of compiled code
    if compiled is not function and function.__module__.startswith(f"{__package__}.") and not function.__closure__:
        compiled._cache = LoopCache(function)  # as numba's `enable_caching` does, with our own cache
    return compiled  # type: ignore[no-any-return]


def _timed(compile: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(compile)
    def timed(signature: Any) -> Any:
        with COMPILE_TIME:
            return compile(signature)

    return timed
