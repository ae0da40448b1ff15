"""Leave-one-out: what n retrainings would say of each sample, from one solution and a few retrainings.

    full         the problem on all samples, solved tightly, and where its exact optimum lies
    theorems     what follows for each left-out sample without retraining; the ξα estimates, which prove nothing
    tableau      the equations of the samples that may move when one is left out
    equations    the decisions that these give, with their proof
    left_out     the intervals of F₋ᵢ(xᵢ): from the theorems, from the equations, and from any solver

Each speaks of one binary problem.
"""

from maxmargin.analysis.leave_one_out.equations import Goal
from maxmargin.analysis.leave_one_out.full import Full, tightened
from maxmargin.analysis.leave_one_out.left_out import LeftOut
from maxmargin.analysis.leave_one_out.theorems import XiAlpha, xi_alpha

__all__ = ["Full", "Goal", "LeftOut", "XiAlpha", "tightened", "xi_alpha"]
