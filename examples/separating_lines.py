"""
Many lines separate, one is widest
==================================

All of these lines classify the eight samples correctly. They differ in their
margin, the distance of the closest sample. The hard margin is the line with
the largest one: shaded, it has room on both sides. A sample that moves by
less than the margin stays on its side.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import Halfspace, HardMarginSVC, Perceptron, plot

X = np.array([[1, 1], [2, 0.5], [1.5, 2.2], [0.5, 2]])
X = np.vstack([X, [[3.6, 3], [4, 2], [3.4, 4.1], [5, 3.2]]])
y = np.repeat(["left", "right"], 4)
plot.HalfspacesDisplay.from_halfspaces(
    {
        "by hand": Halfspace([1.0, -0.1], b=-2.4),
        "perceptron": Perceptron().fit(X, y),
        "hard margin": HardMarginSVC().fit(X, y),
    },
    X,
    y,
)
plt.show()
