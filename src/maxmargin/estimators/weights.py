"""From C, sample weights and class weights to the cost of each sample."""

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from maxmargin.core import Regularization
from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats, Indices


def class_factors(class_weight: Any, classes: Any, labels: Indices, weights: Floats) -> Floats:
    """The factor of each class; "balanced" counts weights: total / (n_classes · weight of the class).

    Examples
    --------
    >>> class_factors("balanced", np.array(["a", "b"]), np.array([0, 1]), np.array([3.0, 1.0])).round(3)
    array([0.667, 2.   ])
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = weights.sum() / (len(classes) * np.bincount(labels, weights=weights, minlength=len(classes)))
    else:
        try:
            factors = compute_class_weight(class_weight, classes=classes, y=classes[labels])
        except OverflowError:  # an int beyond float64
            factors = np.full(len(classes), np.inf)
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise InvalidInputError(f"class_weight must be positive for every class, and finite, got {class_weight!r}.")
    return np.asarray(factors, dtype=np.float64)


def costs(trade_off: Regularization, weights: Floats, factors: Floats, penalty: Any = "l2") -> Floats:
    """c_j = cost · weight · class factor, given the last two for each sample; the hard margin has ∞ where there is weight.

    The cost is that beside ½‖w‖², or beside ‖w‖₁ for the L1 penalty.

    Examples
    --------
    >>> costs(Regularization.mean(8.0), np.array([3.0, 1.0]), np.array([1.0, 2.0]))
    array([6., 4.])
    """
    if trade_off.is_hard:
        return np.where(weights > 0, np.inf, 0.0)
    cost = trade_off.cost(float(weights.sum()), penalty)
    with np.errstate(over="ignore", under="ignore"):
        found = cost * weights * factors
    if np.isinf(found).any() or (found[weights > 0] == 0.0).any():
        raise InvalidInputError(
            f"C × sample weight × class weight leaves the range of float64: {cost:.3g} times weights up to "
            f"{weights.max():.3g} and class weights up to {factors.max():.3g}. Use values nearer to 1."
        )
    return found
