"""
Labels that cannot change
=========================

A fit ends close to the exact optimum, not at it. The certificate says how
close. This tells for each new sample whether its label could be different at
the exact optimum. With a rough ``tol`` a broad band around the boundary is in
doubt. With a small one the band is thinner than a pixel.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVC

X, y = make_moons(120, noise=0.2, random_state=0)
xx, yy = np.meshgrid(np.linspace(-1.8, 2.8, 160), np.linspace(-1.4, 1.9, 110))
grid = np.c_[xx.ravel(), yy.ravel()]

figure, axes = plt.subplots(
    1, 3, figsize=(11, 3.4), sharey=True, layout="constrained"
)
for ax, tol in zip(axes, [1e-2, 1e-4, 1e-8], strict=True):
    model = SVC(C=3.0, gamma=1.0, tol=tol).fit(X, y)
    labels, is_certain = model.certified_predictions(grid)
    shades = np.where(is_certain, labels, 0.5).reshape(xx.shape)
    ax.contourf(
        xx,
        yy,
        shades,
        levels=[-0.5, 0.25, 0.75, 1.5],
        colors=["#0072B2", "white", "#E69F00"],
        alpha=0.35,
    )
    ax.contour(
        xx,
        yy,
        model.decision_function(grid).reshape(xx.shape),
        levels=[0.0],
        colors="black",
        linewidths=1.2,
    )
    for k, (marker, colour) in enumerate((("o", "#0072B2"), ("s", "#E69F00"))):
        ax.scatter(*X[y == k].T, s=12, marker=marker, color=colour)
    ax.set(
        title=f"tol = {tol:g}: {is_certain.mean():.1%} of the plane is certain",
        aspect="equal",
    )
    ax.title.set_fontsize(10)
figure.supxlabel(
    "white: the label could change at the exact optimum", fontsize=9
)
plt.show()
