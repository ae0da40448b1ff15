"""RBF values of rows whose zeros are left out, against columns laid out for vectors; compiled.

    k(x_i, z_k) = exp(⟨u_i, v_k⟩ − ½‖u_i‖² − ½‖v_k‖²),     u = √(2γ)(x − μ), v = √(2γ)(z − μ)

Most features of many data have the same value in most rows: the 0 of a one-hot column or of a picture's background. With μ
there only the other entries of u cost anything. A chunk of WIDE columns v is a table with a row for each feature.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.rbf.exponential import exponentiate
from maxmargin._loops.rbf.gathered_sums import WIDE, add_gathered

TALL = 8
"""Rows between two calls of exp."""


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
    """table[c, f, k] = the f-th entry of row at[c · W + k], where W is the table's width; it came full of zeros."""
    wide = table.shape[2]
    for k in range(at.shape[0]):
        for j in range(start[at[k]], start[at[k] + 1]):
            table[k // wide, feature[j], k % wide] = value[j]


@loop
def copy_entries(start, feature, value, at, new_start, new_feature, new_value):
    """The entries of some rows, one after the other."""
    for r in range(at.shape[0]):
        first, to = start[at[r]], new_start[r]
        for j in range(new_start[r + 1] - to):
            new_feature[to + j], new_value[to + j] = feature[first + j], value[first + j]


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
    """out[r, k] = the kernel between row at[r] and column k.

    block : of shape (TALL, WIDE), to work in.
    """
    for c in range(table.shape[0]):
        first = c * WIDE
        wide = min(WIDE, out.shape[1] - first)
        for top in range(0, at.shape[0], TALL):
            tall = min(TALL, at.shape[0] - top)
            values_of(start, feature, value, at, own, top, tall, table[c], theirs[c], block)
            for q in range(tall):
                row, target = block[q], out[top + q, first : first + wide]
                for k in range(wide):
                    target[k] = row[k]


@loop
def sum_values(start, feature, value, at, own, table, theirs, block, weights, out, over_columns, row_out):
    """out_k += Σ_r weights_r K_rk and row_out[s, r] += Σ_k over_columns[s, k] K_rk, each value computed once for all.

    K_rk is the kernel between row at[r] and column k. Sums are in float64 but for those of TALL rows, or of WIDE columns.
    weights : one for each row, or none: then `out` is not touched.
    over_columns : any number of rows, padded with zeros as the table is.
    """
    part, total, has_out = np.empty(WIDE, dtype=block.dtype), np.empty(WIDE), weights.shape[0] > 0
    for c in range(table.shape[0]):
        first = c * WIDE
        for k in range(WIDE):
            total[k] = 0.0
        for top in range(0, at.shape[0], TALL):
            tall = min(TALL, at.shape[0] - top)
            values_of(start, feature, value, at, own, top, tall, table[c], theirs[c], block)
            for s in range(over_columns.shape[0]):
                some = over_columns[s, first : first + WIDE]
                for q in range(tall):
                    row, one = block[q], block.dtype.type(0.0)
                    for k in range(WIDE):
                        one += some[k] * row[k]
                    row_out[s, top + q] += one
            if has_out:
                for k in range(WIDE):
                    part[k] = 0
                for q in range(tall):
                    row, weight = block[q], weights[top + q]
                    for k in range(WIDE):
                        part[k] += weight * row[k]
                for k in range(WIDE):
                    total[k] += part[k]
        if has_out:
            for k in range(min(WIDE, out.shape[0] - first)):
                out[first + k] += total[k]
