"""The radial basis function, or Gaussian, kernel."""

import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.kernel_matrix.centre import SHIFT_ROWS, Centre, centre_of, mean_of, shifted
from maxmargin.kernel_matrix.compiled import CompiledRows
from maxmargin.kernel_matrix.packed import PackedRows
from maxmargin.kernel_matrix.tiles import EPS32, FLOAT32, FLOAT64, cast, cut, is_sparse, row_width
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import distinct, inner_products, product, require_finite, squared_norms
from maxmargin.kernels.parameters import check_gamma, resolve_gamma
from maxmargin.rounding import UNIT, UNIT32, sum_above
from maxmargin.typing import Block, Floats, Indices, Matrix

MAX_EXPONENT_ERROR = UNIT**0.5
# Bound of the error of an exponent from norms in float64, beyond which differences of rows are used: half of the digits.

LINEAR_RANGE = 0.05
# Errors of an exponent up to here change a value by at most 1.03 times as much; larger ones have no bound here.

EXP_ERROR = 8
# Error of exp in unit roundoffs: 4 units of the last place (tests look at every float32, and at many float64).

MAX_FLOAT32_ERROR = 1e-5
# float32 is used while ε₃₂ · γ · max‖x − μ‖², the size of the error of the exponent and so of the relative error of k, is below
# this.

MAX_FLOAT32_GAMMA = 1e30
# Beyond it a product that underflows in float32 (below 1e-45) could matter.

FEW_FEATURES = 32
# With more features than this, matrix products are faster even for a few rows.

CHUNK_ROWS = 64
# Rows of a tile between clipping and exp: 64 × 2048 values are still in the fast cache.


@dataclass(frozen=True)
class RBF(Kernel):
    """k(u, v) = exp(−γ‖u − v‖²).

    Use it first when the data are not linearly separable and features are few to some hundreds; scale them before.

    Parameters
    ----------
    gamma : "scale", "auto" or float ≥ 0, default "scale"
        "scale" is 1 / (d · variance of X), "auto" is 1 / d: see `resolve`.

    Notes
    -----
    Positive semi-definite. A block costs one matrix product and one exp a value: −γ‖u − v‖² is the product of the rows
    [2γu, −γ‖u‖², 1] and [v, 1, −γ‖v‖²], clipped at 0. Solvers and predictions shift dense data so that most entries are 0
    where that is possible (one-hot columns, counts, pictures), and then a value costs only the entries that are left:
    `maxmargin.kernel_matrix.centre`, `maxmargin.kernel_matrix.packed`.

    Precision: dense rows are first shifted by a common μ near the mean of Z, which the kernel does not see; CSR rows
    cannot be (μ = 0). The exponent then errs by about ε · γ · max‖x − μ‖². Where that exceeds 1e-5 in float32, a tile
    is computed in float64 and rounded to float32 at the end.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]])
    >>> RBF(gamma=1.0).block(X, X).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> RBF().resolve(X)
    RBF(gamma=4.0)
    """

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_gamma(self.gamma))

    @property
    def psd(self) -> bool:
        """True: the Fourier transform of a Gaussian is positive (Bochner)."""
        return True

    @property
    def constant_length(self) -> float:
        """1: every x lies on the unit sphere of the feature space."""
        return 1.0

    @property
    def is_resolved(self) -> bool:
        """Whether gamma is a number."""
        return not isinstance(self.gamma, str)

    def resolve(self, X: Matrix, sample_weight: Any = None) -> "RBF":
        """Return the same kernel with gamma as a number.

        Parameters
        ----------
        X : dense or CSR of shape (n, d)
            The training data.
        sample_weight : array of shape (n,), optional
            Rows count with their weight, so that weight k is k copies. Without weights "scale" is scikit-learn's.
        """
        return replace(self, gamma=resolve_gamma(self.gamma, X, sample_weight))

    def _prepare(self, X: Matrix, Z: Matrix) -> Centre | None:
        """Return the common shift of dense rows, None where a side is sparse."""
        return None if is_sparse(X) or is_sparse(Z) else Centre(mean_of(Z, np.result_type(X.dtype, Z.dtype)))

    def shared_by(self, rows: Matrix) -> Centre | None:
        """Return the common shift, and whether zeros are left out."""
        return None if is_sparse(rows) or not rows.shape[0] else centre_of(rows, float(self.gamma))

    @property
    def sees_values_only(self) -> bool:
        """True: the distance does not care."""
        return True

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shared: Any) -> None:
        if self.join(*self._sides(X, Z, out.dtype, shared), out, shared):
            return
        wide = np.empty(out.shape)  # out.dtype would be too coarse
        if out.dtype == FLOAT64 or not self.join(*self._sides(X, Z, FLOAT64, shared), wide, shared):
            self.fill_differences(X, Z, wide)
        out[...] = wide

    def _sides(self, X: Matrix, Z: Matrix, dtype: np.dtype[Any], shared: Any) -> tuple["AnySide", "AnySide"]:
        return self.side(X, dtype, shared, is_right=False), self.side(Z, dtype, shared, is_right=True)

    def side(self, X: Matrix, dtype: np.dtype[Any], shared: Any, *, is_right: bool) -> "AnySide":
        """Return the rows, those of a dense side shifted and with the two columns that make one product of it all."""
        gamma = float(self.gamma)
        if shared is None:
            return Side(cast(X, dtype), gamma * squared_norms(X, FLOAT64).astype(FLOAT64, copy=False))
        if shared.is_packed:
            return PackedRows.of(X, shared, gamma, dtype)
        rows = shifted(X, shared.shift, dtype, spare=2)
        squares = gamma * np.einsum("ij,ij->i", rows[:, :-2], rows[:, :-2], dtype=FLOAT64)
        if is_right:
            rows[:, -2], rows[:, -1] = 1, -squares
        else:
            rows[:, :-2] *= 2 * gamma
            rows[:, -2], rows[:, -1] = -squares, 1
        return Side(rows, squares)

    def part(self, side: "AnySide", rows: Any) -> "AnySide":
        """Return some rows of a side."""
        if isinstance(side, PackedRows):
            return side.part(rows)
        return Side(side.rows[rows], side.squares[rows])

    def ready(self, right: "AnySide") -> "AnySide":
        """Lay the rows out as columns."""
        if isinstance(right, PackedRows):
            _ = right.padded
        return right

    def turned(self, right: "AnySide") -> "AnySide":
        """Return the left side of the rows of a right one."""
        if isinstance(right, PackedRows):
            return right.together()
        if is_sparse(right.rows):
            return right
        rows = right.rows.copy()
        rows[:, :-2] *= 2 * float(self.gamma)
        rows[:, -2], rows[:, -1] = right.rows[:, -1], 1
        return Side(rows, right.squares)

    def join(self, left: "AnySide", right: "AnySide", out: Block, shared: Any) -> bool:
        """Fill one tile from its prepared sides; False where float32 is too coarse for it."""
        if not self._suits(out.dtype, left, right):
            return False
        if isinstance(left, PackedRows) and isinstance(right, PackedRows):
            left.fill(right, out)
            return True
        assert isinstance(left, Side)
        assert isinstance(right, Side)
        if shared is None:
            inner_products(left.rows, right.rows, out)
            out *= 2 * float(self.gamma)
            out -= left.squares[:, np.newaxis]
            out -= right.squares
        else:
            product(left.rows, right.rows, out)
        _exp(out)
        return True

    def add_values(
        self,
        left: "AnySide",
        right: "AnySide",
        weights: Block,
        out: Floats,
        store: Block,
        slots: Indices,
        begin: int,
    ) -> bool:
        """Add weights @ values by one compiled loop, where zeros are left out."""
        if isinstance(left, PackedRows) and isinstance(right, PackedRows) and self._suits(weights.dtype, left, right):
            left.add(right, weights, out, store, slots, begin)
            return True
        return False

    def sum_values(self, left: "AnySide", right: "AnySide", weights: Block, out: Floats) -> bool:
        """Add weights @ valuesᵀ by one compiled loop, where zeros are left out."""
        if isinstance(left, PackedRows) and isinstance(right, PackedRows) and self._suits(weights.dtype, left, right):
            left.sums(right, weights, out)
            return True
        return False

    def sum_both_ways(
        self, left: "AnySide", right: "AnySide", weights: Floats, their_weights: Floats
    ) -> tuple[Floats, Floats] | None:
        """Return both sums by one compiled loop, where zeros are left out."""
        if isinstance(left, PackedRows) and isinstance(right, PackedRows) and self._suits(FLOAT64, left, right):
            return left.sums_both_ways(right, weights, their_weights)
        return None

    def _suits(self, dtype: np.dtype[Any], *sides: "AnySide") -> bool:
        """Whether a precision is fine enough; an error where a norm is not finite."""
        gamma = float(self.gamma)
        if dtype == FLOAT32 and not gamma <= MAX_FLOAT32_GAMMA:
            return False
        if dtype == FLOAT32 and not all(EPS32 * side.largest <= MAX_FLOAT32_ERROR for side in sides):
            return False
        for side in sides:
            if not math.isfinite(side.largest):
                require_finite(side.squares, f"A squared norm for {self!r}")
        if dtype == FLOAT32:
            return True
        if not math.isfinite(2.0 * gamma):
            return False
        largest = 2 * sum(side.largest for side in sides)
        return bool(_exponent_error(max(side.terms for side in sides), dtype) * largest <= MAX_EXPONENT_ERROR)

    def compiled(self, right: "AnySide", size: int) -> CompiledRows | None:
        """Return √(2γ)(x − μ) as columns and γ‖x − μ‖² of dense rows that suit their precision."""
        if not np.isfinite(right.squares).all() or not self._suits(right.dtype, right):
            return None
        if isinstance(right, PackedRows):
            return right.compiled(size)
        if is_sparse(right.rows):
            return None
        return CompiledRows.of(math.sqrt(2 * float(self.gamma)), right.rows[:, :-2], right.squares, size)

    def few_sums(self, X: Matrix, Z: Matrix, weights: Floats) -> Floats | None:
        """Return Σ_j weights_j k(x, z_j) of dense rows with few features, by differences."""
        if not _is_compiled() or is_sparse(X) or is_sparse(Z) or not 0 < X.shape[1] <= FEW_FEATURES:
            return None
        from maxmargin._loops.rbf.differences import rbf_sums

        out = np.empty(X.shape[0])
        rbf_sums(_plain(X), _plain(Z), _plain(weights), float(self.gamma), out)
        require_finite(out, f"A sum of values of {self!r}")
        return out

    @property
    def is_bounded_in_float32(self) -> bool:
        """True: values are at most 1."""
        return True

    @property
    def is_positive(self) -> bool:
        """True: an exponential."""
        return True

    @property
    def has_differences(self) -> bool:
        """True: the distance is one of differences."""
        return True

    def error_weights(self, right: "AnySide", sizes: Floats) -> Floats | None:
        """|A|(1 + a'/κ) with a' = γ‖z − μ‖²: so few far rows do not spoil the bound of all others; None in float64."""
        if right.dtype == FLOAT64:
            return None
        weights: Floats = sizes * (1.0 + right.squares / self._kappa(right))
        return weights

    def error(
        self, left: "AnySide", right: "AnySide", at: slice, sizes: Floats, total: Floats | None, terms: int
    ) -> Floats:
        """From |error of k| ≤ k(2c₁(a + a') + c₂): as Σ_j |A_j|(1 + a'_j/κ)k_j = total, at most total · max(2c₁a + c₂, 2c₁κ).

        In float64 k ≤ 1 is enough: Σ_j |A_j|(2c₁(a + a'_j) + c₂). c₁ bounds the error of the exponent, divided by
        γ(‖x − μ‖ + ‖z − μ‖)² ≤ 2(a + a'); c₂ is what exp and the sum round. The factor 1.1 covers what is of second order
        (e^δ ≤ 1 + 1.03δ), and the rounding of the bound itself.
        """
        unit = _unit(right.dtype)
        slope = 2.0 * _exponent_error(max(left.terms, right.terms), right.dtype)
        constant, lost = (EXP_ERROR + terms + 6) * unit, 2e-38 if right.dtype == FLOAT32 else 1e-307
        farthest = float(right.squares[at].max(initial=0.0))
        if total is None:
            bound = 1.1 * (
                sum_above(sizes) * (slope * left.squares + constant) + slope * sum_above(sizes * right.squares[at])
            )
        else:
            bound = 1.1 * total * np.maximum(slope * left.squares + constant, slope * self._kappa(right))
        bound += lost * (1.1 * sum_above(sizes) + len(sizes))  # values that vanished, and coefficients
        return np.where(slope * (left.squares + farthest) <= LINEAR_RANGE, bound, np.inf)

    def _kappa(self, right: "AnySide") -> float:
        """κ of the bound: any number > 0 is right, and this one makes it tight for rows like most."""
        return right.typical + (EXP_ERROR + 134) / (2.0 * right.terms)

    def fill_differences(self, X: Matrix, Z: Matrix, out: Block) -> None:
        """Fill a block by differences of the rows as they came, in float64; O(d) a value."""
        if _is_compiled() and is_sparse(X) and is_sparse(Z):
            from maxmargin._loops.rbf.differences import rbf_values_csr

            (X, Z), values = (_sorted(side) for side in (X, Z)), np.empty(out.shape)
            rbf_values_csr(X.indptr, X.indices, X.data, Z.indptr, Z.indices, Z.data, float(self.gamma), values)
            out[...] = values
            require_finite(out, f"A value of {self!r}")
            return
        X, Z = (np.ascontiguousarray(side.toarray() if is_sparse(side) else side, dtype=FLOAT64) for side in (X, Z))
        if _is_compiled():
            from maxmargin._loops.rbf.differences import rbf_values

            rbf_values(X, Z, float(self.gamma), out)
        else:
            for i, x in enumerate(X):
                out[i] = np.exp(-float(self.gamma) * np.square(x - Z).sum(axis=1))
        require_finite(out, f"A value of {self!r}")

    def difference_error(self, d: int, sizes: float, total: Any, terms: int) -> Any:
        """The exponent errs by (d + 4)u times itself, and t·e⁻ᵗ < 0.37; exp and the sum round."""
        return 1.1 * (UNIT * (0.41 * (d + 4) * sizes + (EXP_ERROR + terms + 6) * total) + 1e-307 * sizes)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        return np.ones(X.shape[0], dtype=dtype)

    def _relative_error(self, X: Matrix) -> float:
        centre = self._prepare(X, X)
        farthest = 0.0
        for start in range(0, X.shape[0], SHIFT_ROWS):
            rows = cut(X, start, start + SHIFT_ROWS)
            rows = rows if centre is None else rows - centre.shift
            farthest = max(farthest, float(squared_norms(rows, FLOAT64).max()))
        return float(np.finfo(np.float64).eps) * (1 + float(self.gamma) * farthest)


def _sorted(X: Matrix) -> Matrix:
    """CSR rows whose columns rise, each stored once: X itself where that is so."""
    X = distinct(X)
    return X if X.has_sorted_indices else X.sorted_indices()


def _unit(dtype: np.dtype[Any]) -> float:
    return UNIT32 if dtype == FLOAT32 else UNIT


def _exponent_error(terms: int, dtype: np.dtype[Any]) -> float:
    """c₁ ≥ |error of the exponent| / γ(‖x − μ‖ + ‖z − μ‖)², for sums of so many products.

    The sum rounds `terms` times, and so does each norm in float64 (in float32 they are float64's, rounded once); shifting,
    scaling by √(2γ) or 2γ and conversion round each entry up to 4 times.
    """
    return (terms + 14) * UNIT32 if dtype == FLOAT32 else (2 * terms + 14) * UNIT


@dataclass(frozen=True)
class Side:
    """Rows of one side of a tile, ready for the product, and their γ‖x − μ‖²."""

    rows: Matrix
    squares: Floats

    @cached_property
    def largest(self) -> float:
        """The largest of the squares; NaN where one of them is."""
        return float(self.squares.max(initial=0.0))

    @cached_property
    def typical(self) -> float:
        """The median of the squares."""
        return float(np.median(self.squares)) if len(self.squares) else 0.0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the rows."""
        dtype: np.dtype[Any] = self.rows.dtype
        return dtype

    @property
    def terms(self) -> int:
        """How many products are summed at most."""
        return row_width(self.rows) // 2 if is_sparse(self.rows) else int(self.rows.shape[1])


AnySide = Side | PackedRows


def _plain(array: Any) -> Floats:
    """Return a float64 array of the one layout that loops are compiled for: contiguous and writable."""
    return np.require(array, FLOAT64, ["C", "W", "A"])


def _is_compiled() -> bool:
    return os.environ.get("MAXMARGIN_JIT", "1") != "0"


def _exp(values: Block) -> None:
    """Replace exponents by exp(min(values, 0)), some rows at a time."""
    if _is_compiled():
        from maxmargin._loops.rbf.exponential import exp32, exp64

        compiled = exp32 if values.dtype == FLOAT32 else exp64
        if values.flags.c_contiguous:
            compiled(values)
            return
        for start in range(0, values.shape[0], CHUNK_ROWS):  # only contiguous values are worked on in vectors
            chunk = np.ascontiguousarray(values[start : start + CHUNK_ROWS])
            compiled(chunk)
            values[start : start + CHUNK_ROWS] = chunk
        return
    for start in range(0, values.shape[0], CHUNK_ROWS):
        chunk = values[start : start + CHUNK_ROWS]
        np.minimum(chunk, 0, out=chunk)
        np.exp(chunk, out=chunk)
