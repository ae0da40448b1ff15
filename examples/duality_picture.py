"""
Weak and strong duality
=======================

The smallest ½w² with a limited sum of losses, for one feature. Each w is a
point: its sum of losses, and ½w². The dual value is the highest place where a
line below all points crosses the axis. With the hinge (above) it meets
the primal value. With the ramp (below) the points make no convex set, and a
gap remains.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import plot

figure, axes = plt.subplots(2, 1, figsize=(7, 8), layout="constrained")
w = np.linspace(-0.5, 1.1, 3201)
hinge = np.maximum(0, 1 - np.outer(w, [1, 1, 1, 1, -4, -4]))  # two outliers
is_small = w < 0.35
plot.DualityDisplay.from_values(
    hinge[is_small].sum(1) - 5.1, 0.5 * w[is_small] ** 2, ax=axes[0]
)
ramp = np.minimum(1, hinge)
plot.DualityDisplay.from_values(ramp.sum(1) - 3.7, 0.5 * w**2, ax=axes[1])
plt.show()
