"""The samples as methods that visit one after another want them: rows, or kernel values of a few at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.solvers.linear.rows import Rows
from maxmargin.typing import Floats, Indices

WHOLE_GRAM = 2000
"""Samples up to which the Gram matrix is kept whole, if the budget of memory allows it: 32 MB."""

CALL_VALUES = WHOLE_GRAM**2
"""Stored values that one compiled call visits: some 20 ms."""

GRAM_VISITS = 256
"""Visits whose Gram matrix is computed at a time; fewer where their rows of K would take more than 32 MB."""

NOTHING, NO_MATRIX = np.empty(0), np.empty((0, 0))
NO_ROWS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32), NOTHING


def row_arrays(rows: Rows) -> tuple[Any, ...]:
    """Rows as the loops take them: dense ones, sparse ones, and a Gram matrix with scores; all but one are empty."""
    if rows.is_sparse:
        return NO_MATRIX, *rows.arrays, NO_MATRIX, NOTHING
    return *rows.arrays, *NO_ROWS, NO_MATRIX, NOTHING


def cut(order: Indices, rows: Rows | None, batch: int = 1) -> Iterator[Indices]:
    """Visits cut into what one compiled call should do: whole batches."""
    n = max(len(order), 1)
    most = min(GRAM_VISITS, CALL_VALUES // n)
    if rows is not None:
        most = CALL_VALUES * rows.shape[0] // max(rows.n_values, 1)
    most = max(1, most // batch) * batch
    return (order[i : i + most] for i in range(0, len(order), most))


@dataclass(frozen=True)
class Gram:
    """K, with the constant feature of a penalised bias: k(x, z) + s²."""

    problem: Problem
    rows: KernelMatrix
    K: Floats | None

    @classmethod
    def of(cls, problem: Problem, max_bytes: int) -> "Gram":
        """The kernel values of a problem's samples."""
        n, K = problem.n, None
        if n <= WHOLE_GRAM and 8 * n * n <= max_bytes:
            samples = np.arange(n)
            K = problem.gram(samples, samples) + problem.bias.scale**2
        return cls(problem, problem.kernel_matrix(max_bytes=max_bytes), K)

    def arrays(self, samples: Indices, scores: Floats) -> tuple[Any, ...]:
        """Visits of some samples as the loops take them, with the scores of these visits."""
        if self.K is not None:
            G = self.K[samples[:, None], samples]
        else:
            G = self.problem.gram(samples, samples) + self.problem.bias.scale**2
        return NO_MATRIX, *NO_ROWS, G, scores[samples]

    def scores(self, coefficients: Floats) -> Floats:
        """K times coefficients, many of them zero."""
        used = np.flatnonzero(coefficients)
        v = coefficients[used]
        if self.K is not None:
            return np.asarray(v @ self.K[used])
        return np.asarray(v @ self.rows.get(used) + self.problem.bias.scale**2 * float(v.sum()))
