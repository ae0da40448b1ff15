"""The geometry of a halfspace: distances, margins, slacks, projections.

    F(x) = ⟨w, x⟩ + b        distance of x to the hyperplane F = 0:  |F(x)| / ‖w‖

Lengths are computed from (w, b) scaled by a power of two such that max|w_k| lies in [½, 1). That is exact, keeps the
sign of F, and neither overflows nor underflows where ‖w‖² would.
"""

import math
import numbers
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from maxmargin.core.products import scores
from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats, Matrix


class FitCase(Enum):
    """Where a sample lies, by its fit u = y·F; each value is its sentence.

    Examples
    --------
    >>> from maxmargin import FitCase, Halfspace
    >>> cases = Halfspace([1.0]).cases([[2.0], [0.5], [-1.0]], [1, 1, 1])
    >>> [case.name for case in cases], cases[0] is FitCase.TARGET
    (['TARGET', 'INSIDE', 'WRONG'], True)
    """

    TARGET = "u ≥ 1: in the target halfspace of its label, with slack 0."
    INSIDE = "0 ≤ u < 1: short of the target, with a slack in (0, 1]."
    WRONG = "u < 0: on the wrong side, with a slack above 1."

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class Halfspace:
    """A halfspace {x : ⟨w, x⟩ + b > 0} and its hyperplane.

    X is dense or CSR, (n, d), y in ±1. Each method reads X once: O(nnz). Everything is computed in float64. Halfspaces
    compare by value; (2w, 2b) is the same set as (w, b) but another halfspace here, since slacks tell them apart.

    Parameters
    ----------
    w : array of shape (d,)
        Normal vector, finite. Kept as a read-only copy. w = 0 has a decision but no distance.
    b : float, default 0
        Bias.

    Examples
    --------
    >>> from maxmargin import Halfspace
    >>> h = Halfspace([3.0, 4.0], b=-5.0)
    >>> X = [[3.0, 4.0], [0.0, 0.0]]
    >>> h.decision(X), h.distance(X)
    (array([20., -5.]), array([ 4., -1.]))
    >>> h.width, h.margin(X, [1, -1])
    (0.2, 1.0)
    >>> h.canonical(X, [1, -1])
    Halfspace(w=[0.6, 0.8], b=-1.0)
    >>> [case.name for case in h.cases(X, [1, 1])], h.target(1).decision(X)
    (['TARGET', 'WRONG'], array([19., -6.]))
    """

    w: Floats
    b: float = 0.0

    def __post_init__(self) -> None:
        try:
            w = np.array(self.w, dtype=np.float64) + 0.0  # a copy; and −0.0 becomes 0.0, so that equals hash alike
        except (TypeError, ValueError):
            w = np.empty(0)
        if w.ndim != 1 or w.size == 0 or not np.isfinite(w).all():
            raise InvalidInputError(
                f"w = {self.w!r} where one finite number per feature is wanted. Use a one-dimensional array, for "
                "example coef_[0] of a linear model."
            )
        b: Any = self.b
        if isinstance(b, bool) or not isinstance(b, numbers.Real) or not math.isfinite(b):
            raise InvalidInputError(
                f"b = {b!r} where a finite number is wanted. Use for example intercept_[0] of a linear model, or 0."
            )
        w.flags.writeable = False
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "b", float(b) + 0.0)

    @property
    def width(self) -> float:
        """1/‖w‖: the distance between the hyperplane F = 0 and the margins F = ±1."""
        _, _, length, exponent = self._scaled("width")
        with np.errstate(over="ignore"):
            return float(np.ldexp(1.0 / length, -exponent))

    def decision(self, X: Matrix) -> Floats:
        """F(x) = ⟨w, x⟩ + b for each row."""
        return _affine(self._rows(X), self.w, self.b)

    def predict(self, X: Matrix) -> Floats:
        """+1 where F > 0, else −1: a point on the hyperplane belongs to the first class, as in the classifiers."""
        return np.where(self.decision(X) > 0.0, 1.0, -1.0)

    def distance(self, X: Matrix) -> Floats:
        """F(x)/‖w‖: the distance to the hyperplane, negative on the side where F < 0."""
        w, b, length, _ = self._scaled("distance")
        return _affine(self._rows(X), w, b) / length

    def margins(self, X: Matrix, y: ArrayLike) -> Floats:
        """y·F(x)/‖w‖: the geometric margin of each sample, negative on the wrong side."""
        distance = self.distance(X)
        return _labels(y, len(distance)) * distance

    def margin(self, X: Matrix, y: ArrayLike) -> float:
        """Smallest of the :meth:`margins`: positive exactly if the halfspace separates the samples."""
        return float(_some(self.margins(X, y)).min())

    def slack(self, X: Matrix, y: ArrayLike) -> Floats:
        """ξ = max(0, 1 − y·F): by how many :attr:`width` a sample falls short of its margin F = y.

        0 on the margin or beyond, 1 on the hyperplane, 3 two widths behind it.
        """
        decision = self.decision(X)
        return np.maximum(0.0, 1.0 - _labels(y, len(decision)) * decision)

    def unsigned_margin(self, X: Matrix) -> float:
        """min |F(x)|/‖w‖: the distance of the closest sample, on whichever side it lies.

        It equals :meth:`margin` exactly if no sample lies on the wrong side.
        """
        return float(_some(np.abs(self.distance(X))).min())

    def fits(self, X: Matrix, y: ArrayLike) -> Floats:
        """u = y·F: the functional margin of each sample. The slack is max(0, 1 − u)."""
        decision = self.decision(X)
        return _labels(y, len(decision)) * decision

    def cases(self, X: Matrix, y: ArrayLike) -> Any:
        """The :class:`FitCase` of each sample, by its :meth:`fits`: target, inside, wrong.

        A sample on the hyperplane, u = 0, is INSIDE, with slack 1, whatever its label; :meth:`predict` gives it −1.
        """
        u = self.fits(X, y)
        cases = np.full(len(u), FitCase.INSIDE, dtype=object)
        cases[u >= 1.0], cases[u < 0.0] = FitCase.TARGET, FitCase.WRONG
        return cases

    def target(self, label: int) -> "Halfspace":
        """The target halfspace of a label: H⁺ = {F ≥ 1} for +1, H⁻ = {F ≤ −1} for −1.

        It is given by its interior, so that F ≥ 0 of the result means inside. All samples lie in their targets exactly if every
        slack is 0.
        """
        sign = float(_labels([label], 1)[0])
        return Halfspace(sign * self.w, sign * self.b - 1.0)

    def project(self, X: Matrix) -> Floats:
        """The nearest point of the hyperplane, x − (F(x)/‖w‖²)·w, for each row; dense, O(n·d) memory."""
        w, b, length, _ = self._scaled("projection")
        X = self._rows(X)
        away = _affine(X, w, b) / (length * length)
        dense = X.toarray() if sp.issparse(X) else X
        return np.asarray(dense - np.outer(away, w), dtype=np.float64)

    def normalized(self) -> "Halfspace":
        """The same set with ‖w‖ = 1, so that F is the signed distance."""
        w, b, length, _ = self._scaled("unit normal")
        return Halfspace(w / length, b / length)

    def canonical(self, X: Matrix, y: ArrayLike) -> "Halfspace":
        """The same set, scaled so that the closest sample has y·F = 1; then :attr:`width` is the margin.

        Raises
        ------
        InvalidInputError
            If a sample lies on the hyperplane or on the wrong side: no scale makes its y·F equal 1.
        """
        w, b, length, _ = self._scaled("canonical form")
        F = _affine(self._rows(X), w, b)
        closest = float(_some(_labels(y, len(F)) * F).min())
        if not closest > 0.0:
            raise InvalidInputError(
                f"The halfspace does not separate the samples: its smallest y·F/‖w‖ is {closest / length:.6g} "
                "where a number > 0 is wanted. Use slack() to see which samples are in the way."
            )
        with np.errstate(over="ignore"):  # an infinite weight is refused by the constructor
            return Halfspace(w / closest, b / closest)

    def _scaled(self, what: str) -> tuple[Floats, float, float, int]:
        """(w, b)·2^−e with max|w| in [½, 1), the norm of that w, and e."""
        largest = float(np.abs(self.w).max())
        if largest == 0.0:
            raise InvalidInputError(
                f"w = 0 has no hyperplane, so there is no {what}. Use a normal vector that is not zero; a model with "
                "w = 0 predicts the same class everywhere."
            )
        exponent = math.frexp(largest)[1]
        w = np.ldexp(self.w, -exponent)
        with np.errstate(over="ignore"):
            b = float(np.ldexp(self.b, -exponent))
        return w, b, math.sqrt(float(w @ w)), exponent

    def _rows(self, X: Matrix) -> Matrix:
        """X as a CSR or dense matrix of floats with d columns."""
        X = X.tocsr() if sp.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.w.size or X.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"X has shape {X.shape} and type {X.dtype} where numbers of shape (n, {self.w.size}) are wanted. One "
                "point is a matrix of one row: x.reshape(1, -1)."
            )
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Halfspace):
            return NotImplemented
        return self.b == other.b and np.array_equal(self.w, other.w)

    def __hash__(self) -> int:
        return hash((self.w.tobytes(), self.b))

    def __reduce__(self) -> tuple[Any, ...]:
        return Halfspace, (self.w, self.b)  # through the constructor, so that the copy is read-only too

    def __repr__(self) -> str:
        w = np.array2string(self.w, separator=", ", threshold=8, edgeitems=3)
        return f"Halfspace(w={w}, b={self.b!r})"


def _affine(X: Matrix, w: Floats, b: float) -> Floats:
    """⟨w, x⟩ + b for each row; refuses what is no number, which only NaN, infinite or enormous entries make."""
    with np.errstate(over="ignore", invalid="ignore"):
        F = scores(X, w) + b
    if not np.isfinite(F).all():
        row = int(np.flatnonzero(~np.isfinite(F))[0])
        raise InvalidInputError(
            f"Row {row} of X gives ⟨w, x⟩ + b = {F[row]} where a finite number is wanted. Look for NaN, infinite or "
            "enormous entries there, and impute or rescale them."
        )
    return F


def _some(values: Floats) -> Floats:
    """Refuse an empty sample, which has no smallest margin."""
    if values.size == 0:
        raise InvalidInputError("X has no rows, so there is no smallest margin. Pass at least one sample.")
    return values


def _labels(y: ArrayLike, n: int) -> Floats:
    """The labels as ±1.0."""
    labels = np.asarray(y)
    if labels.shape != (n,) or labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 1)).all():
        raise InvalidInputError(
            f"y has shape {labels.shape} and values {labels.ravel()[:5]}… where {n} labels -1 or +1 are wanted. "
            "Encode them first, for example np.where(y == positive, 1, -1)."
        )
    return labels.astype(np.float64)
