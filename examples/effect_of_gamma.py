"""
What gamma does
===============

γ of the RBF kernel says how quickly similarity falls with distance. A small γ
makes the boundary almost straight. A very large γ draws islands around single
samples: no training error is left, and yet new samples get wrong labels more
often. The exact leave-one-out error shows it: it is smallest in between.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import SVC, leave_one_out, plot

X, y = make_moons(100, noise=0.25, random_state=3)

figure, axes = plt.subplots(
    2, 2, figsize=(9, 6.0), sharex=True, sharey=True, layout="constrained"
)
for ax, gamma in zip(axes.flat, [0.02, 0.5, 5.0, 100.0], strict=True):
    model = SVC(C=5.0, gamma=gamma).fit(X, y)
    plot.DecisionBoundaryDisplay.from_estimator(
        model, X, y, ax=ax, legend=False
    )
    training, left_out = 1 - model.score(X, y), leave_one_out(model, X, y).error
    ax.set_title(
        f"γ = {gamma:g}: training error {training:.0%}, "
        f"leave-one-out {left_out:.0%}",
        fontsize=10,
    )
    ax.label_outer()
plt.show()
