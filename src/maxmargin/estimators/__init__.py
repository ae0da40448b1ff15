"""The scikit-learn face. Nothing below this layer imports scikit-learn."""

from maxmargin.estimators.inspect import certify, separability
from maxmargin.estimators.leave_one_out import LeaveOneOut, LeaveOneOutSearch, SettledBy, leave_one_out, xi_alpha
from maxmargin.estimators.linear import L1Path, LinearSVC, l1_min_c, l1_path
from maxmargin.estimators.progress.callbacks import ConvergenceWarning
from maxmargin.estimators.stochastic.pegasos import PegasosSVC
from maxmargin.estimators.stochastic.perceptron import Perceptron
from maxmargin.estimators.svc import SVC, HardMarginSVC

__all__ = ["SVC", "ConvergenceWarning", "HardMarginSVC", "LinearSVC", "PegasosSVC", "Perceptron"]
__all__ += ["L1Path", "LeaveOneOut", "LeaveOneOutSearch", "SettledBy"]
__all__ += ["certify", "l1_min_c", "l1_path", "leave_one_out", "separability", "xi_alpha"]
