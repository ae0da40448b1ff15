"""Sums of chosen rows of a table, kept in registers from the first row to the last.

    out_k += Σ_j weight_j · table[chosen_j, k],     k = 0 … WIDE − 1

Written for the compiler's own vectors: in a plain loop it cannot know that `out` and the table are apart, and would carry
the sums through memory at each row. Any processor runs it; one with narrow vectors splits the wide ones.
"""

import os
from collections.abc import Callable
from typing import Any

WIDE = 64
"""Entries of a row of the table, and bytes of one vector: a line of the cache."""


def _add_gathered() -> Callable[..., Any]:
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return plain
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = signature.args
        table, chosen, weight, out = (context.make_array(arrays[k])(context, builder, arguments[k]).data for k in (0, 1, 2, 5))
        itemsize = arrays[0].dtype.bitwidth // 8
        lanes, count = WIDE // itemsize, itemsize
        i64, vector = ir.IntType(64), ir.VectorType(context.get_data_type(arrays[0].dtype), lanes)
        splat = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        table, out = (builder.bitcast(data, vector.as_pointer()) for data in (table, out))

        def place(base: Any, k: int) -> Any:
            return builder.gep(base, [ir.Constant(i64, k)])

        sums = [builder.load(place(out, k), align=itemsize) for k in range(count)]
        before = builder.block
        head, body, after = (builder.append_basic_block(name) for name in ("gather", "gathering", "gathered"))
        builder.branch(head)
        builder.position_at_end(head)
        j, totals = builder.phi(i64), [builder.phi(vector) for _ in sums]
        j.add_incoming(arguments[3], before)
        for total, first in zip(totals, sums, strict=True):
            total.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", j, arguments[4]), body, after)
        builder.position_at_end(body)
        row = builder.zext(builder.load(builder.gep(chosen, [j])), i64)
        one = builder.insert_element(ir.Constant(vector, ir.Undefined), builder.load(builder.gep(weight, [j])), ir.IntType(32)(0))
        factor = builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), splat)
        values = builder.gep(table, [builder.mul(row, ir.Constant(i64, count))])
        for k, total in enumerate(totals):
            product = builder.fmul(builder.load(place(values, k), align=itemsize), factor, flags=("contract",))
            total.add_incoming(builder.fadd(total, product, flags=("contract",)), body)
        j.add_incoming(builder.add(j, ir.Constant(i64, 1)), body)
        builder.branch(head)
        builder.position_at_end(after)
        for k, total in enumerate(totals):
            builder.store(total, place(out, k), align=itemsize)
        return context.get_dummy_value()

    @intrinsic  # type: ignore[untyped-decorator]
    def add_gathered(_context: Any, table: Any, chosen: Any, weight: Any, begin: Any, end: Any, out: Any) -> Any:
        is_known = table.layout == out.layout == "C" and table.dtype == out.dtype == weight.dtype
        is_known = is_known and chosen.dtype == types.uint16 and begin == end == types.int64
        return (types.void(table, chosen, weight, begin, end, out), generate) if is_known else None

    return add_gathered  # type: ignore[no-any-return]


def plain(table: Any, chosen: Any, weight: Any, begin: int, end: int, out: Any) -> None:
    """The same in Python."""
    out += weight[begin:end] @ table[chosen[begin:end]]


add_gathered = _add_gathered()
"""out += Σ_j weight[j] · table[chosen[j]] for begin ≤ j < end: rows of WIDE entries in one precision, `chosen` in uint16."""
