"""What the margin promises about unseen data: the theorems, and their inverses, on plain numbers.

===============================  ========================================================  ===========
function                         value                                                     source
===============================  ========================================================  ===========
:func:`hard_margin`              √(4(ρ/γ)²/m) + √(2 ln(2/δ)/m)                             UML 15.4
:func:`hard_margin_samples`      the smallest m for which that is ≤ ε                      its inverses
:func:`hard_margin_gamma`        the smallest γ
:func:`hard_margin_delta`        the smallest δ
:func:`soft_margin`              L(u) + λ‖u‖² + 2ρ²/(λm)                                   UML 15.7
:func:`soft_margin_lambda`       √(2ρ²/(B²m))
:func:`soft_margin_best`         min_{‖w‖≤B} L(w) + √(8ρ²B²/m)
:func:`soft_margin_samples`      the smallest m for which √(8ρ²B²/m) ≤ ε                   its inverse
:func:`vc_rate`                  √(d/m): a rate, no bound                                  UML 15.2.2
:func:`vc_lower_rate`            d/ε: a rate, no bound                                     UML 15.1.2
:func:`vc_lower_samples`         ⌊(d − 1)/(32ε)⌋ samples are too few for any learner       Ehrenfeucht et al.
:func:`perceptron_updates`       ⌊(ρ/γ)²⌋                                                  UML 15.1
:func:`perceptron_margin`        ρ/√updates                                                its inverse
:func:`leave_one_out_support`    E[support vectors]/m                                      Vapnik
===============================  ========================================================  ===========

UML is Shalev-Shwartz & Ben-David, *Understanding Machine Learning*, chapter 15. ρ, γ and B belong to the distribution
that the samples come from. Put in as measured on a sample they give plug-in figures, and the result says so.
"""

import math
import sys
from fractions import Fraction

from maxmargin.analysis.bound import Bound, positive, smallest_sample, theorem
from maxmargin.analysis.bounds_of_dimension import vc_lower_rate as vc_lower_rate
from maxmargin.analysis.bounds_of_dimension import vc_lower_samples as vc_lower_samples
from maxmargin.analysis.bounds_of_dimension import vc_rate as vc_rate
from maxmargin.errors import InvalidInputError
from maxmargin.rounding import raised, shown_above, shown_below

__all__ = [
    "Bound",
    *("hard_margin", "hard_margin_samples", "hard_margin_gamma", "hard_margin_delta"),
    *("soft_margin", "soft_margin_lambda", "soft_margin_best", "soft_margin_samples"),
    *("vc_rate", "vc_lower_rate", "vc_lower_samples"),
    *("perceptron_updates", "perceptron_margin", "leave_one_out_support"),
]

_HARD = "Shalev-Shwartz & Ben-David, Theorem 15.4"
_SOFT = "Shalev-Shwartz & Ben-David, Corollary 15.7"
_PERCEPTRON = "Shalev-Shwartz & Ben-David, Remark 15.1"
_MARGIN_ASSUMED = (
    "the m samples are drawn independently from one distribution",
    "with probability 1 its samples have ‖x‖ ≤ ρ and are separated with margin γ by a hyperplane through the origin",
    "the model is the hard-margin SVM without a bias",
)
_HINGE_ASSUMED = (
    "the m samples are drawn independently from one distribution whose samples have ‖x‖ ≤ ρ",
    "the model minimises λ‖w‖² + mean hinge without a bias",
    "hinge losses are means over the distribution, and the error is a mean over training sets",
)
_BEST_ASSUMED = (*_HINGE_ASSUMED, "λ = √(2ρ²/(B²m))")
_RADIUS = "every sample has ‖x‖ ≤ ρ"
_SEPARATED = (
    _RADIUS,
    "some unit vector u has y⟨u, x⟩ ≥ γ on every sample (with a bias: of the samples with the constant feature added)",
)
_SUPPORT_ASSUMED = (
    "the m samples are drawn independently from one distribution",
    "n_support is the mean over training sets of the number of support vectors of the exact optimum",
    "a sample on the right side of its margin stays right when it is left out",
)


@theorem(_HARD, "√(4(ρ/γ)²/m) + √(2 ln(2/δ)/m)", _MARGIN_ASSUMED)
def hard_margin(*, rho: float, gamma: float, m: int, delta: float, plug_in: bool = False) -> tuple[float, str]:
    """Bound the error of the hard-margin SVM by its margin, whatever the dimension.

    With probability 1 − δ over training sets of size m the 0–1 error is at most
    √(4(ρ/γ)²/m) + √(2 ln(2/δ)/m). O(1).

    Parameters
    ----------
    rho, gamma : float
        Radius ‖x‖ ≤ ρ and homogeneous margin γ of the *distribution*, 0 < γ ≤ ρ.
    m : int
        Number of training samples.
    delta : float
        Probability with which the bound may fail, in (0, 1).
    plug_in : bool, default False
        Say True if ρ or γ was measured on the sample: the result then calls itself an indication.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> b = bounds.hard_margin(rho=1.0, gamma=0.5, m=10_000, delta=0.05)
    >>> round(float(b), 4), b.vacuous
    (0.0672, False)
    """
    value = _value(rho, gamma, m, delta)
    chance, error = shown_below(1 - delta, 6), shown_above(value, 4)
    return value, f"With probability at least {chance} the hard margin's error on new data is at most {error}."


@theorem(_HARD, "smallest m with √(4(ρ/γ)²/m) + √(2 ln(2/δ)/m) ≤ ε", _MARGIN_ASSUMED, "samples")
def hard_margin_samples(*, rho: float, gamma: float, epsilon: float, delta: float, plug_in: bool = False) -> tuple[float, str]:
    """Count the samples after which :func:`hard_margin` is at most ε: the smallest such integer m, exactly.

    m = ⌈((2ρ/γ + √(2 ln(2/δ)))/ε)²⌉ up to rounding, and then by bisection on the bound as it is computed. ε in (0, 1).

    Examples
    --------
    >>> from maxmargin import bounds
    >>> m = bounds.hard_margin_samples(rho=1.0, gamma=0.5, epsilon=0.1, delta=0.05)
    >>> int(m)
    4511
    >>> float(bounds.hard_margin(rho=1.0, gamma=0.5, m=m, delta=0.05)) <= 0.1
    True
    """
    root = (2 * rho / gamma + _confidence(delta)) / epsilon
    m = smallest_sample(lambda m: _value(rho, gamma, m, delta), epsilon, root * root)
    error, chance = shown_above(epsilon, 4), shown_below(1 - delta, 6)
    return m, f"From {m} samples on, the hard margin's error on new data is at most {error} with probability at least {chance}."


@theorem(_HARD, "2ρ/(ε√m − √(2 ln(2/δ)))", _MARGIN_ASSUMED, "margin")
def hard_margin_gamma(*, rho: float, m: int, epsilon: float, delta: float, plug_in: bool = False) -> tuple[float, str]:
    """Find the smallest margin with which :func:`hard_margin` is at most ε, up to rounding.

    γ = 2ρ/(ε√m − √(2 ln(2/δ))), refused where not even γ = ρ, the largest margin there is, would do.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> g = bounds.hard_margin_gamma(rho=1.0, m=10_000, epsilon=0.1, delta=0.05)
    >>> round(float(g), 4)
    0.2746
    """
    room = epsilon * math.sqrt(m) - _confidence(delta)
    if room < 2:
        enough = hard_margin_samples(rho=1.0, gamma=1.0, epsilon=epsilon, delta=delta).value
        reason = f"m = {m!r} samples are too few for epsilon = {epsilon!r} and delta = {delta!r}, however large the margin."
        raise InvalidInputError(f"{reason} Use at least {enough} samples, or a larger epsilon or delta.")
    value = 2 * rho / room
    margin, error, chance = shown_above(value, 4), shown_above(epsilon, 4), shown_below(1 - delta, 6)
    return value, f"A margin of at least {margin} keeps the error on new data at most {error} with probability at least {chance}."


@theorem(_HARD, "2 exp(−(ε√m − 2ρ/γ)²/2)", _MARGIN_ASSUMED, "confidence")
def hard_margin_delta(*, rho: float, gamma: float, m: int, epsilon: float, plug_in: bool = False) -> tuple[float, str]:
    """Find the smallest δ with which :func:`hard_margin` is at most ε, up to rounding.

    δ = 2·exp(−(ε√m − 2ρ/γ)²/2), refused where it is not below 1. Where it underflows, the smallest normal float is
    given: a larger δ claims less and stays true.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> d = bounds.hard_margin_delta(rho=1.0, gamma=0.5, m=10_000, epsilon=0.08)
    >>> round(float(d), 6)
    0.000671
    """
    room = epsilon * math.sqrt(m) - 2 * rho / gamma
    value = max(2 * math.exp(-room * room / 2), sys.float_info.min) if room > 0 else 1.0
    if value >= 1:
        reason = f"With m = {m!r} and rho/gamma = {rho / gamma:.6g} the bound exceeds epsilon = {epsilon!r} at every confidence."
        raise InvalidInputError(f"{reason} Use more samples (hard_margin_samples counts them) or a larger epsilon.")
    error, chance = shown_above(epsilon, 4), shown_above(value, 4)
    return value, f"The hard margin's error on new data exceeds {error} with probability at most {chance}."


def _confidence(delta: float) -> float:
    """√(2 ln(2/δ)); the difference of logarithms also holds where 2/δ overflows."""
    return math.sqrt(2 * (math.log(2) - math.log(delta)))


def _value(rho: float, gamma: float, m: int, delta: float) -> float:
    """The bound: every operation is monotone also as rounded, so that it does not increase with m."""
    return (2 * (rho / gamma) + _confidence(delta)) / math.sqrt(m)


@theorem(_SOFT, "L(u) + λ‖u‖² + 2ρ²/(λm)", _HINGE_ASSUMED)
def soft_margin(*, hinge_loss: float, norm: float, lam: float, rho: float, m: int, plug_in: bool = False) -> tuple[float, str]:
    """Bound the expected error of the soft-margin SVM by the hinge loss and the norm of any vector u.

    E[error] ≤ L(u) + λ‖u‖² + 2ρ²/(λm), with L(u) the expected hinge loss of u. O(1).

    Parameters
    ----------
    hinge_loss, norm : float
        L(u) ≥ 0 and ‖u‖ ≥ 0 of the vector to compare with.
    lam : float
        λ > 0 of λ‖w‖² + mean hinge.
    rho : float
        Radius: ‖x‖ ≤ ρ.
    m : int
        Number of training samples.
    plug_in : bool, default False
        Say True if ρ or the loss was measured on the sample.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> float(bounds.soft_margin(hinge_loss=0.125, norm=1.0, lam=0.25, rho=1.0, m=64))
    0.5
    """
    value = hinge_loss + lam * norm * norm + 2 * rho * (rho / lam / m)
    return value, f"In the mean over training sets, the soft margin's error on new data is at most {shown_above(value, 4)}."


@theorem(_SOFT, "√(2ρ²/(B²m))", _HINGE_ASSUMED, "parameter", rho=positive)
def soft_margin_lambda(*, rho: float, B: float, m: int, plug_in: bool = False) -> tuple[float, str]:
    """Choose the λ that makes :func:`soft_margin` smallest when ‖u‖ = B: √(2ρ²/(B²m)).

    Examples
    --------
    >>> from maxmargin import bounds
    >>> float(bounds.soft_margin_lambda(rho=1.0, B=2.0, m=50))
    0.1
    """
    value = math.sqrt(2 / m) * rho / B
    return value, f"λ = {value:.4g} makes the soft margin's bound smallest for comparison vectors of norm {B:.4g}."


@theorem(_SOFT, "min_{‖w‖≤B} L(w) + √(8ρ²B²/m)", _BEST_ASSUMED)
def soft_margin_best(*, hinge_loss: float, B: float, rho: float, m: int, plug_in: bool = False) -> tuple[float, str]:
    """Bound the expected error of the soft-margin SVM with the λ of :func:`soft_margin_lambda`.

    E[error] ≤ min_{‖w‖≤B} L(w) + √(8ρ²B²/m); ``hinge_loss`` is that minimum, or L of any w with ‖w‖ ≤ B. O(1).

    Examples
    --------
    >>> from maxmargin import bounds
    >>> float(bounds.soft_margin_best(hinge_loss=0.125, B=2.0, rho=1.0, m=2048))
    0.25
    """
    value = hinge_loss + _excess(B, rho, m)
    return value, f"In the mean over training sets, the soft margin's error on new data is at most {shown_above(value, 4)}."


@theorem(_SOFT, "smallest m with √(8ρ²B²/m) ≤ ε", _BEST_ASSUMED, "samples", epsilon=positive)
def soft_margin_samples(*, B: float, rho: float, epsilon: float, plug_in: bool = False) -> tuple[float, str]:
    """Count the samples after which √(8ρ²B²/m) ≤ ε: the smallest such integer m, exactly.

    From there on the expected error exceeds the best hinge loss with ‖w‖ ≤ B by at most ε > 0.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> int(bounds.soft_margin_samples(B=2.0, rho=1.0, epsilon=0.125))
    2048
    """
    root = rho / epsilon * B
    m = smallest_sample(lambda m: _excess(B, rho, m), epsilon, 8 * root * root)
    above, norm = shown_above(epsilon, 4), shown_below(B, 4)
    return m, f"From {m} samples on, the soft margin's mean error is at most {above} above the best hinge loss with ‖w‖ ≤ {norm}."


def _excess(B: float, rho: float, m: int) -> float:
    """√(8ρ²B²/m), in an order that does not square what may be large; as rounded it does not increase with m."""
    return math.sqrt(8 / m) * (rho * B)


@theorem(_PERCEPTRON, "⌊(ρ/γ)²⌋", _SEPARATED, "count")
def perceptron_updates(*, rho: float, gamma: float) -> tuple[float, str]:
    """Bound the number of updates that the perceptron makes on separable samples: ⌊(ρ/γ)²⌋.

    A statement about the training samples themselves, so measured ρ = max‖x_j‖ and γ are what it wants. Computed in
    rational arithmetic; within rounding of the next integer it is that one, so that 0.3 and 0.1 give 9.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> int(bounds.perceptron_updates(rho=5.0, gamma=2.0))
    6
    """
    value = max(1, math.floor((Fraction(rho) / Fraction(gamma)) ** 2 * Fraction(raised(1.0, 4))))
    return value, f"The perceptron makes at most {value} updates."


@theorem(_PERCEPTRON, "ρ/√updates", (_RADIUS,), "margin", rho=positive)
def perceptron_margin(*, rho: float, updates: int) -> tuple[float, str]:
    """Bound the margin of samples on which the perceptron made so many updates: γ ≤ ρ/√updates.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> float(bounds.perceptron_margin(rho=1.0, updates=16))
    0.25
    """
    value = rho / math.sqrt(updates)
    return value, f"No hyperplane through the origin separates the samples with a margin above {shown_above(value, 4)}."


@theorem("Vapnik, The Nature of Statistical Learning Theory (1995)", "E[#SV]/m", _SUPPORT_ASSUMED)
def leave_one_out_support(*, m: int, n_support: float, plug_in: bool = False) -> tuple[float, str]:
    """Bound the expected leave-one-out error by the expected share of support vectors, E[#SV]/m.

    Taking a sample out that is no support vector leaves the model as it is, and that sample right. The leave-one-out
    error of m samples estimates the error of training on m − 1 without bias.

    Parameters
    ----------
    n_support : float
        Expected number of support vectors, between 0 and m.
    m : int
        Number of training samples.
    plug_in : bool, default False
        Say True if the number is the one that a single fit has.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> float(bounds.leave_one_out_support(n_support=30, m=200))
    0.15
    """
    value = n_support / m
    return value, f"In the mean over training sets, the leave-one-out error is at most {shown_above(value, 4)}."
