"""The theory of the course texts as objects that can be evaluated, checked and refuted.

====================  ==============================================================================================
duality               `lagrangian`, `max_over_multipliers`, `dual_function`, `weak_duality`, `slater_point`, `min_max`
small exact programs  `Program`, `Quadratic`, `hard_margin_program`, `no_qualification`: KKT, Fritz John, Slater
steps                 `descend`, `perceptron_by_sgd`, `perceptron_erm`
margins               `data_margin`, `capacity`, `vc_wins`, `LearningProblem`
hard against soft     `hard_soft_agreement`, `no_single_lambda`
leave-one-out         `joachims_leave_one_out`, as printed
neighbours            `ridge`, `logistic`, `nu_margin`
====================  ==============================================================================================

For small data and for reading: what trains machines on real data is elsewhere.
"""

from maxmargin.theory.analogues import NuMargin, logistic, nu_margin, ridge
from maxmargin.theory.descent import Descent, Step, descend
from maxmargin.theory.duality import (
    DualityGap,
    SlaterPoint,
    dual_function,
    lagrangian,
    max_over_multipliers,
    slater_point,
    weak_duality,
)
from maxmargin.theory.finite_sets import MinMax, min_max
from maxmargin.theory.hard_and_soft import Agreement, Disagreement, hard_soft_agreement, no_single_lambda
from maxmargin.theory.joachims import InfluenceCase, InfluenceRow, JoachimsLeaveOneOut, joachims_leave_one_out
from maxmargin.theory.margins import Capacity, DataMargin, LearningProblem, VCExample, capacity, data_margin, vc_wins
from maxmargin.theory.perceptron import PerceptronErm, perceptron_by_sgd, perceptron_erm
from maxmargin.theory.program import KKT, Multipliers, NoMultipliers, Program, Solved, hard_margin_program, no_qualification
from maxmargin.theory.quadratic import Minimum, Quadratic

__all__ = ["DualityGap", "SlaterPoint", "dual_function", "lagrangian", "max_over_multipliers", "slater_point", "weak_duality"]
__all__ += ["MinMax", "min_max"]
__all__ += ["KKT", "Minimum", "Multipliers", "NoMultipliers", "Program", "Quadratic", "Solved"]
__all__ += ["hard_margin_program", "no_qualification"]
__all__ += ["Descent", "PerceptronErm", "Step", "descend", "perceptron_by_sgd", "perceptron_erm"]
__all__ += ["Capacity", "DataMargin", "LearningProblem", "VCExample", "capacity", "data_margin", "vc_wins"]
__all__ += ["Agreement", "Disagreement", "hard_soft_agreement", "no_single_lambda"]
__all__ += ["InfluenceCase", "InfluenceRow", "JoachimsLeaveOneOut", "joachims_leave_one_out"]
__all__ += ["NuMargin", "logistic", "nu_margin", "ridge"]
