"""Kernel values for methods that ask for a few at a time: the whole Gram matrix where it is small, else rows from the cache."""

from dataclasses import dataclass

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.core.workspace import Workspace
from maxmargin.typing import Floats, Indices

WHOLE = 2000
"""Up to so many samples the Gram matrix is kept whole, if the budget of memory allows it."""


@dataclass(frozen=True)
class Gram:
    """K, with the constant feature of a penalised bias: k(x, z) + s²."""

    problem: Problem
    workspace: Workspace
    K: Floats | None

    @classmethod
    def of(cls, problem: Problem, workspace: Workspace) -> "Gram":
        """The kernel values of a problem's samples."""
        n, K = problem.n, None
        if n <= WHOLE and 8 * n * n <= workspace.max_bytes:
            samples = np.arange(n)
            K = problem.gram(samples, samples) + problem.bias.scale**2
        return cls(problem, workspace, K)

    def block(self, samples: Indices) -> Floats:
        """The values between some samples: K[samples, samples]."""
        if self.K is not None:
            return np.asarray(self.K[samples[:, None], samples])
        return np.asarray(self.problem.gram(samples, samples) + self.problem.bias.scale**2)

    def scores(self, coefficients: Floats) -> Floats:
        """K times coefficients, many of them zero."""
        used = np.flatnonzero(coefficients)
        v = coefficients[used]
        if self.K is not None:
            return np.asarray(v @ self.K[used])
        return np.asarray(v @ self.workspace.rows.get(used) + self.problem.bias.scale**2 * float(v.sum()))
