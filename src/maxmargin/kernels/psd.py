"""Is a symmetric matrix positive semi-definite? With the proof, whichever the answer."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from maxmargin.errors import MemoryBudgetError
from maxmargin.kernels.tiles import TILE_ROWS
from maxmargin.typing import Floats

MAX_BYTES = 2 << 30
# The eigenvalue needs the whole n × n matrix: n ≈ 16 384.


@dataclass(frozen=True, eq=False)
class PSDCheck:
    """Whether a Gram matrix K is symmetric and positive semi-definite; true where it is.

    Attributes
    ----------
    holds : bool
        ``eigenvalue >= -tolerance`` and ``asymmetry <= tolerance``.
    eigenvalue : float
        The smallest eigenvalue of the symmetric part ½(K + Kᵀ).
    vector : ndarray of shape (n,)
        Its unit eigenvector v: vᵀKv equals the eigenvalue, so that anyone can check a "no" in O(n²).
    asymmetry : float
        max |K − Kᵀ|.
    tolerance : float
        What rounding errors alone can explain.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> check = Linear().is_positive_semidefinite(np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> bool(check), check.eigenvalue
    (True, 1.0)
    >>> print(check)
    Positive semi-definite: the smallest eigenvalue is 1, the tolerance ...
    """

    holds: bool
    eigenvalue: float
    vector: Floats
    asymmetry: float
    tolerance: float

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.asymmetry > self.tolerance:
            return f"Not symmetric: K and Kᵀ differ by {self.asymmetry:.3g}, the tolerance is {self.tolerance:.3g}."
        claim = "Positive semi-definite" if self.holds else "Not positive semi-definite"
        return f"{claim}: the smallest eigenvalue is {self.eigenvalue:.3g}, the tolerance {self.tolerance:.3g}."


def require_room(n: int) -> None:
    """Raise MemoryBudgetError where an n × n matrix of float64 is more than 2 GiB."""
    if 8 * n * n > MAX_BYTES:
        raise MemoryBudgetError(
            f"The smallest eigenvalue needs the whole {n} × {n} kernel matrix, {8 * n * n / 2**30:.1f} GiB; "
            f"at most {MAX_BYTES / 2**30:.0f} GiB are used. Check a random sample of the rows: where the whole matrix "
            "is positive semi-definite, so is every part K[rows, rows]."
        )


def check_matrix(K: Floats, relative_error: float) -> PSDCheck:
    """Judge the square matrix K, whose entries are known to relative_error · max|K|; overwrites K. O(n³)."""
    n = K.shape[0]
    if n == 0:
        return PSDCheck(True, 0.0, np.empty(0), 0.0, 0.0)
    tolerance = relative_error * n * max(float(K.max()), -float(K.min()))
    asymmetry = 0.0
    for start in range(0, n, TILE_ROWS):  # K becomes ½(K + Kᵀ), strip by strip
        right, below = K[start : start + TILE_ROWS, start:], K[start:, start : start + TILE_ROWS].T
        asymmetry = max(asymmetry, float(np.abs(right - below).max()))
        right[...] = 0.5 * right + 0.5 * below
        below[...] = right
    values, vectors = scipy.linalg.eigh(K.T, subset_by_index=[0, 0], overwrite_a=True, check_finite=False)
    eigenvalue = float(values[0])
    holds = eigenvalue >= -tolerance and asymmetry <= tolerance
    return PSDCheck(holds, eigenvalue, vectors[:, 0].copy(), asymmetry, tolerance)
