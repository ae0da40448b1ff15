"""What the dimension says about learning halfspaces: rates, and a number of samples that is too small for every learner.

    √(d/m)          how the error of ERM shrinks, without constants
    d/ε             how many samples any learner needs for an error of ε, without constants
    (d − 1)/(32ε)   samples from which none reaches it

The last one in short: d − 1 points share the probability 8ε, and their labels are coin tosses. After so few draws half of these
points are unseen with probability at least ½, and the guesses there err by more than ε with probability at least 1/3.
"""

import math
from fractions import Fraction

from maxmargin.analysis.bound import Rule, theorem
from maxmargin.rounding import shown_above

_HALFSPACES = ("the halfspaces pass through the origin, so that their VC dimension is d",)
_ALL = (*_HALFSPACES, "nothing is known of the distribution, except that some such halfspace labels its samples without error")

at_most_an_eighth = Rule("a number > 0 and at most 1/8", lambda x, _: 0 < x <= 0.125)


@theorem("Shalev-Shwartz & Ben-David, section 15.2.2", "√(d/m)", _HALFSPACES, "rate")
def vc_rate(*, d: int, m: int) -> tuple[float, str]:
    """Give the rate √(d/m) at which dimension-dependent bounds shrink, to set beside the ones of the margin.

    A rate leaves out the constants: it claims nothing about an error, is never vacuous and has no inverse.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> float(bounds.vc_rate(d=100, m=10_000))
    0.1
    """
    value = math.sqrt(d / m)
    claim = f"The error of a halfspace in {d} dimensions shrinks at the rate {value:.4g}"
    return value, f"{claim}; a rate leaves out its constants and claims nothing about an error."


@theorem("Shalev-Shwartz & Ben-David, section 15.1.2", "d/ε", _ALL, "rate")
def vc_lower_rate(*, d: int, epsilon: float) -> tuple[float, str]:
    """Give the rate d/ε at which the samples grow that every learner needs, to set beside (ρ/γ)².

    Significantly fewer samples than that, and no algorithm can learn each halfspace in d dimensions to the error ε. A rate leaves
    out its constants; `vc_lower_samples` has one.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> float(bounds.vc_lower_rate(d=1000, epsilon=0.125))
    8000.0
    """
    value = d / epsilon
    claim = f"The samples that a learner of halfspaces in {d} dimensions needs grow at the rate {value:.4g}"
    return value, f"{claim}; a rate leaves out its constants and claims nothing about an error."


@theorem(
    "Ehrenfeucht, Haussler, Kearns & Valiant, Information and Computation 82 (1989), Theorem 1",
    "⌊(d − 1)/(32ε)⌋",
    _ALL,
    "samples",
    epsilon=at_most_an_eighth,
)
def vc_lower_samples(*, d: int, epsilon: float) -> tuple[float, str]:
    """Count the samples that are too few for every learner: ⌊(d − 1)/(32ε)⌋, exactly; ε ≤ 1/8.

    From so many samples no learner has an error of at most ε with probability 99 % on every distribution that a halfspace labels
    without error. With a margin this does not hold: then the distribution is not any.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> int(bounds.vc_lower_samples(d=100_000, epsilon=0.01))
    312496
    >>> int(bounds.hard_margin_samples(rho=1.0, gamma=0.5, epsilon=0.1, delta=0.01))
    5264
    """
    value = math.floor(Fraction(d - 1) / (32 * Fraction(epsilon)))
    error = shown_above(epsilon, 4)
    promise = f"an error of at most {error} with probability 99 %"
    return value, f"From {value} samples no learner has {promise} on every such distribution."
