"""
The ramp loss against wrong labels
==================================

Five samples at the upper right have the wrong label. The hinge loss grows
with the distance, so they pull its line towards themselves. The ramp loss
costs at most 1 for each sample: it gives these five up and draws the line
that the others ask for. `outliers_` says which samples were given up.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinearSVC, plot

rng = np.random.default_rng(4)
y = np.where(np.arange(60) % 2, 1, -1)
X = 0.7 * rng.standard_normal((60, 2)) + np.outer(y, [1.3, 0.4])
X, y = (
    np.vstack([X, 0.5 * rng.standard_normal((5, 2)) + [4.5, 3.5]]),
    np.append(y, np.full(5, -1)),
)

figure, axes = plt.subplots(
    1, 2, figsize=(9.6, 4.4), sharey=True, layout="constrained"
)
for ax, loss in zip(axes, ("hinge", "ramp"), strict=True):
    model = LinearSVC(loss=loss).fit(X, y)
    plot.DecisionBoundaryDisplay.from_estimator(
        model, X, y, ax=ax, legend=False
    )
    share = model.score(X[:60], y[:60])
    ax.set_title(f"{loss}: {share:.0%} of the 60 true labels are right")
    ax.label_outer()
print("given up by the ramp:", model.outliers_)
plt.show()
