"""What several problems on the same data share: its rows, ready for tiles."""

import threading
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.kernel_matrix.centre import SHIFT_ROWS, Centre
from maxmargin.kernel_matrix.packed import PackedRows
from maxmargin.kernel_matrix.tiles import FLOAT32
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.rbf import RBF
from maxmargin.typing import Matrix


class SharedRows:
    """The packed float32 rows of one data set: made when first asked for, once for all problems on it, whichever thread asks."""

    def __init__(self, kernel: Kernel, X: Matrix) -> None:
        self.kernel, self.X = kernel, X
        self._lock = threading.Lock()
        self._rows: PackedRows | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedRows, (self.kernel, self.X)

    @cached_property
    def centre(self) -> Centre | None:
        """What all tiles of the kernel share, if they are packed."""
        if not isinstance(self.kernel, RBF) or not isinstance(self.X, np.ndarray):
            return None
        found = self.kernel.shared_by(self.X[:: -(-self.X.shape[0] // SHIFT_ROWS)])
        return found if found is not None and found.is_packed else None

    def fits(self, X: Matrix, kernel: Kernel) -> bool:
        """Whether these are the rows of X for a kernel, and packed."""
        return self.X is X and self.kernel == kernel and self.centre is not None

    @property
    def rows(self) -> PackedRows:
        """All rows."""
        with self._lock:
            if self._rows is None:
                assert isinstance(self.kernel, RBF)
                assert self.centre is not None
                self._rows = PackedRows.of(self.X, self.centre, float(self.kernel.gamma), FLOAT32)
            return self._rows
