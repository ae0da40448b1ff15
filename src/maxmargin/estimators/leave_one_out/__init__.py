"""Leave-one-out of whole classifiers: `leave_one_out`, `xi_alpha`, `LeaveOneOutSearch`."""

from maxmargin.estimators.leave_one_out.estimates import xi_alpha
from maxmargin.estimators.leave_one_out.result import LeaveOneOut, SettledBy
from maxmargin.estimators.leave_one_out.run import leave_one_out
from maxmargin.estimators.leave_one_out.search import LeaveOneOutSearch

__all__ = ["LeaveOneOut", "LeaveOneOutSearch", "SettledBy", "leave_one_out", "xi_alpha"]
