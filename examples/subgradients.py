"""
Tangents and subgradients
=========================

A convex function stays above its tangents. At a kink there are many lines
that touch it from below, and the slope of each is a subgradient. The squared
hinge (above) is smooth, with one tangent everywhere. The hinge (below) has a
kink at the margin, where every slope from −1 to 0 will do.
"""

import matplotlib.pyplot as plt

from maxmargin import plot

figure, axes = plt.subplots(2, 1, figsize=(7, 8), layout="constrained")
plot.TangentsDisplay.from_loss("squared_hinge", at=[-0.5, 0.4], ax=axes[0])
plot.TangentsDisplay.from_loss("hinge", at=[-0.5, 1.0], ax=axes[1])
plt.show()
