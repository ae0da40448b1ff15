"""x."""
from maxmargin.theory.joachims import InfluenceCase, joachims_leave_one_out
from maxmargin.theory.lagrangian import *
from maxmargin.theory.min_max import min_max
from maxmargin.theory.program import *
from maxmargin.theory.quadratic import Quadratic
