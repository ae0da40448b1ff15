"""A kernel whose values the caller has computed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, as_matrix, dense, is_sparse, take
from maxmargin.typing import Block, Matrix


@dataclass(frozen=True)
class Precomputed(Kernel):
    """k(x_i, x_j) = K[i, j], where K is given in the place of X.

    At training X is the square Gram matrix of the training set; later, row i of X holds the values between a new sample
    and *all* training samples, as in scikit-learn.

    Notes
    -----
    `reference` gives row numbers instead of rows, as an (n, 1) integer array, and `block` picks those columns of X.
    Whether K is positive semi-definite cannot be known beforehand: ask `is_positive_semidefinite`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Precomputed
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> kernel = Precomputed()
    >>> support = kernel.reference(K, np.array([1]))
    >>> kernel.block(K, support)
    array([[1.],
           [3.]])
    """

    @property
    def psd(self) -> None:
        """None: it depends on the matrix."""
        return

    def check_input(self, X: Matrix) -> None:
        """Raise InvalidInputError where X is not square."""
        X = as_matrix(X)
        if X.shape[0] != X.shape[1]:
            raise InvalidInputError(
                f"A precomputed kernel matrix must be square at training, got shape {X.shape}. "
                "Pass k(x_i, x_j) for all pairs of training samples."
            )

    def reference(self, X: Matrix, rows: Any = None) -> Matrix:
        """Return the numbers of the training rows, as an integer array of shape (n, 1)."""
        return take(np.arange(as_matrix(X).shape[1], dtype=np.intp)[:, np.newaxis], rows)

    def _check_pair(self, X: Matrix, Z: Matrix) -> None:
        if is_sparse(Z) or Z.dtype.kind not in "iu" or Z.shape[1] != 1:
            raise InvalidInputError(
                f"Precomputed.block takes training row numbers as Z, an integer array of shape (n, 1); got dtype "
                f"{Z.dtype} and shape {Z.shape}. Use Z = kernel.reference(X_train, rows)."
            )
        if Z.size and (Z.min() < 0 or Z.max() >= X.shape[1]):
            raise InvalidInputError(
                f"X has {X.shape[1]} columns, training rows {Z.min()} to {Z.max()} were asked for. "
                "X must hold one column for each training sample."
            )

    def default_dtype(self, X: Matrix, Z: Matrix) -> np.dtype[Any]:
        """Return the precision of the values that were given."""
        return FLOAT32 if X.dtype == FLOAT32 else FLOAT64

    def _relative_error(self, X: Matrix) -> float:
        return float(np.finfo(self.default_dtype(X, X)).eps)

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shift: Block | None) -> None:
        out[...] = dense(X[:, Z[:, 0]])

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        self.check_input(X)
        values: Block = X.diagonal().astype(dtype)
        return values
