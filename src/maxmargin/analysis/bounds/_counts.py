"""Results that count: perceptron updates, support vectors, features."""

import math
from fractions import Fraction

from maxmargin.analysis.bounds._bound import Bound
from maxmargin.analysis.bounds._inputs import count, number, positive, radius_and_margin
from maxmargin.rounding import shown_above

_PERCEPTRON = "Shalev-Shwartz & Ben-David, Remark 15.1"
_SEPARATED = (
    "every sample has ‖x‖ ≤ ρ",
    "some unit vector u has y⟨u, x⟩ ≥ γ on every sample (with a bias: of the samples with the constant feature added)",
)
_INPUTS_ROUNDED = Fraction(1, 2**50)  # ρ and γ come rounded: an integer that (ρ/γ)² misses by this much still counts


def perceptron_updates(*, rho: float, gamma: float) -> Bound:
    """Bound the number of updates that the perceptron makes on separable samples: ⌊(ρ/γ)²⌋.

    A statement about the training samples themselves, so measured ρ = max‖x_j‖ and γ are what it wants. Computed in
    rational arithmetic; within rounding of the next integer it is that one, so that 0.3 and 0.1 give 9.

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> int(bounds.perceptron_updates(rho=5.0, gamma=2.0))
    6
    """
    rho, gamma = radius_and_margin(rho, gamma)
    value = max(1, math.floor((Fraction(rho) / Fraction(gamma)) ** 2 * (1 + _INPUTS_ROUNDED)))
    return Bound(
        value=value,
        name="perceptron_updates",
        theorem=_PERCEPTRON,
        formula="⌊(ρ/γ)²⌋",
        claim=f"The perceptron makes at most {value} updates.",
        inputs={"rho": rho, "gamma": gamma},
        assumptions=_SEPARATED,
        kind="count",
    )


def perceptron_margin(*, rho: float, updates: int) -> Bound:
    """Bound the margin of samples on which the perceptron made so many updates: γ ≤ ρ/√updates.

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> float(bounds.perceptron_margin(rho=1.0, updates=16))
    0.25
    """
    rho, updates = positive("rho", rho), count("updates", updates)
    value = rho / math.sqrt(updates)
    return Bound(
        value=value,
        name="perceptron_margin",
        theorem=_PERCEPTRON,
        formula="ρ/√updates",
        claim=f"No hyperplane through the origin separates the samples with a margin above {shown_above(value, 4)}.",
        inputs={"rho": rho, "updates": updates},
        assumptions=(_SEPARATED[0],),
        kind="margin",
    )


def leave_one_out_support(*, n_support: float, m: int, plug_in: bool = False) -> Bound:
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
    >>> from maxmargin.analysis import bounds
    >>> float(bounds.leave_one_out_support(n_support=30, m=200))
    0.15
    """
    m = count("m", m)
    n_support = number("n_support", n_support, f"a number between 0 and m = {m}", lambda x: 0 <= x <= m)
    value = n_support / m
    return Bound(
        value=value,
        name="leave_one_out_support",
        theorem="Vapnik, The Nature of Statistical Learning Theory (1995)",
        formula="E[#SV]/m",
        claim=f"In the mean over training sets, the leave-one-out error is at most {shown_above(value, 4)}.",
        inputs={"n_support": n_support, "m": m},
        assumptions=(
            "the m samples are drawn independently from one distribution",
            "n_support is the mean over training sets of the number of support vectors of the exact optimum",
            "a sample on the right side of its margin stays right when it is left out",
        ),
        plug_in=plug_in,
    )


def vc_rate(*, d: int, m: int) -> Bound:
    """Give the rate √(d/m) at which dimension-dependent bounds shrink, to set beside the ones of the margin.

    A rate leaves out the constants: it claims nothing about an error, is never vacuous and has no inverse.

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> float(bounds.vc_rate(d=100, m=10_000))
    0.1
    """
    d, m = count("d", d), count("m", m)
    value = math.sqrt(d / m)
    return Bound(
        value=value,
        name="vc_rate",
        theorem="Shalev-Shwartz & Ben-David, section 15.2.2",
        formula="√(d/m)",
        claim=f"The error of a halfspace in {d} dimensions shrinks at the rate {value:.4g}; a rate leaves out its "
        "constants and claims nothing about an error.",
        inputs={"d": d, "m": m},
        assumptions=("the halfspaces pass through the origin, so that their VC dimension is d",),
        kind="rate",
    )
