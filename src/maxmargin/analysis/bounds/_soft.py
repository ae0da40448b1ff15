"""The soft margin, in expectation over training sets of size m: E[error] ≤ E[hinge] ≤ L(u) + λ‖u‖² + 2ρ²/(λm).

The rule is the minimiser of λ‖w‖² + mean hinge without a bias, ``Regularization.tikhonov(λ)`` here.
"""

import math

from maxmargin.analysis.bounds._bound import Bound
from maxmargin.analysis.bounds._inputs import count, not_negative, positive, smallest_sample
from maxmargin.rounding import shown_above, shown_below

_THEOREM = "Shalev-Shwartz & Ben-David, Corollary 15.7"
_ASSUMPTIONS = (
    "the m samples are drawn independently from one distribution whose samples have ‖x‖ ≤ ρ",
    "the model minimises λ‖w‖² + mean hinge without a bias",
    "hinge losses are means over the distribution, and the error is a mean over training sets",
)
_BEST = (*_ASSUMPTIONS, "λ = √(2ρ²/(B²m))")


def soft_margin(*, hinge_loss: float, norm: float, lam: float, rho: float, m: int, plug_in: bool = False) -> Bound:
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
    >>> from maxmargin.analysis import bounds
    >>> float(bounds.soft_margin(hinge_loss=0.125, norm=1.0, lam=0.25, rho=1.0, m=64))
    0.5
    """
    hinge_loss, norm = not_negative("hinge_loss", hinge_loss), not_negative("norm", norm)
    lam, rho, m = positive("lam", lam), not_negative("rho", rho), count("m", m)
    value = hinge_loss + lam * norm * norm + 2 * rho * (rho / lam / m)
    return Bound(
        value=value,
        name="soft_margin",
        theorem=_THEOREM,
        formula="L(u) + λ‖u‖² + 2ρ²/(λm)",
        claim=f"In the mean over training sets, the soft margin's error on new data is at most {shown_above(value, 4)}.",
        inputs={"hinge_loss": hinge_loss, "norm": norm, "lam": lam, "rho": rho, "m": m},
        assumptions=_ASSUMPTIONS,
        plug_in=plug_in,
    )


def soft_margin_lambda(*, rho: float, B: float, m: int, plug_in: bool = False) -> Bound:
    """Choose the λ that makes :func:`soft_margin` smallest when ‖u‖ = B: √(2ρ²/(B²m)).

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> float(bounds.soft_margin_lambda(rho=1.0, B=2.0, m=50))
    0.1
    """
    rho, B, m = positive("rho", rho), positive("B", B), count("m", m)
    value = math.sqrt(2 / m) * rho / B
    return Bound(
        value=value,
        name="soft_margin_lambda",
        theorem=_THEOREM,
        formula="√(2ρ²/(B²m))",
        claim=f"λ = {value:.4g} makes the soft margin's bound smallest for comparison vectors of norm {B:.4g}.",
        inputs={"rho": rho, "B": B, "m": m},
        assumptions=_ASSUMPTIONS,
        kind="parameter",
        plug_in=plug_in,
    )


def soft_margin_best(*, hinge_loss: float, B: float, rho: float, m: int, plug_in: bool = False) -> Bound:
    """Bound the expected error of the soft-margin SVM with the λ of :func:`soft_margin_lambda`.

    E[error] ≤ min_{‖w‖≤B} L(w) + √(8ρ²B²/m); ``hinge_loss`` is that minimum, or L of any w with ‖w‖ ≤ B. O(1).

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> float(bounds.soft_margin_best(hinge_loss=0.125, B=2.0, rho=1.0, m=2048))
    0.25
    """
    hinge_loss, B = not_negative("hinge_loss", hinge_loss), positive("B", B)
    rho, m = not_negative("rho", rho), count("m", m)
    value = hinge_loss + _excess(B, rho, m)
    return Bound(
        value=value,
        name="soft_margin_best",
        theorem=_THEOREM,
        formula="min_{‖w‖≤B} L(w) + √(8ρ²B²/m)",
        claim=f"In the mean over training sets, the soft margin's error on new data is at most {shown_above(value, 4)}.",
        inputs={"hinge_loss": hinge_loss, "B": B, "rho": rho, "m": m},
        assumptions=_BEST,
        plug_in=plug_in,
    )


def soft_margin_samples(*, B: float, rho: float, epsilon: float, plug_in: bool = False) -> Bound:
    """Count the samples after which √(8ρ²B²/m) ≤ ε: the smallest such integer m, exactly.

    From there on the expected error exceeds the best hinge loss with ‖w‖ ≤ B by at most ε > 0.

    Examples
    --------
    >>> from maxmargin.analysis import bounds
    >>> int(bounds.soft_margin_samples(B=2.0, rho=1.0, epsilon=0.125))
    2048
    """
    B, rho, epsilon = positive("B", B), not_negative("rho", rho), positive("epsilon", epsilon)
    root = rho / epsilon * B
    m = smallest_sample(lambda m: _excess(B, rho, m), epsilon, 8 * root * root)
    return Bound(
        value=m,
        name="soft_margin_samples",
        theorem=_THEOREM,
        formula="smallest m with √(8ρ²B²/m) ≤ ε",
        claim=f"From {m} samples on, the soft margin's error on new data is, in the mean over training sets, at most "
        f"{shown_above(epsilon, 4)} above the best hinge loss of a vector of norm at most {shown_below(B, 4)}.",
        inputs={"B": B, "rho": rho, "epsilon": epsilon},
        assumptions=_BEST,
        kind="samples",
        plug_in=plug_in,
    )


def _excess(B: float, rho: float, m: int) -> float:
    """√(8ρ²B²/m), in an order that does not square what may be large; as rounded it does not increase with m."""
    return math.sqrt(8 / m) * (rho * B)
