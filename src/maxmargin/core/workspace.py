"""What may be shared between fits on the same data: kernel rows and the memory they may take."""

from functools import cached_property

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.kernel_matrix.matrix import KernelMatrix

DEFAULT_BYTES = 2**30


class Workspace:
    """Owner of the kernel rows of one data set, within `max_bytes` of memory (1 GiB by default).

    Whoever solves several problems on the same samples (leave-one-out, paths, warm starts) gives them the same workspace, so that
    a kernel row is computed once. It fits every `Problem` on the same X, rows and kernel.
    """

    def __init__(self, problem: Problem, max_bytes: int = DEFAULT_BYTES) -> None:
        self.problem = problem
        self.max_bytes = int(max_bytes)

    def fits(self, problem: Problem) -> bool:
        """Whether a problem may use these rows."""
        mine = self.problem
        return mine.X is problem.X and mine.kernel == problem.kernel and mine.rows is problem.rows

    @cached_property
    def rows(self) -> KernelMatrix:
        """Rows of K in float64, cached."""
        return self.problem.kernel_matrix(np.float64, self.max_bytes)
