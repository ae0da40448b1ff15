"""The samples as methods that visit one after another want them: rows, or kernel values of a few at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core import Problem
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.solvers.base import DRIVER
from maxmargin.solvers.linear.rows import Rows
from maxmargin.typing import Floats, Indices

WHOLE_GRAM = DRIVER.few_samples
"""Samples up to which the Gram matrix is kept whole, if the budget of memory allows it: 32 MB."""

CALL_VALUES = WHOLE_GRAM * WHOLE_GRAM
"""Stored values that one compiled call visits: some 20 ms."""

GRAM_VISITS = 256
"""Visits whose Gram matrix is computed at a time; fewer where their rows of K would take more than 32 MB."""


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

    def block(self, samples: Indices) -> Floats:
        """K of some samples."""
        if self.K is not None:
            return np.asarray(self.K[samples[:, None], samples])
        return self.problem.gram(samples, samples) + self.problem.bias.scale**2

    def scores(self, coefficients: Floats) -> Floats:
        """K times coefficients, many of them zero."""
        used = np.flatnonzero(coefficients)
        v = coefficients[used]
        if self.K is not None:
            return np.asarray(v @ self.K[used])
        return np.asarray(v @ self.rows.get(used) + self.problem.bias.scale**2 * float(v.sum()))


@dataclass
class Samples:
    """Rows, or a kernel and the scores ⟨v, φ̃_j⟩ of all samples for the vector v that a method keeps."""

    rows: Rows | None
    gram: Gram | None = None
    scores: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, problem: Problem, max_bytes: int) -> "Samples":
        """Those of a problem; v = 0."""
        if problem.is_linear:
            return cls(Rows.of(problem))
        return cls(None, Gram.of(problem, max_bytes), np.zeros(problem.n))

    @property
    def n_values(self) -> int:
        """Stored values, or kernel values, that an epoch visits."""
        return self.rows.n_values if self.rows is not None else len(self.scores) ** 2

    @property
    def size(self) -> int:
        """Entries of v: a weight for each feature and one for the constant, or a coefficient for each sample."""
        return self.rows.shape[1] + 1 if self.rows is not None else len(self.scores)

    def cut(self, order: Indices, batch: int = 1) -> Iterator[Indices]:
        """Visits cut into what one compiled call should do: whole batches."""
        if self.rows is not None:
            most = CALL_VALUES * self.rows.shape[0] // max(self.rows.n_values, 1)
        else:
            most = min(GRAM_VISITS, CALL_VALUES // max(len(order), 1))
        most = max(1, most // batch) * batch
        return (order[i : i + most] for i in range(0, len(order), most))

    def arrays(self, visits: Indices) -> tuple[Any, ...]:
        """Visits as the loops take them: dense rows, sparse rows, a Gram matrix and its scores; all but one are empty."""
        nothing, no_matrix = np.empty(0), np.empty((0, 0))
        no_rows = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32), nothing
        if self.gram is not None:
            return no_matrix, *no_rows, self.gram.block(visits), self.scores[visits]
        assert self.rows is not None
        if self.rows.is_sparse:
            return no_matrix, *self.rows.arrays, no_matrix, nothing
        return *self.rows.arrays, *no_rows, no_matrix, nothing

    def follow(self, before: Floats, after: Floats, scale: float = 1.0) -> None:
        """Bring the scores up to date: v was multiplied by `scale` and changed. Only what changed needs rows of K."""
        if self.gram is not None:
            self.scores *= scale
            self.scores += self.gram.scores(after - scale * before)


def split_bias(vector: Floats, problem: Problem) -> tuple[Floats, float]:
    """(w, b) of a vector of the feature space with its constant feature."""
    scale = problem.bias.scale
    if problem.is_linear:
        return vector[:-1].copy(), scale * float(vector[-1])
    return vector.copy(), scale * scale * float(vector.sum())
