"""Leave-one-out of whole classifiers: `leave_one_out`, `xi_alpha`, `LeaveOneOutSearch`."""

from maxmargin.estimators.loo.result import LeaveOneOut, SettledBy
from maxmargin.estimators.loo.run import leave_one_out, xi_alpha
from maxmargin.estimators.loo.search import LeaveOneOutSearch

__all__ = ["LeaveOneOut", "LeaveOneOutSearch", "SettledBy", "leave_one_out", "xi_alpha"]
