"""
Watch a fit, and stop it
========================

An observer is called at each step of a solver. It can draw the gap, or end
the fit by returning True. Here it stops when the gap is below one percent.
What comes back is the best model so far with its certificate: it is proved to
be within one percent of the optimum, not assumed to be.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import Problem
from maxmargin.core import Bias
from maxmargin.solvers import DualCD, solve

rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 100))
scores = X @ rng.standard_normal(100) + 2.0 * rng.standard_normal(2000)
y = np.where(scores > 0, 1.0, -1.0)
problem = Problem(X, y, cost=np.full(2000, 0.01), bias=Bias.none())

events = []


def watch(event):
    events.append(event)
    return event.relative_gap < 0.01


solution = solve(problem, DualCD(), tol=1e-6, observe=watch)
print(solution.status)
print(f"certified relative gap: {solution.certificate.relative_gap:.2g}")

figure, ax = plt.subplots(figsize=(6.6, 4), layout="constrained")
ax.plot(
    [event.iteration for event in events],
    [event.relative_gap for event in events],
    ".-",
    color="#0072B2",
)
ax.axhline(0.01, color="black", ls="--", lw=1, label="where the observer stops")
ax.set(
    yscale="log",
    xlabel="sweeps of dual coordinate descent",
    ylabel="relative gap",
)
ax.legend()
plt.show()
