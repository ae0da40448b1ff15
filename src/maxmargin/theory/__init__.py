"""x."""
from maxmargin.theory.joachims import joachims_leave_one_out
