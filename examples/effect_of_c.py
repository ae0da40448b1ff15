"""
What C does
===========

C is the price of a sample that lies inside the margin or on the wrong side.
If it is cheap, the margin is wide and many samples lie inside it. If it is
expensive, the margin is narrow and the line follows the few samples near it.
Each panel says how wide the margin is and how many support vectors there are.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinearSVC, plot

rng = np.random.default_rng(0)
y = np.where(np.arange(80) % 2, 1, -1)
X = 0.9 * rng.standard_normal((80, 2)) + np.outer(y, [1.1, 0.6])

plot.CostEffectDisplay.from_estimator(
    LinearSVC(tol=1e-6), X, y, Cs=[0.01, 0.1, 1.0, 100.0]
)
plt.show()
