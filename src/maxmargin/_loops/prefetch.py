"""Asking for memory ahead of its use: rows that are visited in a random order are foreseen by nobody else."""

import os
from collections.abc import Callable
from typing import Any

from maxmargin._loops.jit import loop

AHEAD = 2
"""Visits between asking for a row and using it."""

LINES = 4
"""Cache lines of a row's values that are asked for: the rest follows by itself."""


def _prefetch() -> Callable[..., Any]:
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return lambda array, index: None
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np.arrayobj import make_array

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(_context: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = make_array(signature.args[0])(context, builder, arguments[0]).data
            address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
            call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(call, [address, number(0), number(3), number(1)])  # to read, into all caches, data
            return context.get_dummy_value()

        return types.void(array, index), generate

    return prefetch  # type: ignore[no-any-return]


prefetch = _prefetch()
"""Ask for the cache line of one entry of a contiguous one-dimensional array; an entry beyond its end does no harm."""


@loop
def fetch_csr(indptr, indices, data, visits, at):
    """Ask for the row of the visit that comes AHEAD after `at`."""
    if at + AHEAD < visits.shape[0]:
        begin = indptr[visits[at + AHEAD]]
        for line in range(LINES):
            prefetch(data, begin + 8 * line)
        prefetch(indices, begin)
        prefetch(indices, begin + 16)


@loop
def fetch_dense(X, visits, at):
    """The same for dense rows."""
    if at + AHEAD < visits.shape[0]:
        begin = visits[at + AHEAD] * X.shape[1]
        for line in range(LINES):
            prefetch(X.reshape(X.size), begin + 8 * line)
