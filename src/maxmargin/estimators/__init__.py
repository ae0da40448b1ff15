"""The scikit-learn face. Nothing below this layer imports scikit-learn."""

from maxmargin.estimators.convergence import ConvergenceWarning
from maxmargin.estimators.hard_margin import HardMarginSVC
from maxmargin.estimators.inspect import certify, separability

__all__ = ["ConvergenceWarning", "HardMarginSVC", "certify", "separability"]
