"""The mathematics: one definition of the objective, one certificate. Knows nothing of solvers."""

from maxmargin.core.bias import Bias, best_bias
from maxmargin.core.candidate import Candidate, make_feasible, to_candidate
from maxmargin.core.certificate.certify import Certificate, certify
from maxmargin.core.certificate.parts import Groups
from maxmargin.core.certificate.scores import Scores
from maxmargin.core.halfspace import FitCase, Halfspace
from maxmargin.core.losses import Hinge, Loss, PerceptronLoss, Ramp, SquaredHinge, ZeroOne, loss_from_name
from maxmargin.core.penalties import L1, L2, Penalty, penalty_from_name
from maxmargin.core.problem import Problem
from maxmargin.core.regularization import Regularization
from maxmargin.core.solution import Solution, Status, Trace, TracePoint

__all__ = [
    "Bias",
    "Candidate",
    "Certificate",
    "FitCase",
    "Groups",
    "Halfspace",
    "Hinge",
    "L1",
    "L2",
    "Loss",
    "Penalty",
    "PerceptronLoss",
    "Problem",
    "Ramp",
    "Regularization",
    "Scores",
    "Solution",
    "SquaredHinge",
    "Status",
    "Trace",
    "TracePoint",
    "ZeroOne",
    "best_bias",
    "certify",
    "loss_from_name",
    "make_feasible",
    "penalty_from_name",
    "to_candidate",
]
