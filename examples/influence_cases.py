"""
What one sample does
====================

Four machines, each without the sample in the red circle; the boundary that
they would draw is red and dashed. Without a sample that is no support vector
nothing moves. A support vector of low influence moves the boundary a little,
one inside the margin more. A training error stays an error.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinearSVC, plot

rng = np.random.default_rng(59)
y = np.where(np.arange(18) % 2, "yes", "no")
X = 0.5 * rng.standard_normal((18, 2))
X += np.outer(np.where(y == "yes", 1, -1), [0.7, 0.4])
plot.InfluenceDisplay.from_estimator(LinearSVC(C=0.15), X, y)
plt.show()
