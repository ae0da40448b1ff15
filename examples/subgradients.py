"""
Tangents and subgradients
=========================

A convex function stays above its tangents. At a kink there are many lines
that touch it from below, and the slope of each is a subgradient. The squared
hinge (left) is smooth, with one tangent everywhere. The hinge (right) has a
kink at the margin, where every slope from −1 to 0 will do.
"""

import matplotlib.pyplot as plt

from maxmargin import plot

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4), layout="constrained"
)
plot.TangentsDisplay.from_loss("squared_hinge", at=[-0.5, 0.4], ax=left)
plot.TangentsDisplay.from_loss("hinge", at=[-0.5, 1.0], ax=right)
plt.show()
