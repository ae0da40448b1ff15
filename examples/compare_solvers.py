"""
Solvers on one problem
======================

Three algorithms minimise the same objective. After each of their own rounds
the gap is certified, in the same way for all of them, so that the curves can
be compared. Stochastic steps come near quickly and then slow down. Coordinate
descent and interior points reach far smaller gaps within thirty rounds. A
round is no unit of time: it costs each of them something else.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import Problem, plot
from maxmargin.core import Bias
from maxmargin.solvers import Budget, DualCD, InteriorPoint, Pegasos, solve

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 10))
y = np.where(
    X @ rng.standard_normal(10) + 1.5 * rng.standard_normal(400) > 0, 1.0, -1.0
)
problem = Problem(X, y, cost=np.full(400, 0.05), bias=Bias.none())


def certified_after_each_round(solver, n_rounds):
    """The last certified moment of fits that stop after 1, 2, 3, … rounds."""
    rounds = np.unique(np.geomspace(1, n_rounds, 12).astype(int)).tolist()
    return [
        solve(problem, solver, tol=1e-9, budget=Budget(k)).trace[-1]
        for k in rounds
    ]


traces = {
    "Pegasos": certified_after_each_round(Pegasos(), 300),
    "dual coordinate descent": certified_after_each_round(DualCD(), 30),
    "interior point": certified_after_each_round(InteriorPoint(), 30),
}
display = plot.GapDisplay(
    list(traces.values()), names=list(traces), against="rounds"
).plot()
plt.show()
