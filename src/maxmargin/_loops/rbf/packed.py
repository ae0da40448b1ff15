"""RBF values of rows whose zeros are left out, against columns laid out for vectors; compiled.

    k(x_i, z_k) = exp(⟨u_i, v_k⟩ − ½‖u_i‖² − ½‖v_k‖²),     u = √(2γ)(x − μ), v = √(2γ)(z − μ)

Most features of many data have the same value in most rows: the 0 of a one-hot column or of a picture's background. With μ
there only the other entries of u cost anything. A chunk of WIDE columns v is a table with a row for each feature.
"""

import numpy as np

from maxmargin._loops.jit import loop
from maxmargin._loops.rbf.exponential import exponential
from maxmargin._loops.rbf.gathered_sums import WIDE, add_gathered

TALL = 8
"""Rows between two calls of exp."""


@loop
def list_entries(rows, factor, feature, value, ends, squares):
    """The entries factor · row ≠ 0 of all rows, one after the other; where each row's end; ½‖·‖² of each. Returns their number.

    The rows are multiplied by the factor in place.
    """
    count = 0
    for i in range(rows.shape[0]):
        row, total = rows[i], 0.0
        for f in range(row.shape[0]):
            u = factor * row[f]
            row[f] = u
            total += float(u) * float(u)
        squares[i] = 0.5 * total
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
    exponential(block.reshape(1, TALL * WIDE))


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
def add_values(start, feature, value, at, own, table, theirs, block, weights, out, store, slots, begin):
    """out_k += Σ_r weights_r · the kernel between row at[r] and column k, in float64 but for sums of TALL terms.

    The row's values are kept in store[slots[r], begin + k] where slots[r] ≥ 0.
    """
    part, total = np.empty(WIDE, dtype=block.dtype), np.empty(WIDE)
    for c in range(table.shape[0]):
        first = c * WIDE
        wide = min(WIDE, out.shape[0] - first)
        for k in range(WIDE):
            total[k] = 0.0
        for top in range(0, at.shape[0], TALL):
            tall = min(TALL, at.shape[0] - top)
            values_of(start, feature, value, at, own, top, tall, table[c], theirs[c], block)
            for k in range(WIDE):
                part[k] = 0
            for q in range(tall):
                row, weight = block[q], weights[top + q]
                for k in range(WIDE):
                    part[k] += weight * row[k]
                if slots[top + q] >= 0:
                    target = store[slots[top + q], begin + first : begin + first + wide]
                    for k in range(wide):
                        target[k] = row[k]
            for k in range(WIDE):
                total[k] += part[k]
        for k in range(wide):
            out[first + k] += total[k]


@loop
def sum_values(start, feature, value, at, own, table, theirs, block, weights, out):
    """out[s, r] += Σ_k weights[s, k] · the kernel between row at[r] and column k, in float64 but for sums of WIDE terms.

    weights : padded with zeros, as the table is.
    """
    for c in range(table.shape[0]):
        for top in range(0, at.shape[0], TALL):
            tall = min(TALL, at.shape[0] - top)
            values_of(start, feature, value, at, own, top, tall, table[c], theirs[c], block)
            for s in range(weights.shape[0]):
                some = weights[s, c * WIDE : (c + 1) * WIDE]
                for q in range(tall):
                    row, total = block[q], block.dtype.type(0.0)
                    for k in range(WIDE):
                        total += some[k] * row[k]
                    out[s, top + q] += total


@loop
def sum_values_both_ways(start, feature, value, at, own, table, theirs, block, weights, their_weights, out, their_out):
    """out_r += Σ_k their_weights_k · the kernel between row at[r] and column k, their_out_k += Σ_r weights_r · the same.

    Each value is computed once for both. All in one precision; the arrays of the columns are padded, as the table is.
    """
    part = np.empty(WIDE, dtype=block.dtype)
    for c in range(table.shape[0]):
        some, target = their_weights[c * WIDE : (c + 1) * WIDE], their_out[c * WIDE : (c + 1) * WIDE]
        for k in range(WIDE):
            part[k] = 0
        for top in range(0, at.shape[0], TALL):
            tall = min(TALL, at.shape[0] - top)
            values_of(start, feature, value, at, own, top, tall, table[c], theirs[c], block)
            for q in range(tall):
                row, weight, total = block[q], weights[top + q], block.dtype.type(0.0)
                for k in range(WIDE):
                    total += some[k] * row[k]
                    part[k] += weight * row[k]
                out[top + q] += total
        for k in range(WIDE):
            target[k] += part[k]
