"""Inner products of rows, for every mixture of dense and CSR."""

import math
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.tiles import FLOAT64, TILE_BYTES, cast, is_sparse, squared_norms
from maxmargin.rounding import SMALLEST, UNIT
from maxmargin.typing import Block, Floats, Matrix

TINY = float(np.finfo(np.float64).tiny)
"""What a value may lose where it underflows."""

DENSE_FRACTION = 1 / 8
"""Share of stored entries above which dense rows are faster: CSR times dense takes 0.17 ns an entry and column, GEMM 0.022 ns."""


class OfInnerProduct(Kernel):
    """Abstract base of the kernels that are a function of ⟨u, v⟩, which no form of the rows changes."""

    @property
    def power(self) -> tuple[float, float, int]:
        """γ, c and the degree such that rounding changes k by no more than it changes (γ⟨u, v⟩ + c)^degree."""
        return 1.0, 0.0, 1

    sees_values_only = has_fine_sums = True
    """True: the inner product does not care; and it, and its powers, can be had in twice the precision."""

    def fine_sums(self, X: Matrix, Z: Matrix, weights: Floats) -> tuple[Floats, Floats]:
        """See `fine_power_sums`."""
        return fine_power_sums(X, Z, weights, *self.power)

    def error_weights(self, right: Matrix, sizes: Floats) -> Floats | None:
        """None: the lengths of the rows tell the error."""
        return None

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """See `power_error`."""
        return power_error(left, right[at], sizes, *self.power, terms)

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shift: Block | None) -> None:
        inner_products(X, Z, out)
        self._apply(out)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        values = squared_norms(X, dtype)
        self._apply(values)
        return values

    def _apply(self, values: Block) -> None:
        """Replace inner products by values of the kernel."""


def inner_products(X: Matrix, Z: Matrix, out: Block) -> None:
    """Fill the tile out with X Zᵀ, in the arithmetic of out.dtype.

    Parameters
    ----------
    X, Z : dense or CSR, shapes (n_x, d) and (n_z, d)
        Tiles of rows; cast here if they are not of out.dtype.
    out : ndarray of shape (n_x, n_z)
        Overwritten.

    Notes
    -----
    Dense times dense is one GEMM, O(n_x n_z d). With CSR rows the cost is O(nnz(X) n_z); where both are sparse Z is
    made dense if that takes at most 8 MB (2 to 4 times faster than a sparse product), otherwise the product is sparse.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty((1, 2))
    >>> inner_products(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]), out)
    >>> out
    array([[11.,  2.]])
    """
    X, Z = cast(X, out.dtype), cast(Z, out.dtype)
    if is_sparse(X) and is_sparse(Z):
        if Z.shape[0] * Z.shape[1] * out.itemsize > TILE_BYTES:
            out[...] = (X @ Z.T).toarray()
            return
        if X.nnz <= DENSE_FRACTION * X.shape[0] * X.shape[1]:
            out[...] = X @ Z.T.toarray(order="C")
            return
        X, Z = X.toarray(), Z.toarray()
    if is_sparse(X):
        out[...] = X @ Z.T
    elif is_sparse(Z):
        out[...] = (Z @ X.T).T
    else:
        if X.ctypes.data == Z.ctypes.data:
            Z = Z.copy()  # NumPy answers A @ A.T by SYRK, whose last bits are not GEMM's
        product(X, Z, out)


def product(X: Block, Z: Block, out: Block) -> None:
    """Fill out with X Zᵀ of dense rows: the same bits whatever the layout of out."""
    if out.strides[1] == out.itemsize:
        np.matmul(X, Z.T, out=out)
    else:
        out[...] = X @ Z.T  # some versions of NumPy turn the product round for an out in Fortran order: other bits


def power_error(
    left: Matrix,
    right: Matrix,
    sizes: Floats,
    gamma: float,
    constant: float,
    degree: int,
    terms: int,
    floor: float = (SMALLEST / UNIT) ** 0.5,
) -> Floats:
    """A bound of |error of Σ_j A_j (γ⟨x, z_j⟩ + c)^degree| for each row x, |A_j| ≤ sizes_j, in float64.

    With q = γ‖x‖‖z‖ + |c|, γ⟨x, z⟩ + c errs by (d + 4)uq and its power by degree · (d + 5)u · q^degree; the sum of `terms`
    terms by terms · u · q^degree more. `floor` is added to each length, so that u‖x‖‖z‖ covers products that underflow.
    Σ_j sizes_j q_j^degree is a polynomial in ‖x‖, whose coefficients are sums over j.
    """
    d = max(int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else X.shape[1] for X in (left, right))
    x, z = (np.sqrt(squared_norms(X, FLOAT64).astype(FLOAT64)) * (1.0 + (d + 4) * UNIT) + floor for X in (left, right))
    total = np.zeros(len(x))
    for k in range(degree + 1):
        moment = float((sizes * (gamma * z) ** k).sum()) * math.comb(degree, k) * abs(constant) ** (degree - k)
        total += moment * x**k if moment else 0.0
    units = degree * (d + 5) + terms + degree + 16
    return np.asarray(1.01 * units * UNIT * total + (len(sizes) + 1.0) * TINY * (1.0 + sizes.max(initial=0.0)))


def fine_power_sums(X: Matrix, Z: Matrix, weights: Floats, gamma: float, constant: float, degree: int) -> tuple[Floats, Floats]:
    """Σ_j weights_j (γ⟨x, z_j⟩ + c)^degree for each row x, in twice the working precision, and a bound of the errors.

    Each step of that arithmetic errs by at most 16u² of its terms, where plain arithmetic errs by u.
    """
    from maxmargin._loops.compensated import power_sums

    X, Z = (np.ascontiguousarray(side.toarray() if is_sparse(side) else side, dtype=FLOAT64) for side in (X, Z))
    out = np.empty(X.shape[0])
    power_sums(X, Z, np.ascontiguousarray(weights), gamma, constant, degree, out)
    floor = SMALLEST**0.5 / UNIT
    coarse = power_error(X, Z, np.abs(weights), gamma, constant, degree, len(weights), floor)
    error = 64.0 * UNIT * coarse + 4.0 * UNIT * np.abs(out) + len(weights) * TINY
    return np.nan_to_num(out), np.where(np.isfinite(out), error, np.inf)
