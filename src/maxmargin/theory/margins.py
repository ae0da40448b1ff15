"""Margin, radius and dimension: the numbers that the sample-complexity theorems are about, measured on data.

(γ, ρ)-margin     some unit w (and b) has y(⟨w, x⟩ + b) ≥ γ, and ‖x‖ ≤ ρ, on every sample
ρ²B² against d    what the error of the soft margin and of plain ERM depend on: √(8ρ²B²/m) and the rate √(d/m)
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Halfspace, Loss, loss_from_name, products
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.svc import HardMarginSVC
from maxmargin.rounding import UNIT, shown_above, shown_below
from maxmargin.typing import Floats


@dataclass(frozen=True, eq=False)
class DataMargin:
    """The largest γ and the smallest ρ with which samples are (γ, ρ)-separable, γ within proved bounds.

    Attributes
    ----------
    gamma, gamma_above : float
        A margin that is attained, and one that no hyperplane exceeds.
    rho : float
        max_j ‖φ(x_j)‖, up to rounding.
    w, b
        The hyperplane that attains `gamma`; for a kernel w holds the coefficients of Σ w_jφ(x_j).

    Examples
    --------
    >>> from maxmargin import theory
    >>> found = theory.data_margin([[-1.0], [3.0]], [-1, 1], homogeneous=True)
    >>> round(found.gamma, 9), found.gamma <= found.gamma_above, round(found.ratio2, 6)
    (1.0, True, 9.0)
    """

    gamma: float
    gamma_above: float
    rho: float
    w: Floats
    b: float

    @property
    def ratio2(self) -> float:
        """(ρ/γ)²: on homogeneous data the perceptron's largest number of updates, and what the sample complexity grows with."""
        return (self.rho / self.gamma) ** 2

    def has(self, gamma: float, rho: float) -> bool | None:
        """Whether the samples are separable with a (γ, ρ)-margin; None where the bounds are too far apart to tell."""
        slip = 1e-12 * self.rho  # of the norms, which are sums of squares
        if gamma > self.gamma_above or rho < self.rho - slip:
            return False
        return True if gamma <= self.gamma and rho >= self.rho + slip else None

    def __str__(self) -> str:
        low, high = shown_below(self.gamma, 6), shown_above(self.gamma_above, 6)
        size = f"ρ = {self.rho:.6g}, (ρ/γ)² = {self.ratio2:.6g}"
        return f"Separable with the margin γ = {low}; the margin is at most {high}. {size}."


def data_margin(X: Any, y: Any, *, homogeneous: bool = False, kernel: Any = "linear", tol: float = 1e-9) -> DataMargin:
    """Measure the (γ, ρ)-margin of a data set, by the hard margin and its certificate: γ = 1/‖w‖ ≤ 1/√(2D).

    Raises `NotSeparableError`, with its witness, if there is none. Cost: that of `HardMarginSVC.fit`.

    Parameters
    ----------
    X, y
        Samples and labels of two classes.
    homogeneous : bool
        Only hyperplanes through the origin, as the theorems want.
    kernel
        As in `HardMarginSVC`.
    tol : float
        The relative gap.

    Examples
    --------
    >>> from maxmargin import theory
    >>> found = theory.data_margin([[3.0, 4.0], [-3.0, 0.0]], [1, -1])
    >>> round(found.gamma, 6), found.rho, found.has(3.0, 5.1), found.has(4.0, 5.1), found.has(3.0, 4.9)
    (3.605551, 5.0, True, False, False)
    """
    model = HardMarginSVC(fit_intercept=not homogeneous, kernel=kernel, tol=tol).fit(X, y)
    problem, candidate = stored_problems(model, X, y).problems[0]
    certificate = model.certificate_
    above = 1.0 / math.sqrt(2.0 * certificate.dual) * (1.0 + 8.0 * UNIT) if certificate.dual > 0 else math.inf
    rho = math.sqrt(max(float(problem.diag().max()), 0.0))
    return DataMargin(certificate.margin, above, rho, candidate.w, float(candidate.b))


@dataclass(frozen=True)
class Capacity:
    """ρ²B² against d for one hyperplane and its data; both of samples with a constant feature where there is a bias.

    A free bias b is the weight b/s of a constant feature s. The s with the smallest product is taken: ρ²B² = (ρ‖w‖ + |b|)².

    Attributes
    ----------
    rho2, norm2 : float
        max‖x‖² and ‖w‖², without the constant feature.
    b : float
    product : float
        ρ²B².
    d : int
        The features that occur in the data, and the constant one.
    """

    rho2: float
    norm2: float
    b: float
    product: float
    d: int

    @property
    def dimension_wins(self) -> bool:
        """Whether d < ρ²B²: the rate √(d/m) is then below √(ρ²B²/m)."""
        return self.d < self.product

    def __str__(self) -> str:
        smaller = "d is smaller" if self.dimension_wins else "ρ²B² is smaller"
        return (
            f"ρ²B² = {self.product:.4g} (ρ² = {self.rho2:.4g}, B² = {self.norm2:.4g}, b = {self.b:.4g}), d = {self.d}: {smaller}."
        )


def capacity(model: Any, X: Any) -> Capacity:
    """Measure ρ²B² and d for a linear model on its data: section 15.2.2 with numbers in place of "a few dozen words". O(nnz).

    Parameters
    ----------
    model : Halfspace, or a fitted linear classifier of two classes
        B is the norm of its w.
    X
        Samples, dense or sparse.

    Examples
    --------
    >>> from maxmargin import Halfspace, theory
    >>> print(theory.capacity(Halfspace([1.0, -1.0, 0.0]), [[1, 1, 0], [0, 1, 0]]))
    ρ²B² = 4 (ρ² = 2, B² = 2, b = 0), d = 2: d is smaller.
    """
    if isinstance(model, Halfspace):
        w, b = model.w, model.b
    else:
        coef = getattr(model, "coef_", None)
        if coef is None or np.shape(coef)[0] != 1:
            raise InvalidInputError(
                "capacity takes a Halfspace or a fitted linear classifier of two classes: one with coef_ (1, d)."
            )
        coef = coef.toarray() if sp.issparse(coef) else coef
        w, b = np.asarray(coef)[0], float(np.ravel(model.intercept_)[0])
    X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.shape[1] != len(w):
        raise InvalidInputError(f"X has {X.shape[1]} columns where the model has {len(w)} weights.")
    used = np.unique(X.indices[X.data != 0]).size if sp.issparse(X) else int((X != 0).any(axis=0).sum())
    rho2, norm2 = float(products.squares(X).max()), float(w @ w)
    product = (math.sqrt(rho2 * norm2) + abs(b)) ** 2
    return Capacity(rho2, norm2, b, product, used + int(b != 0.0))


class VCExample(NamedTuple):
    """Samples, labels, and ρ²B² against d for their hard margin."""

    X: Floats
    y: Floats
    capacity: Capacity


def vc_wins(gamma: float = 0.01) -> VCExample:
    """Give data on which the dimension is the better measure: one feature, radius 1, margin γ, so that ρ²B² = 1/γ² and d = 1.

    The samples are ±1 and ±γ, labelled by their signs; the hard margin through the origin has w = 1/γ.

    Parameters
    ----------
    gamma : float
        γ, between 0 and 1.

    Examples
    --------
    >>> from maxmargin import bounds, theory
    >>> example = theory.vc_wins(1 / 64)
    >>> example.capacity.product, example.capacity.d, example.capacity.dimension_wins
    (4096.0, 1, True)
    >>> margin = bounds.hard_margin(rho=1.0, gamma=1 / 64, m=10_000, delta=0.05)
    >>> margin.vacuous, float(bounds.vc_rate(d=1, m=10_000))
    (True, 0.01)
    """
    if not 0 < gamma < 1:
        raise InvalidInputError(f"gamma = {gamma!r} where a number between 0 and 1 is wanted: the radius is 1.")
    X = np.array([[-1.0], [-gamma], [gamma], [1.0]])
    return VCExample(X, np.array([-1.0, -1.0, 1.0, 1.0]), capacity(Halfspace(np.array([1.0 / gamma])), X))


@dataclass(frozen=True)
class LearningProblem:
    """Halfspaces ‖w‖ ≤ B on samples ‖x‖ ≤ ρ with a loss: which class of convex learning problems is it?

    The hypothesis set is a ball, so convex; the rest is the loss's.

    Parameters
    ----------
    loss : str or Loss
        Any of `maxmargin.losses`.
    radius, norm : float
        ρ ≥ 0 and B ≥ 0.

    Examples
    --------
    >>> from maxmargin import theory
    >>> hinge = theory.LearningProblem("hinge", radius=2.0, norm=10.0)
    >>> hinge.is_convex_lipschitz_bounded, hinge.lipschitz, hinge.is_convex_smooth_bounded
    (True, 2.0, False)
    >>> theory.LearningProblem("squared_hinge", radius=2.0, norm=10.0).smoothness
    8.0
    """

    loss: Loss | str
    radius: float
    norm: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", loss_from_name(self.loss))
        for name, value in (("radius", self.radius), ("norm", self.norm)):
            if not 0 <= value < math.inf:
                raise InvalidInputError(f"{name} = {value!r} where a finite number ≥ 0 is wanted.")

    @property
    def is_convex(self) -> bool:
        """Whether w ↦ ℓ(y⟨w, x⟩) is convex for each sample."""
        return self._loss.convex

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant of w ↦ ℓ(y⟨w, x⟩) over ‖w‖ ≤ B, for the longest x: ρ · sup |ℓ'| over |z| ≤ Bρ.

        Of the losses without one on the whole line, the squared ones have one on the ball; the 0–1 loss has none.
        """
        if math.isfinite(self._loss.lipschitz) or self.radius == 0.0 or not self._loss.convex:
            return self._loss.lipschitz * self.radius if self.radius else 0.0
        return self.radius * float(-self._loss.subgradient(-self.norm * self.radius))

    @property
    def smoothness(self) -> float:
        """The smoothness of w ↦ ℓ(y⟨w, x⟩): that of ℓ times ρ²."""
        return self._loss.smoothness * self.radius**2 if self.radius else 0.0

    @property
    def is_convex_lipschitz_bounded(self) -> bool:
        """Convex, Lipschitz, and ‖w‖ ≤ B."""
        return self.is_convex and math.isfinite(self.lipschitz)

    @property
    def is_convex_smooth_bounded(self) -> bool:
        """Convex, non-negative (as all these losses are), smooth, and ‖w‖ ≤ B."""
        return self.is_convex and math.isfinite(self.smoothness)

    @property
    def _loss(self) -> Loss:
        assert isinstance(self.loss, Loss)
        return self.loss
