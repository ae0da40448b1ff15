"""The scikit-learn face. Nothing below this layer imports scikit-learn."""

from maxmargin.estimators.family.linear_svr import LinearSVR
from maxmargin.estimators.family.nu import NuSVC, NuSVR
from maxmargin.estimators.family.one_class import OneClassSVM
from maxmargin.estimators.family.svr import SVR
from maxmargin.estimators.inspect import certify, separability
from maxmargin.estimators.leave_one_out import LeaveOneOut, LeaveOneOutSearch, SettledBy, leave_one_out, xi_alpha
from maxmargin.estimators.linear import L1Path, LinearSVC, l1_min_c, l1_path
from maxmargin.estimators.progress.callbacks import ConvergenceWarning
from maxmargin.estimators.stochastic.pegasos import PegasosSVC
from maxmargin.estimators.stochastic.perceptron import Perceptron
from maxmargin.estimators.svc import SVC, HardMarginSVC
from maxmargin.estimators.warm_up import WarmUp, warm_up

__all__ = ["SVC", "SVR", "ConvergenceWarning", "HardMarginSVC", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"]
__all__ += ["PegasosSVC", "Perceptron"]
__all__ += ["L1Path", "LeaveOneOut", "LeaveOneOutSearch", "SettledBy", "WarmUp"]
__all__ += ["certify", "l1_min_c", "l1_path", "leave_one_out", "separability", "warm_up", "xi_alpha"]
