"""RBF values of rows whose zeros are left out, against columns laid out for vectors; compiled.

    k(x_i, z_k) = exp(⟨u_i, v_k⟩ − ½‖u_i‖² − ½‖v_k‖²),     u = √(2γ)(x − μ), v = √(2γ)(z − μ)

Most features of many data have the same value in most rows: the 0 of a one-hot column or of a picture's background. With μ
there only the other entries of u cost anything. They stand as those of a CSR matrix: (start, feature, value). A chunk of WIDE
columns v is a table with a row for each feature, and ⟨u_i, v_k⟩ is a sum of chosen rows of the table, which `add_gathered`
keeps in registers from the first row to the last.
"""

import os
from collections.abc import Callable
from typing import Any

from maxmargin._loops.jit import loop
from maxmargin._loops.rbf.exponential import exponentiate

WIDE = 64
"""Entries of a row of a table, and bytes of one vector: a line of the cache."""

TALL = 8
"""Rows between two calls of exp."""


def _add_gathered() -> Callable[..., Any]:
    """Written for the compiler's own vectors: in a plain loop it cannot know that `out` and the table are apart, and would carry
    the sums through memory at each row. Any processor runs it; one with narrow vectors splits the wide ones.
    """
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        return plain
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays, i32, i64 = signature.args, ir.IntType(32), ir.IntType(64)
        table, chosen, weight, out = (context.make_array(arrays[k])(context, builder, arguments[k]).data for k in (0, 1, 2, 5))
        size = arrays[0].dtype.bitwidth // 8  # of a number, and how many vectors there are
        vector, first_lane = (ir.VectorType(kind, WIDE // size) for kind in (context.get_data_type(arrays[0].dtype), i32))
        table, out = (builder.bitcast(data, vector.as_pointer()) for data in (table, out))
        places = [builder.gep(out, [i64(k)]) for k in range(size)]
        sums = [cgutils.alloca_once_value(builder, builder.load(place, align=size)) for place in places]
        with cgutils.for_range_slice(builder, arguments[3], arguments[4], i64(1), i64) as (j, _):
            row = context.cast(builder, builder.load(builder.gep(chosen, [j])), arrays[1].dtype, types.int64)
            one = builder.insert_element(vector(ir.Undefined), builder.load(builder.gep(weight, [j])), i32(0))
            factor = builder.shuffle_vector(one, one, first_lane([0] * first_lane.count))
            for k, total in enumerate(sums):
                at = builder.add(builder.mul(row, i64(size)), i64(k))
                value = builder.load(builder.gep(table, [at]), align=size)
                product = builder.fmul(value, factor, flags=("contract",))
                builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
        for place, total in zip(places, sums, strict=True):
            builder.store(builder.load(total), place, align=size)
        return context.get_dummy_value()

    @intrinsic  # type: ignore[untyped-decorator]
    def add_gathered(_context: Any, table: Any, chosen: Any, weight: Any, begin: Any, end: Any, out: Any) -> Any:
        is_known = table.layout == out.layout == "C" and table.dtype == out.dtype == weight.dtype
        return (types.void(table, chosen, weight, types.int64, types.int64, out), generate) if is_known else None

    return add_gathered  # type: ignore[no-any-return]


def plain(table: Any, chosen: Any, weight: Any, begin: int, end: int, out: Any) -> None:
    """The same in Python."""
    out += weight[begin:end] @ table[chosen[begin:end]]


add_gathered = _add_gathered()
"""out += Σ_j weight[j] · table[chosen[j]] for begin ≤ j < end: rows of WIDE entries, all in one precision."""


@loop
def list_entries(rows, feature, value, ends):
    """The entries ≠ 0 of all rows, one after the other; where each row's end. Returns their number."""
    count = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        for f in range(row.shape[0]):  # each is written, and the next overwrites it if it is 0: no branch
            feature[count], value[count] = f, row[f]
            count += 1 if row[f] != 0.0 else 0
        ends[i] = count
    return count


@loop
def lay_out(start, feature, value, at, table):
    """table[c, f, k] = the f-th entry of row at[c · WIDE + k]; it came full of zeros."""
    for k in range(at.shape[0]):
        for j in range(start[at[k]], start[at[k] + 1]):
            table[k // WIDE, feature[j], k % WIDE] = value[j]


@loop
def values_of(start, feature, value, at, own, top, tall, table, theirs, block):
    """block[q, k] = the kernel between row at[top + q] and the k-th column of a chunk; `own` and `theirs` are their ½‖·‖²."""
    for q in range(tall):
        row, i = block[q], at[top + q]
        for k in range(WIDE):
            row[k] = -own[top + q] - theirs[k]
        add_gathered(table, feature, value, start[i], start[i + 1], row)
    exponentiate(block.reshape(TALL * WIDE))


@loop
def fill_values(start, feature, value, at, own, table, theirs, block, out):
    """out[i, k] = the kernel between row at[i] and column k.

    block : of shape (TALL, WIDE), to work in.
    """
    for c in range(table.shape[0]):
        first = c * WIDE
        wide = min(WIDE, out.shape[1] - first)
        for top in range(0, own.shape[0], TALL):
            tall = min(TALL, own.shape[0] - top)
            values_of(start, feature, value, at, own, top, tall, table[c], theirs[c], block)
            for q in range(tall):
                row, target = block[q], out[top + q, first : first + wide]
                for k in range(wide):
                    target[k] = row[k]


@loop
def sum_values(start, feature, value, at, own, table, theirs, block, weights, out):
    """out[s, i] += Σ_k weights[s, k] K_ik; K_ik, the kernel between row at[i] and column k, is computed once for all s.

    Sums are in float64 but for those of WIDE columns. The weights are padded with zeros as the table is.
    """
    for c in range(table.shape[0]):
        for top in range(0, own.shape[0], TALL):
            tall = min(TALL, own.shape[0] - top)
            values_of(start, feature, value, at, own, top, tall, table[c], theirs[c], block)
            for s in range(weights.shape[0]):
                some = weights[s, c * WIDE : (c + 1) * WIDE]
                for q in range(tall):
                    row, total = block[q], block.dtype.type(0.0)
                    for k in range(WIDE):
                        total += some[k] * row[k]
                    out[s, top + q] += total
