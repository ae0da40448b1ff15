"""Inner products of rows, for every mixture of dense and CSR, and the kernels that are functions of them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.parameters import WithGamma, check_degree, check_number
from maxmargin.kernels.tiles import (
    FLOAT64,
    TILE_BYTES,
    TILE_ROWS,
    cast,
    cut,
    dense,
    is_sparse,
    require_finite,
    rows_that_fit,
    squared_norms,
)
from maxmargin.rounding import SMALLEST, UNIT, gamma, sum_above
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
        return fine_power_sums(self._map(X, FLOAT64), self._map(Z, FLOAT64), weights, *self.power)

    def error_weights(self, right: Matrix, sizes: Floats) -> Floats | None:
        """None: the lengths of the rows tell the error."""
        return None

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """See `power_error`."""
        return power_error(self._map(left, FLOAT64), self._map(right[at], FLOAT64), sizes, *self.power, terms)

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shift: Block | None) -> None:
        left, right = self._map(X, out.dtype), self._map(Z, out.dtype)
        self._check_pair(left, right)
        inner_products(left, right, out)
        self._apply(out)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        values = np.empty(X.shape[0], dtype=dtype)
        step = rows_that_fit(self._width(X), TILE_ROWS)
        for start in range(0, len(values), step):
            values[start : start + step] = squared_norms(self._map(cut(X, start, start + step), dtype), dtype)
        self._apply(values)
        return values

    def _map(self, X: Matrix, dtype: np.dtype[Any]) -> Matrix:
        """The rows whose inner products are meant, to be computed with in this dtype: here those of X."""
        return X

    def _apply(self, values: Block) -> None:
        """Replace inner products by values of the kernel."""


@dataclass(frozen=True)
class Linear(OfInnerProduct):
    """k(u, v) = ⟨u, v⟩.

    Use it when features already say enough: text, many features, or when the weights of the features are to be read.

    Notes
    -----
    Positive semi-definite. A block costs one matrix product.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Linear().block(X, X)
    array([[ 5., 11.],
           [11., 25.]])
    """

    @property
    def psd(self) -> bool:
        """True: a Gram matrix is positive semi-definite."""
        return True


class OfAffine(WithGamma, OfInnerProduct):
    """Abstract base of those that are a function of γ⟨u, v⟩ + c₀."""

    coef0: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "coef0", check_number("coef0", self.coef0))

    @property
    def power(self) -> tuple[float, float, int]:
        """γ⟨u, v⟩ + c₀ itself."""
        return float(self.gamma), self.coef0, 1

    def _apply(self, values: Block) -> None:
        require_finite(values, f"An inner product for {self!r}")  # tanh would hide an overflow
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)


@dataclass(frozen=True)
class Polynomial(OfAffine):
    """k(u, v) = (γ⟨u, v⟩ + c₀)^degree.

    Use it when products of up to `degree` features matter. With γ = 1 and c₀ = 1 it is the textbook's (1 + ⟨u, v⟩)^d;
    with c₀ = 0 it is homogeneous.

    Parameters
    ----------
    degree : int, default 3
        A whole number ≥ 0; 0 is the constant 1.
    gamma : "scale", "auto" or float ≥ 0, default "scale"
        "scale" is 1 / (d · variance of X), "auto" is 1 / d: see `resolve`.
    coef0 : float, default 0.0
        The constant c₀. Negative values make a function that is not positive semi-definite in general.

    Notes
    -----
    A block costs one matrix product and about log₂(degree) passes over the result. Values beyond the range of the dtype
    are an error, never infinity: scale the data.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Polynomial
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0).block(X, X)
    array([[ 36., 144.],
           [144., 676.]])
    """

    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", check_degree(self.degree))

    @property
    def psd(self) -> bool:
        """True where the expansion in powers of ⟨u, v⟩ has no negative coefficient (Schoenberg 1942)."""
        if self.coef0 >= 0 or self.degree == 0:
            return True
        return self.gamma == 0.0 and self.degree % 2 == 0

    @property
    def power(self) -> tuple[float, float, int]:
        """The formula itself."""
        return float(self.gamma), self.coef0, self.degree

    def _relative_error(self, X: Matrix) -> float:
        return float(np.finfo(np.float64).eps) * (1 + self.degree)

    def _apply(self, values: Block) -> None:
        """Replace inner products by (γ · values + c₀)^degree, by repeated squaring: the bits of the degree from the left."""
        super()._apply(values)
        if self.degree == 0:
            values[...] = 1.0
            return
        base = values.copy() if self.degree > 2 else values
        for bit in f"{self.degree:b}"[1:]:
            values *= values
            if bit == "1":
                values *= base


@dataclass(frozen=True)
class Sigmoid(OfAffine):
    """k(u, v) = tanh(γ⟨u, v⟩ + c₀).

    It is here for comparison with older work: its Gram matrix is not positive semi-definite in general, so that a
    training problem with it is not convex and a solution is a stationary point at best. Prefer `RBF`.

    Parameters
    ----------
    gamma : "scale", "auto" or float ≥ 0, default "scale"
        "scale" is 1 / (d · variance of X), "auto" is 1 / d: see `resolve`.
    coef0 : float, default 0.0
        The constant c₀.

    Notes
    -----
    A block costs one matrix product and one tanh a value.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Sigmoid
    >>> kernel = Sigmoid(gamma=1.0)
    >>> X = np.array([[0.5], [1.0], [2.0]])
    >>> kernel.block(X, X).round(3)
    array([[0.245, 0.462, 0.762],
           [0.462, 0.762, 0.964],
           [0.762, 0.964, 0.999]])
    >>> print(kernel.is_positive_semidefinite(X))
    Not positive semi-definite: the smallest eigenvalue is -0.264, the tolerance ...
    """

    gamma: float | str = "scale"
    coef0: float = 0.0

    @property
    def psd(self) -> bool:
        """False: tanh has negative Taylor coefficients, so that some data have a negative eigenvalue."""
        return False

    has_fine_sums = False
    """False: tanh has no finer version."""

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """tanh is 1-Lipschitz, so that it errs by no more than its argument does, and by 8u at most; it is at most 1."""
        inner = power_error(left, right[at], sizes, *self.power, 0)
        return np.asarray(inner + gamma(terms + 12) * sum_above(sizes))

    def _apply(self, values: Block) -> None:
        """Replace inner products by tanh(γ · values + c₀)."""
        super()._apply(values)
        np.tanh(values, out=values)


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


@np.errstate(over="ignore", invalid="ignore", under="ignore")
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
    Σ_j sizes_j q_j^degree is a polynomial in γ‖x‖r, r = max ‖z‖, whose coefficients are sums over j; a factor that underflows
    counts as `TINY`, and what overflows is +∞.
    """
    d = max(int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else X.shape[1] for X in (left, right))
    x, z = (np.sqrt(squared_norms(X, FLOAT64).astype(FLOAT64)) * (1.0 + (d + 4) * UNIT) + floor for X in (left, right))
    root, longest = math.sqrt(abs(gamma)), float(z.max(initial=floor))
    reach, shift, total = np.maximum((root * longest) * (root * x), TINY), np.float64(abs(constant)), np.zeros(len(x))
    for k in range(0 if shift else degree, degree + 1):
        moment = float((sizes * np.maximum((z / longest) ** k, TINY)).sum()) * math.comb(degree, k)
        total += moment * max(shift ** (degree - k), TINY) * np.maximum(reach**k, TINY)
    units = degree * (d + 5) + terms + degree + 16
    error = 1.01 * units * UNIT * total + (len(sizes) + 1.0) * TINY * (1.0 + sizes.max(initial=0.0))
    return np.where(np.isnan(error), np.inf, error)


def fine_power_sums(X: Matrix, Z: Matrix, weights: Floats, gamma: float, constant: float, degree: int) -> tuple[Floats, Floats]:
    """Σ_j weights_j (γ⟨x, z_j⟩ + c)^degree for each row x, in twice the working precision, and a bound of the errors.

    Each step of that arithmetic errs by at most 16u² of its terms, where plain arithmetic errs by u.
    """
    from maxmargin._loops.compensated import power_sums

    X, Z = dense(X, FLOAT64), dense(Z, FLOAT64)
    out = np.empty(X.shape[0])
    power_sums(X, Z, np.ascontiguousarray(weights), gamma, constant, degree, out)
    floor = SMALLEST**0.5 / UNIT
    coarse = power_error(X, Z, np.abs(weights), gamma, constant, degree, len(weights), floor)
    error = 64.0 * UNIT * coarse + 4.0 * UNIT * np.abs(out) + len(weights) * TINY
    return np.nan_to_num(out), np.where(np.isfinite(out), error, np.inf)
