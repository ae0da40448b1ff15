"""Inner products of rows, for every mixture of dense and CSR."""

import math
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernel_matrix.tiles import FLOAT64, TILE_BYTES, TILE_Z, cast, cut, is_sparse, row_width, rows_that_fit
from maxmargin.rounding import SMALLEST, UNIT
from maxmargin.typing import Block, Floats, Matrix

TINY = float(np.finfo(np.float64).tiny)
# What a value may lose where it underflows.

DENSE_FRACTION = 1 / 8
# CSR times dense costs about 0.17 ns a stored value and column, GEMM 0.022 ns a value: above this fill GEMM wins.


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


def squared_norms(X: Matrix, dtype: np.dtype[Any]) -> Block:
    """Return ‖x_i‖² for all rows, tile by tile, in O(nnz)."""
    if is_sparse(X):
        from maxmargin._loops.linear.csr import squares_csr

        X, sums = distinct(X), np.empty(X.shape[0])
        squares_csr(X.indptr.astype(np.int64, copy=False), X.data, sums)
        return sums.astype(dtype, copy=False)
    out = np.empty(X.shape[0], dtype=dtype)
    step = rows_that_fit(row_width(X), TILE_Z)
    for start in range(0, out.size, step):
        tile = cast(cut(X, start, start + step), dtype)
        np.einsum("ij,ij->i", tile, tile, out=out[start : start + step])
    return out


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


def fine_power_sums(
    X: Matrix, Z: Matrix, weights: Floats, gamma: float, constant: float, degree: int
) -> tuple[Floats, Floats]:
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


def distinct(X: Matrix) -> Matrix:
    """CSR rows in which no column is stored twice: X itself where that is so, else a summed copy."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def require_finite(values: Block, what: str) -> None:
    """Raise InvalidInputError where a computed value is infinite or not a number."""
    # a finite sum has finite terms, and is three times as fast to look at
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise InvalidInputError(
            f"{what} is not finite in {values.dtype}: the data hold NaN or infinity, or values too large for it. "
            "Replace missing values, scale the data (e.g. to mean 0 and variance 1), or choose smaller parameters."
        )
