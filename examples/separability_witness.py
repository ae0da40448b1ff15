"""
Why no line separates these classes
===================================

`separability` answers with a proof either way. Here the answer is no, and the
proof is a few weights. They sum to 1 in each class, and the weighted means of
the two classes are the same point. That point lies in the hulls of both
classes, so no line can have the classes on different sides. The check uses
rational numbers and so has no rounding.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import separability

rng = np.random.default_rng(11)
y = np.repeat(["circle", "square"], 12)
side = np.where(y == "circle", -1.0, 1.0)
X = np.round(rng.standard_normal((24, 2)) + np.outer(side, [0.9, 0.6]), 2)

witness = separability(X, y)
print(witness)
print(witness.check())

figure, ax = plt.subplots(figsize=(7.0, 4.6), layout="constrained")
for name, marker, colour in (
    ("circle", "o", "#0072B2"),
    ("square", "s", "#E69F00"),
):
    mine = y == name
    ax.scatter(
        *X[mine].T, marker=marker, color=colour, s=30, label=f"class {name}"
    )
    point = witness.weights[mine] @ X[mine]
    for x, weight in zip(X[mine], witness.weights[mine], strict=True):
        if weight > 0:
            ax.plot(
                *np.transpose([x, point]),
                color=colour,
                lw=1 + 4 * weight,
                alpha=0.6,
                zorder=0,
            )
            ax.annotate(
                f"{weight:.2f}",
                x,
                xytext=(6, 5),
                textcoords="offset points",
                fontsize=9,
            )
ax.scatter(
    *point, marker="*", s=170, color="black", zorder=3, label="weighted mean"
)
ax.set(aspect="equal", xlabel="feature 0", ylabel="feature 1")
ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
plt.show()
