"""What a sample costs, as a function of z = y·F, and the conjugates that the dual and the certificate are made of.

For a sample of cost c and dual variable α, with m = 1 − z, every loss that has a dual obeys Fenchel–Young:

    R = c·ℓ + (c·ℓ)*(α) − α·m ≥ 0        with equality exactly when α is a subgradient of c·ℓ at m

Σ_j R_j is the losses' share of the duality gap. It is computed as a sum of non-negative terms: near the optimum the
subtraction would leave nothing but rounding.

A cost of +∞ is the hard margin and a cost of 0 an absent sample; both are taken without warnings.
"""

from collections.abc import Mapping
from types import MappingProxyType

from maxmargin.core.losses.base import Loss
from maxmargin.core.losses.bounded import Ramp, ZeroOne
from maxmargin.core.losses.corner import Hinge, PerceptronLoss
from maxmargin.core.losses.smooth import Logistic, Squared
from maxmargin.core.losses.squared_hinge import SquaredHinge
from maxmargin.errors import InvalidInputError

__all__ = [
    "LOSSES",
    "Loss",
    "Hinge",
    "SquaredHinge",
    "Ramp",
    "ZeroOne",
    "PerceptronLoss",
    "Logistic",
    "Squared",
    "loss_from_name",
]

LOSSES: Mapping[str, Loss] = MappingProxyType(
    {loss.name: loss for loss in (Hinge(), SquaredHinge(), Ramp(), ZeroOne(), PerceptronLoss(), Logistic(), Squared())}
)
"""The losses there are, by name; the last two are evaluated only."""

TRAINABLE = tuple(name for name, loss in LOSSES.items() if loss.has_quadratic_dual or isinstance(loss, Ramp))
"""The names of those that `SVC` and `LinearSVC` can train, by a quadratic dual or by the convex steps of the ramp."""


def loss_from_name(name: str | Loss) -> Loss:
    """Turn a name of `LOSSES` into the loss; a loss passes through.

    Examples
    --------
    >>> from maxmargin.core.losses import loss_from_name
    >>> loss_from_name("squared_hinge")
    SquaredHinge()
    """
    if isinstance(name, Loss):
        return name
    if isinstance(name, str) and name in LOSSES:
        return LOSSES[name]
    raise InvalidInputError(f"Unknown loss {name!r}. Use one of {', '.join(map(repr, LOSSES))}.")
