"""
Sample weights
==============

Not all samples are equally important. Here the later half of the measurements
counts ten times as much as the earlier half, and the boundary follows the
later ones. A weight of k is exactly the same as k copies of a sample, which
the last line printed checks. A weight of 0 leaves a sample out.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVC, plot

rng = np.random.default_rng(2)
y = np.where(np.arange(80) % 2, "up", "down")
is_late = np.arange(80) >= 40
angle = np.where(is_late, 1.2, -0.2)
side = np.where(y == "up", 1.2, -1.2)[:, None]
X = rng.standard_normal((80, 2)) + side * np.c_[np.cos(angle), np.sin(angle)]
weight = np.where(is_late, 10, 1)

figure, axes = plt.subplots(
    1, 2, figsize=(9.6, 5.2), sharey=True, layout="constrained"
)
for ax, weights, words in zip(
    axes, (None, weight), ("equal weights", "late samples ×10"), strict=True
):
    model = SVC(kernel="linear", C=0.1).fit(X, y, weights)
    plot.DecisionBoundaryDisplay.from_estimator(
        model, X, y, sample_weight=weights, ax=ax, legend=False
    )
    share = model.score(X[is_late], y[is_late])
    ax.set_title(
        f"{words}: {share:.0%} of the late labels are right", fontsize=11
    )
    ax.label_outer()
copies = np.repeat(np.arange(80), weight)
twin = SVC(kernel="linear", C=0.1, tol=1e-9).fit(X[copies], y[copies])
same = np.allclose(
    model.set_params(tol=1e-9).fit(X, y, weight).coef_, twin.coef_, atol=1e-6
)
print("weight k is the same as k copies:", same)
plt.show()
