"""The radial basis function, or Gaussian, kernel."""

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from maxmargin.kernels import tiles
from maxmargin.kernels.inner import inner_products
from maxmargin.kernels.parameters import WithGamma
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, is_sparse, require_finite
from maxmargin.rounding import UNIT, UNIT32, sum_above
from maxmargin.typing import Block, Floats, Matrix

MAX_EXPONENT_ERROR = math.sqrt(UNIT)
"""Bound of the error of an exponent from norms in float64, beyond which differences of rows are used: half of the digits."""

LINEAR_RANGE = 0.05
"""Errors of an exponent up to here change a value by at most 1.03 times as much (e^δ ≤ 1 + 1.03δ); larger ones have no bound."""

EXP_ERROR = 8
"""Error of exp in unit roundoffs: 4 units of the last place (tests look at every float32, and at many float64)."""

MAX_FLOAT32_ERROR = 1e-5
"""Largest ε₃₂ · γ · max‖x − μ‖², the size of the error of an exponent, for which float32 is used."""


@dataclass(frozen=True)
class RBF(WithGamma):
    """k(u, v) = exp(−γ‖u − v‖²).

    Use it first when the data are not linearly separable and features are few to some hundreds; scale them before.

    Parameters
    ----------
    gamma : "scale", "auto" or float ≥ 0, default "scale"
        "scale" is 1 / (d · variance of X), "auto" is 1 / d: see `resolve`.

    Notes
    -----
    Positive semi-definite. A block costs one matrix product and one exp a value: with rows scaled by √(2γ) the exponent is
    ⟨u, v⟩ − ½‖u‖² − ½‖v‖², clipped at 0. Solvers and predictions shift dense data so that most entries are 0 where that is
    possible (one-hot columns, counts, pictures), and then a value costs only the entries that are left:
    `maxmargin.kernel_matrix.tiles`.

    Precision: dense rows are first shifted by a common μ near the mean of Z, which the kernel does not see; CSR rows
    cannot be (μ = 0). The exponent then errs by about ε · γ · max‖x − μ‖². Where that exceeds 1e-5 in float32, a tile
    is computed in float64 and rounded to float32 at the end.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import RBF
    >>> X = np.array([[0.0], [1.0]])
    >>> RBF(gamma=1.0).block(X, X).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> RBF().resolve(X)
    RBF(gamma=4.0)
    """

    gamma: float | str = "scale"

    @property
    def psd(self) -> bool:
        """True: the Fourier transform of a Gaussian is positive (Bochner)."""
        return True

    constant_length = 1.0
    """1: every x lies on the unit sphere of the feature space."""

    sees_values_only = is_bounded_in_float32 = is_positive = has_differences = True
    """True: a distance of differences, and its exponential, between 0 and 1."""

    def shift_of(self, rows: Matrix, dtype: Any = None) -> Block | None:
        """Return the mean of some evenly spaced dense rows, of their own precision; None for sparse ones."""
        if is_sparse(rows) or not rows.shape[0]:
            return None
        mean: Floats = tiles.some_rows(rows).mean(axis=0, dtype=FLOAT64)
        return mean.astype(np.result_type(rows.dtype if dtype is None else dtype, FLOAT32))

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shift: Block | None) -> None:
        if self.join(self.side(X, out.dtype, shift), self.side(Z, out.dtype, shift), out):
            return
        wide = np.empty(out.shape)  # out.dtype would be too coarse
        is_single = out.dtype == FLOAT32
        if not (is_single and self.join(self.side(X, FLOAT64, shift), self.side(Z, FLOAT64, shift), wide)):
            self.fill_differences(X, Z, wide)
        out[...] = wide

    def side(self, X: Matrix, dtype: np.dtype[Any], shift: Block | None) -> "Side":
        """Return √(2γ)(x − μ) of the rows, and half of its squared length; sparse rows are not shifted."""
        if is_sparse(X):
            X = tiles.distinct(X)
            values = (X.data * np.float64(self.scale)).astype(dtype, copy=False)
            rows = type(X)((values, X.indices, X.indptr), shape=X.shape)
            rows.has_canonical_format = True
            return Side(np.asarray(0.5 * tiles.squared_norms(rows, FLOAT64), dtype=FLOAT64), rows)
        # small differences times a large factor would lose digits in float32 where they underflow
        rows = np.empty(X.shape, dtype=FLOAT64 if self.scale > 1.0 else dtype)
        np.subtract(X, 0.0 if shift is None else shift, out=rows, dtype=FLOAT64, casting="same_kind")
        rows *= rows.dtype.type(self.scale)
        rows = rows.astype(dtype, copy=False)
        return Side(0.5 * np.einsum("ij,ij->i", rows, rows, dtype=FLOAT64), rows)

    @property
    def scale(self) -> float:
        """√(2γ), which is finite for every γ."""
        return math.sqrt(2.0) * math.sqrt(float(self.gamma))

    def join(self, left: "Side", right: "Side", out: Block) -> bool:
        """Fill one tile from its prepared sides; False where its precision is too coarse."""
        if not self.suits(out.dtype, left, right):
            return False
        values = out if out.flags.c_contiguous else np.empty(out.shape, dtype=out.dtype)
        left.fill(right, values)
        if values is not out:
            out[...] = values
        return True

    def suits(self, dtype: np.dtype[Any], *sides: "Side") -> bool:
        """Whether a precision is fine enough; an error where a norm is not finite."""
        if dtype == FLOAT32:
            return all(tiles.EPS32 * side.largest <= MAX_FLOAT32_ERROR for side in sides)
        for side in sides:
            if not math.isfinite(side.largest):
                require_finite(side.squares, f"A squared norm for {self!r}")
        largest = 2 * sum(side.largest for side in sides)
        return bool(_exponent_error(max(side.terms for side in sides), dtype) * largest <= MAX_EXPONENT_ERROR)

    def error_weights(self, right: "Side", sizes: Floats) -> Floats | None:
        """|A|(1 + a'/κ) with a' = γ‖z − μ‖²: so few far rows do not spoil the bound of all others; None in float64."""
        if right.dtype == FLOAT64:
            return None
        weights: Floats = sizes * (1.0 + right.squares / self._kappa(right))
        return weights

    def error(self, left: "Side", right: "Side", at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """From |error of k| ≤ k(2c₁(a + a') + c₂): as Σ_j |A_j|(1 + a'_j/κ)k_j = total, at most total · max(2c₁a + c₂, 2c₁κ).

        In float64 k ≤ 1 is enough: Σ_j |A_j|(2c₁(a + a'_j) + c₂). c₁ bounds the error of the exponent, divided by
        γ(‖x − μ‖ + ‖z − μ‖)² ≤ 2(a + a'); c₂ is what exp and the sum round. The factor 1.1 covers what is of second order
        (e^δ ≤ 1 + 1.03δ), and the rounding of the bound itself.
        """
        unit = UNIT32 if right.dtype == FLOAT32 else UNIT
        slope = 2.0 * _exponent_error(max(left.terms, right.terms), right.dtype)
        constant, lost = (EXP_ERROR + terms + 6) * unit, 2e-38 if right.dtype == FLOAT32 else 1e-307
        farthest = float(right.squares[at].max(initial=0.0))
        if total is None:
            bound = 1.1 * (sum_above(sizes) * (slope * left.squares + constant) + slope * sum_above(sizes * right.squares[at]))
        else:
            bound = 1.1 * total * np.maximum(slope * left.squares + constant, slope * self._kappa(right))
        bound += lost * (1.1 * sum_above(sizes) + len(sizes))  # values that vanished, and coefficients
        return np.where(slope * (left.squares + farthest) <= LINEAR_RANGE, bound, np.inf)

    def _kappa(self, right: "Side") -> float:
        """κ of the bound: any number > 0 is right, and this one makes it tight for rows like most."""
        return float(right.typical + (EXP_ERROR + 134) / (2.0 * right.terms))

    def fill_differences(self, X: Matrix, Z: Matrix, out: Block) -> None:
        """Fill a block by differences of the rows as they came, in float64; O(d) a value, or O(entries) of sparse rows."""
        if not is_compiled():
            others = tiles.dense(Z, FLOAT64)
            for i, x in enumerate(tiles.dense(X, FLOAT64)):
                out[i] = np.exp(-float(self.gamma) * np.square(x - others).sum(axis=1))
        else:
            from maxmargin._loops.rbf.differences import rbf_values, rbf_values_csr

            if is_sparse(X) and is_sparse(Z):
                X, Z = _sorted(X), _sorted(Z)
                rbf_values_csr(X.indptr, X.indices, X.data, Z.indptr, Z.indices, Z.data, float(self.gamma), out)
            else:
                rbf_values(tiles.dense(X, FLOAT64), tiles.dense(Z, FLOAT64), float(self.gamma), out)
        require_finite(out, f"A value of {self!r}")

    def difference_error(self, d: int, sizes: float, total: Any, terms: int) -> Any:
        """The exponent errs by (d + 4)u times itself, and t·e⁻ᵗ < 0.37; exp and the sum round."""
        return 1.1 * (UNIT * (0.41 * (d + 4) * sizes + (EXP_ERROR + terms + 6) * total) + 1e-307 * sizes)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        return np.ones(X.shape[0], dtype=dtype)

    def _relative_error(self, X: Matrix) -> float:
        return float(np.finfo(np.float64).eps) * (1 + self.side(X, FLOAT64, self.shift_of(X)).largest)


def _sorted(X: Matrix) -> Matrix:
    """CSR rows whose columns rise, each stored once: X itself where that is so."""
    X = tiles.distinct(X)
    return X if X.has_sorted_indices else X.sorted_indices()


def _exponent_error(terms: int, dtype: np.dtype[Any]) -> float:
    """c₁ ≥ |error of the exponent| / γ(‖x − μ‖ + ‖z − μ‖)², for sums of so many products.

    With a = √(2γ)(x − μ) and b, 2γ(‖x − μ‖ + ‖z − μ‖)² = (‖a‖ + ‖b‖)²: the product errs by at most terms/4 u of that, the norms
    in float64 by terms/2 u (in float32 they are float64's, rounded once), entries that err by 5u by 5u. Shifting,
    scaling by √(2γ) and conversion round each entry up to 5 times in float64, 3 times in float32.
    """
    return (terms + 14) * UNIT32 if dtype == FLOAT32 else (2 * terms + 14) * UNIT


@dataclass(frozen=True)
class Side:
    """u = √(2γ)(x − μ) of some rows x, dense or CSR; `squares` are their ½‖u‖² = γ‖x − μ‖²."""

    squares: Floats
    rows: Matrix

    def __getitem__(self, at: Any) -> Self:
        return type(self)(self.squares[at], self.rows[at])

    @cached_property
    def largest(self) -> float:
        """The largest of the squares; NaN where one of them is."""
        return float(self.squares.max(initial=0.0))

    @cached_property
    def typical(self) -> float:
        """The median of the squares."""
        return float(np.median(self.squares)) if len(self.squares) else 0.0

    @property
    def dtype(self) -> Any:
        """The precision of u."""
        return self.rows.dtype

    @cached_property
    def terms(self) -> int:
        """How many products an exponent sums at most, and the two squares."""
        return tiles.row_width(self.rows) // (2 if is_sparse(self.rows) else 1) + 2

    @cached_property
    def own(self) -> Block:
        """The squares in the precision of u."""
        return self.squares.astype(self.dtype)

    def fill(self, right: "Side", out: Block) -> None:
        """exp(⟨u, v⟩ − ½‖u‖² − ½‖v‖²), clipped at 1, for these rows u and those v of the right side."""
        inner_products(self.rows, right.rows, out)
        if is_compiled():
            from maxmargin._loops.rbf.exponential import exponentiate_less

            exponentiate_less(out, self.own, right.own)
            return
        out -= self.own[:, np.newaxis]
        out -= right.own
        np.minimum(out, 0, out=out)
        np.exp(out, out=out)


def is_compiled() -> bool:
    """Whether loops run as compiled code: plain Python would be too slow for every value."""
    return os.environ.get("MAXMARGIN_JIT", "1") != "0"
