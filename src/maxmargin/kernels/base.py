"""What every kernel is: a function of two rows, evaluated in blocks."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, final

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import tiles
from maxmargin.kernels.psd import PSDCheck, check_matrix, require_room
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, as_matrix
from maxmargin.rounding import SMALLEST, gamma
from maxmargin.typing import Block, Floats, Matrix


class Kernel(ABC):
    """A similarity k(x, z) between rows. Subclasses are frozen dataclasses: settings, never data.

    Rows are those of a dense two-dimensional array or of a CSR matrix; X and Z may be of different kinds. All work is
    done in tiles of about 512 × 1024 values whose sizes depend on the shapes alone: the same inputs give the same bits,
    and float32 data are up-cast tile by tile, never as a whole.

    To add a kernel, write a frozen dataclass with `_fill`, `_diag` and `psd`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import RBF
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> RBF(gamma=0.5).block(X[:1], X).round(3)
    array([[1.   , 0.607, 0.011]])
    """

    # ------------------------------------------------------------------ what a kernel says of itself

    @property
    @abstractmethod
    def psd(self) -> bool | None:
        """True: positive semi-definite on any data. False: not in general. None: cannot be known."""

    constant_length: ClassVar[float | None] = None
    """√k(x, x), where that is the same for all x."""

    @property
    def is_resolved(self) -> bool:
        """Whether all parameters are numbers, none of them still to be taken from the data."""
        return True

    def resolve(self, X: Matrix, sample_weight: Any = None) -> "Kernel":
        """Return the kernel in which nothing depends on data any more, e.g. gamma="scale" has become a number."""
        return self

    def check_input(self, X: Matrix) -> None:
        """Raise InvalidInputError where X cannot be the training data of this kernel."""
        as_matrix(X)

    # ------------------------------------------------------------------ values

    @final
    def block(self, X: Matrix, Z: Matrix, out: Block | None = None, *, dtype: Any = None) -> Block:
        """Return k(x, z) for all rows x of X and z of Z.

        Parameters
        ----------
        X, Z : dense or CSR, shapes (n_x, d) and (n_z, d)
            float32 or float64; other real numbers are read as float64.
        out : ndarray of shape (n_x, n_z), optional
            Where to put the values; of the dtype of the result.
        dtype : float32 or float64, optional
            Arithmetic and result. Default: float32 if X and Z both are, else float64.

        Returns
        -------
        ndarray of shape (n_x, n_z)

        Raises
        ------
        InvalidInputError
            If shapes do not agree, if a parameter is not resolved, or if a value overflows.
        """
        X, Z = as_matrix(X), as_matrix(Z, "Z")
        self.require_resolved()
        self._check_pair(X, Z)
        dtype = self.default_dtype(X, Z) if dtype is None else tiles.check_dtype(dtype)
        out = tiles.check_out(out, (X.shape[0], Z.shape[0]), dtype)
        if out.size == 0:
            return out
        step_x = tiles.rows_that_fit(self._width(X), tiles.TILE_ROWS)
        step_z = tiles.rows_that_fit(self._width(Z), tiles.TILE_COLUMNS)
        # overflow is looked for in the results; a kernel value that underflows is 0
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            shift = self.shift_of(Z, np.result_type(X.dtype, Z.dtype)) if not tiles.is_sparse(X) else None
            for i in range(0, X.shape[0], step_x):
                rows = tiles.cut(X, i, i + step_x)
                for j in range(0, Z.shape[0], step_z):
                    tile = out[i : i + step_x, j : j + step_z]
                    self._fill(rows, tiles.cut(Z, j, j + step_z), tile, shift)
                    tiles.require_finite(tile, f"A value of {self!r}")
        return out

    @final
    def diag(self, X: Matrix, *, dtype: Any = np.float64) -> Block:
        """Return k(x, x) for all rows x of X, in O(nnz): no n × n matrix is formed."""
        X, dtype = as_matrix(X), tiles.check_dtype(dtype)
        self.require_resolved()
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            values = self._diag(X, dtype)
        tiles.require_finite(values, f"A value of {self!r}")
        return values

    def reference(self, X: Matrix, rows: Any = None) -> Matrix:
        """Return what must be kept of the training rows to evaluate the kernel against them later.

        Parameters
        ----------
        X : dense or CSR of shape (n, d)
            The training data.
        rows : integer array, slice or None
            Which of them; None means all, without a copy.

        Returns
        -------
        Matrix
            To be passed as Z: ``block(X_new, reference(X, rows))``. Here the rows themselves.
        """
        return tiles.take(as_matrix(X), rows)

    @final
    def between(self, X: Matrix, i: Any = None, j: Any = None, *, dtype: Any = None) -> Block:
        """Return the block K[i, j] of the Gram matrix of the training set X; None or a slice may stand for indices."""
        return self.block(tiles.take(as_matrix(X), i), self.reference(X, j), dtype=dtype)

    @final
    def is_positive_semidefinite(self, X: Matrix) -> PSDCheck:
        """Look for a negative eigenvalue of the Gram matrix of X, in O(n³) time and 8n² bytes.

        Returns
        -------
        PSDCheck
            True or false, with the smallest eigenvalue and its eigenvector.

        Raises
        ------
        MemoryBudgetError
            If the Gram matrix is larger than 2 GiB (n > 16 384).
        """
        X = as_matrix(X)
        self.check_input(X)
        require_room(X.shape[0])
        K = self.between(X, dtype=np.float64).astype(np.float64, copy=False)
        # sums of d products err by about √d ε; the factor leaves room for the eigenvalue's own rounding
        return check_matrix(K, 4 * self._relative_error(X) * (1 + X.shape[1] ** 0.5 / max(X.shape[0], 1)))

    # ------------------------------------------------------------------ hooks

    @abstractmethod
    def _fill(self, X: Matrix, Z: Matrix, out: Block, shift: Block | None) -> None:
        """Fill one tile, in the arithmetic of out.dtype; X and Z are the tile's rows as they came, `shift` that of `shift_of`."""

    @abstractmethod
    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        """Return k(x, x) for all rows."""

    sees_values_only: ClassVar[bool] = False
    """Whether rows may come dense or sparse, float32 or float64, as suits the arithmetic; not so for a user's function."""

    def shift_of(self, rows: Matrix, dtype: Any = None) -> Block | None:
        """Return a point near these rows, of this precision, if the kernel does not change where it is subtracted; else None."""
        return None

    def side(self, X: Matrix, dtype: np.dtype[Any], shift: Block | None) -> Any:
        """Return rows as `join` takes them: what can be done once for many tiles is done here. Indexing gives some of them."""
        return tiles.cast(X, dtype) if self.sees_values_only else X

    def join(self, left: Any, right: Any, out: Block) -> bool:
        """Fill one tile from its prepared sides; False, with nothing claimed, where out.dtype is too coarse for it."""
        self._fill(left, right, out, None)
        return bool(np.isfinite(out).all())

    # ------------------------------------------------------------------ what rounding can do to values and their sums

    is_bounded_in_float32: ClassVar[bool] = False
    """Whether float32 values have an error bound of use."""

    is_positive: ClassVar[bool] = False
    """Whether no value is negative."""

    has_differences: ClassVar[bool] = False
    """Whether values can be computed more exactly from differences of rows."""

    has_fine_sums: ClassVar[bool] = False
    """Whether sums can be computed in twice the working precision: `fine_sums`."""

    def fine_sums(self, X: Matrix, Z: Matrix, weights: Floats) -> tuple[Floats, Floats]:
        """Return Σ_j weights_j k(x, z_j) for each row x in twice the working precision, and a bound of the errors."""
        raise NotImplementedError

    def error_weights(self, right: Any, sizes: Floats) -> Floats | None:
        """Return weights such that the sum of |values| with them tells the error; None where the rows' lengths tell it."""
        return sizes

    def error(self, left: Any, right: Any, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """Return a bound of |error of Σ_j A_j k(x, z_j)| for each row x of the left side, over some rows z_j of the right one.

        Here the values are exact by definition, and only the sum rounds.

        Parameters
        ----------
        at : slice
            Which rows z.
        sizes : array
            Upper bounds of the absolute values of A_j.
        total : array or None
            The sum of the absolute values of k(x, z_j), each times its weight of `error_weights`, as computed.
        terms : int
            How many terms are summed in this precision.
        """
        assert total is not None
        return np.asarray(gamma(terms + 4) * total * (1.0 + gamma(terms + 4)) + 4.0 * len(sizes) * SMALLEST)

    def fill_differences(self, X: Matrix, Z: Matrix, out: Block) -> None:
        """Fill a block by differences of rows: for tiles that no precision is fine enough for otherwise."""
        raise InvalidInputError(f"A value of {self!r} is not finite in float64. Scale the data.")

    def difference_error(self, d: int, sizes: float, total: Any, terms: int) -> Any:
        """Return the same bound for `fill_differences`: `sizes` is Σ_j |A_j|, and `total` Σ_j |A_j| k(x, z_j)."""
        raise NotImplementedError

    def _width(self, X: Matrix) -> int:
        """Return how many float64 values one row takes while it is worked on."""
        return tiles.row_width(X)

    def _check_pair(self, X: Matrix, Z: Matrix) -> None:
        """Raise InvalidInputError where rows of X cannot be compared with rows of Z."""
        if X.shape[1] != Z.shape[1]:
            raise InvalidInputError(
                f"X has {X.shape[1]} features, Z has {Z.shape[1]}. Pass rows with the same features in the same order; "
                "a map must give all rows the same number of features."
            )

    def default_dtype(self, X: Matrix, Z: Matrix) -> np.dtype[Any]:
        """Return the arithmetic for data of these dtypes."""
        return FLOAT32 if X.dtype == FLOAT32 and Z.dtype == FLOAT32 else FLOAT64

    def _relative_error(self, X: Matrix) -> float:
        """Return the rounding error of float64 kernel values, relative to the largest of them."""
        return float(np.finfo(np.float64).eps)

    @final
    def require_resolved(self) -> None:
        """Raise InvalidInputError where a parameter is still to be taken from the data."""
        if not self.is_resolved:
            raise InvalidInputError(
                f"{self!r} still depends on the training data. Use kernel.resolve(X_train), or pass gamma as a number."
            )
