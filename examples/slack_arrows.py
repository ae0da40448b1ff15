"""
Slacks are distances
====================

Each sample that falls short of the margin has an arrow to the line that it
should reach. Its slack ξ is the length of that arrow, measured in widths
1/‖w‖ of the margin: below 1 the sample is on its right side, above 1 it is
wrong. The objective weighs the sum of these numbers against the width.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinearSVC, plot

rng = np.random.default_rng(4)
y = np.where(np.arange(30) % 2, 1, -1)
X = 0.8 * rng.standard_normal((30, 2)) + np.outer(y, [1.0, 0.5])
model = LinearSVC(C=0.3, tol=1e-6).fit(X, y)
plot.SlackDisplay.from_estimator(model, X, y)
plt.show()
