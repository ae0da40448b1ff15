"""The hard margin: error ≤ √(4(ρ/γ)²/m) + √(2 ln(2/δ)/m) with probability 1 − δ, and what follows for m, γ and δ."""

import math
import sys

from maxmargin.analysis.bounds._bound import Bound
from maxmargin.analysis.bounds._inputs import count, not_negative, probability, radius_and_margin, smallest_sample
from maxmargin.errors import InvalidInputError
from maxmargin.rounding import shown_above, shown_below

_THEOREM = "Shalev-Shwartz & Ben-David, Theorem 15.4"
_FORMULA = "√(4(ρ/γ)²/m) + √(2 ln(2/δ)/m)"
_ASSUMPTIONS = (
    "the m samples are drawn independently from one distribution",
    "with probability 1 its samples have ‖x‖ ≤ ρ and are separated with margin γ by a hyperplane through the origin",
    "the model is the hard-margin SVM without a bias",
)


def hard_margin(*, rho: float, gamma: float, m: int, delta: float, plug_in: bool = False) -> Bound:
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
    >>> from maxmargin.analysis import bounds
    >>> b = bounds.hard_margin(rho=1.0, gamma=0.5, m=10_000, delta=0.05)
    >>> round(float(b), 4), b.vacuous
    (0.0672, False)
    """
    rho, gamma = radius_and_margin(rho, gamma)
    m, delta = count("m", m), probability("delta", delta)
    value = _value(rho, gamma, m, delta)
    return Bound(
        value=value,
        name="hard_margin",
        theorem=_THEOREM,
        formula=_FORMULA,
        claim=f"With probability at least {shown_below(1 - delta, 6)} the hard margin's error on new data is at "
        f"most {shown_above(value, 4)}.",
        inputs={"rho": rho, "gamma": gamma, "m": m, "delta": delta},
        assumptions=_ASSUMPTIONS,
        plug_in=plug_in,
    )


def hard_margin_samples(*, rho: float, gamma: float, epsilon: float, delta: float, plug_in: bool = False) -> Bound:
    """Count the samples after which :func:`hard_margin` is at most ε: the smallest such integer m, exactly.

    m = ⌈((2ρ/γ + √(2 ln(2/δ)))/ε)²⌉ up to rounding, and then by bisection on the bound as it is computed. ε in (0, 1).

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> m = bounds.hard_margin_samples(rho=1.0, gamma=0.5, epsilon=0.1, delta=0.05)
    >>> int(m)
    4511
    >>> float(bounds.hard_margin(rho=1.0, gamma=0.5, m=m, delta=0.05)) <= 0.1
    True
    """
    rho, gamma = radius_and_margin(rho, gamma)
    epsilon, delta = probability("epsilon", epsilon), probability("delta", delta)
    root = (2 * rho / gamma + _confidence(delta)) / epsilon
    m = smallest_sample(lambda m: _value(rho, gamma, m, delta), epsilon, root * root)
    return Bound(
        value=m,
        name="hard_margin_samples",
        theorem=_THEOREM,
        formula=f"smallest m with {_FORMULA} ≤ ε",
        claim=f"From {m} samples on, the hard margin's error on new data is at most {shown_above(epsilon, 4)} with "
        f"probability at least {shown_below(1 - delta, 6)}.",
        inputs={"rho": rho, "gamma": gamma, "epsilon": epsilon, "delta": delta},
        assumptions=_ASSUMPTIONS,
        kind="samples",
        plug_in=plug_in,
    )


def hard_margin_gamma(*, rho: float, m: int, epsilon: float, delta: float, plug_in: bool = False) -> Bound:
    """Find the smallest margin with which :func:`hard_margin` is at most ε, up to rounding.

    γ = 2ρ/(ε√m − √(2 ln(2/δ))), refused where not even γ = ρ, the largest margin there is, would do.

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> g = bounds.hard_margin_gamma(rho=1.0, m=10_000, epsilon=0.1, delta=0.05)
    >>> round(float(g), 4)
    0.2746
    """
    rho, m = not_negative("rho", rho), count("m", m)
    epsilon, delta = probability("epsilon", epsilon), probability("delta", delta)
    room = epsilon * math.sqrt(m) - _confidence(delta)
    if room < 2:
        enough = hard_margin_samples(rho=1.0, gamma=1.0, epsilon=epsilon, delta=delta).value
        raise InvalidInputError(
            f"m = {m!r} samples are too few for epsilon = {epsilon!r} and delta = {delta!r}, however large the margin. "
            f"Use at least {enough} samples, or a larger epsilon or delta."
        )
    value = 2 * rho / room
    return Bound(
        value=value,
        name="hard_margin_gamma",
        theorem=_THEOREM,
        formula="2ρ/(ε√m − √(2 ln(2/δ)))",
        claim=f"A margin of at least {shown_above(value, 4)} keeps the hard margin's error on new data at most "
        f"{shown_above(epsilon, 4)} with probability at least {shown_below(1 - delta, 6)}.",
        inputs={"rho": rho, "m": m, "epsilon": epsilon, "delta": delta},
        assumptions=_ASSUMPTIONS,
        kind="margin",
        plug_in=plug_in,
    )


def hard_margin_delta(*, rho: float, gamma: float, m: int, epsilon: float, plug_in: bool = False) -> Bound:
    """Find the smallest δ with which :func:`hard_margin` is at most ε, up to rounding.

    δ = 2·exp(−(ε√m − 2ρ/γ)²/2), refused where it is not below 1. Where it underflows, the smallest normal float is
    given: a larger δ claims less and stays true.

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> d = bounds.hard_margin_delta(rho=1.0, gamma=0.5, m=10_000, epsilon=0.08)
    >>> round(float(d), 6)
    0.000671
    """
    rho, gamma = radius_and_margin(rho, gamma)
    m, epsilon = count("m", m), probability("epsilon", epsilon)
    room = epsilon * math.sqrt(m) - 2 * rho / gamma
    value = max(2 * math.exp(-room * room / 2), sys.float_info.min) if room > 0 else 1.0
    if value >= 1:
        raise InvalidInputError(
            f"With m = {m!r} samples and rho/gamma = {rho / gamma:.6g} the bound exceeds epsilon = {epsilon!r} at "
            "every confidence. Use more samples (hard_margin_samples counts them) or a larger epsilon."
        )
    return Bound(
        value=value,
        name="hard_margin_delta",
        theorem=_THEOREM,
        formula="2 exp(−(ε√m − 2ρ/γ)²/2)",
        claim=f"The hard margin's error on new data exceeds {shown_above(epsilon, 4)} with probability at most "
        f"{shown_above(value, 4)}.",
        inputs={"rho": rho, "gamma": gamma, "m": m, "epsilon": epsilon},
        assumptions=_ASSUMPTIONS,
        kind="confidence",
        plug_in=plug_in,
    )


def _confidence(delta: float) -> float:
    """√(2 ln(2/δ)); the difference of logarithms also holds where 2/δ overflows."""
    return math.sqrt(2 * (math.log(2) - math.log(delta)))


def _value(rho: float, gamma: float, m: int, delta: float) -> float:
    """The bound: every operation is monotone also as rounded, so that it does not increase with m."""
    return (2 * (rho / gamma) + _confidence(delta)) / math.sqrt(m)
