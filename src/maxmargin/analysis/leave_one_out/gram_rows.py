"""Rows of the Gram matrix with bounds of what rounding did to their entries."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from maxmargin.analysis.leave_one_out.full import COARSE
from maxmargin.core import Problem
from maxmargin.kernel_matrix.tiles import fill, prepared
from maxmargin.kernels.tiles import FLOAT64, TILE_COLUMNS, is_sparse, row_width, rows_that_fit
from maxmargin.rounding import UNIT
from maxmargin.threads import together
from maxmargin.typing import Floats, Indices

BLOCK = 256
"""Rows that are made at a time."""


def fill_gram_rows(problem: Problem, samples: Indices, out: Floats, n_threads: int) -> tuple[Floats, Floats]:
    """out[r, j] = k(x_samples[r], x_j), plus the constant of a penalised bias; some blocks on each thread.

    Returns a bound of the errors and one of the sizes of each row's entries.
    """
    error, largest = np.zeros(len(samples)), np.zeros(len(samples))
    make = _maker(problem)
    width = rows_that_fit(row_width(problem.X), TILE_COLUMNS)
    constant = problem.bias.scale**2

    def share(thread: int) -> None:
        for start in range(thread * BLOCK, len(samples), n_threads * BLOCK):
            at = slice(start, start + BLOCK)
            for first in range(0, problem.n, width):
                columns = np.arange(first, min(first + width, problem.n))
                values, slip = make(samples[at], columns)
                out[at, columns[0] : columns[-1] + 1] = values + constant if constant else values
                sizes = np.abs(values).max(axis=1) + constant
                error[at] = np.maximum(error[at], (slip + 4.0 * UNIT * (sizes if constant else 0.0)) * 1.01)
                largest[at] = np.maximum(largest[at], sizes * 1.01)

    together([partial(share, thread) for thread in range(n_threads)], n_threads)
    return error, largest


def _maker(problem: Problem) -> Callable[[Indices, Indices], tuple[Floats, Floats]]:
    """(rows, columns) → their block of the Gram matrix, and a bound of the error of the entries of each row."""
    kernel, X = problem.kernel, problem.X
    centre = problem.kernel_matrix().centre

    def make(i: Indices, j: Indices) -> tuple[Floats, Floats]:
        rows, columns = X[problem.row(i)], kernel.reference(X, problem.row(j))
        if not kernel.sees_values_only:  # the values are the definition
            return problem.gram(i, j), np.zeros(len(i))
        values = np.empty((len(i), len(j)))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            left, right = prepared(kernel, rows, FLOAT64, centre), prepared(kernel, columns, FLOAT64, centre)
            error = _error_of(kernel, left, right, values) if fill(kernel, left, right, values) else None
            if error is not None and not kernel.has_differences:
                return values, error
            finest = kernel.difference_error(X.shape[1], 1.0, 1.0, 1) if kernel.has_differences else 0.0
            if error is not None and (error <= COARSE * finest).all():
                return values, error
            kernel.fill_differences(rows, columns, values)
        largest = np.abs(values).max(axis=1)
        return values, np.asarray(kernel.difference_error(X.shape[1], 1.0, largest, 1))

    return make


def _error_of(kernel: Any, left: Any, right: Any, values: Floats) -> Floats:
    """Of each row's entries: the bound of a sum with one term, at the column for which it is largest."""
    one, weights = np.ones(1), kernel.error_weights(right, np.ones(values.shape[1]))
    if weights is not None:
        largest = (np.abs(values) * weights).max(axis=1)
        return np.asarray(kernel.error(left, right, slice(None), one, largest, 1))
    at = _longest(right)
    return np.asarray(kernel.error(left, right, slice(at, at + 1), one, None, 1))


def _longest(rows: Any) -> int:
    """The number of the row with the largest norm; the RBF kernel's prepared rows know theirs."""
    if hasattr(rows, "squares"):
        return int(np.argmax(rows.squares))
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if is_sparse(rows) else np.square(rows).sum(axis=1)
    return int(np.argmax(squares))
