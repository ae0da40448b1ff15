"""
A feature map: a circle becomes a plane
=======================================

No line separates the disc from the ring around it. The map Φ(x) = (x₀, x₁,
x₀² + x₁²) lifts every sample to a height, and in space a plane separates
them. `FeatureMap` turns Φ into the kernel ⟨Φ(u), Φ(v)⟩. Back in the plane of
the data the boundary is a circle.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from maxmargin import HardMarginSVC, plot
from maxmargin.kernels import FeatureMap


def lift(X):
    return np.c_[X, (X**2).sum(axis=1)]


X, y = make_circles(100, noise=0.06, factor=0.45, random_state=1)
y = np.where(y == 1, "disc", "ring")
model = HardMarginSVC(kernel=FeatureMap(lift)).fit(X, y)

figure = plt.figure(figsize=(10, 4.4), layout="constrained")
left = figure.add_subplot(1, 2, 1)
plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=left, legend=False)
left.set_title("in the plane: a circle")
right = figure.add_subplot(1, 2, 2, projection="3d")
for name, marker, colour in (
    ("disc", "o", "#0072B2"),
    ("ring", "s", "#E69F00"),
):
    right.scatter(
        *lift(X[y == name]).T,
        marker=marker,
        color=colour,
        label=f"class {name}",
    )
w, b = model.dual_coef_[0] @ lift(model.support_vectors_), model.intercept_[0]
edge = np.array([-1.2, 1.2])
xx, yy = np.meshgrid(edge, edge)
right.plot_surface(
    xx, yy, -(b + w[0] * xx + w[1] * yy) / w[2], color="0.5", alpha=0.5
)
right.set(xlabel="x₀", ylabel="x₁", zlabel="x₀² + x₁²")
right.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
right.set_title("lifted: a plane")
right.set_box_aspect((1, 1, 0.9), zoom=1.1)
right.view_init(elev=12, azim=-60)
right.legend(loc="upper left", fontsize=8)
plt.show()
