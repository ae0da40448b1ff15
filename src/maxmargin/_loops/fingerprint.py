"""Sums of scrambled bits modulo 2⁶⁴, for the fingerprint of training data; compiled. All numbers are unsigned, of 64 bits."""

import numpy as np

from maxmargin._loops.jit import loop

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""The constants of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014)."""
A, B, C, HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
"""Its shifts; and half of the bits."""
MINUS_ZERO, NOTHING, ONE = np.uint64(1 << 63), np.uint64(0), np.uint64(1)


@loop
def scrambled(word):
    """SplitMix64's output for a state."""
    word = word + STEP
    word = (word ^ (word >> A)) * FIRST
    word = (word ^ (word >> B)) * SECOND
    return word ^ (word >> C)


@loop
def key(column):
    """κ: an odd number for each column."""
    return scrambled(np.uint64(column)) | ONE


@loop
def fill_keys(keys):
    """κ of all columns."""
    for j in range(keys.shape[0]):
        keys[j] = key(j)


@loop
def add_rows(words, keys, out):
    """out_i += Σ_j μ(x_ij)·κ_j, x_ij given by its bits, a row after another.

    μ(x) = x ^ (x >> 32) brings the exponent to where a product spreads it. It is one to one but for μ(−0) = μ(0) = 0.
    """
    for i in range(words.shape[0]):
        row, total = words[i], NOTHING
        for j in range(row.shape[0]):
            word = row[j]
            word = NOTHING if word == MINUS_ZERO else word
            total += (word ^ (word >> HALF)) * keys[j]
        out[i] += total


@loop
def add_rows_csr(words, indices, indptr, out):
    """The same of CSR rows whose values begin at indptr[0]; κ is computed, which is faster than to fetch it from afar."""
    for i in range(out.shape[0]):
        total = NOTHING
        for k in range(indptr[i] - indptr[0], indptr[i + 1] - indptr[0]):
            word = words[k]
            word = NOTHING if word == MINUS_ZERO else word
            total += (word ^ (word >> HALF)) * key(indices[k])
        out[i] += total


@loop
def fold(rows, labels, weights, out):
    """Rows, labels, weights with a factor for their place; rows, and all three together, without."""
    for i in range(rows.shape[0]):
        row, place = scrambled(rows[i]), scrambled(np.uint64(i)) | ONE
        label = scrambled(np.uint64(labels[i]))
        weight = scrambled(NOTHING if weights[i] == MINUS_ZERO else weights[i])
        out[0] += row * place
        out[1] += label * place
        out[2] += weight * place
        out[3] += row
        out[4] += scrambled(row + FIRST * label + SECOND * weight)
