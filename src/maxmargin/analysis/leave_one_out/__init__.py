"""Leave-one-out: what n retrainings would say of each sample, from one solution and a few retrainings.

    full         the problem on all samples, solved tightly, and where its exact optimum lies
    theorems     what follows for each left-out sample without retraining
    retrain      the others: warm-started, on a Gram matrix, on sparse rows, or by any solver
    left_out     the intervals of F₋ᵢ(xᵢ), from the theorems first and tighter on request
    xi_alpha     the estimates that need no retraining and prove nothing

Each speaks of one binary problem.
"""

from maxmargin.analysis.leave_one_out.full import Full, tightened
from maxmargin.analysis.leave_one_out.left_out import LeftOut
from maxmargin.analysis.leave_one_out.xi_alpha import XiAlpha, estimated, slacks, xi_alpha

__all__ = ["Full", "LeftOut", "XiAlpha", "estimated", "slacks", "tightened", "xi_alpha"]
