"""
The perceptron, mistake by mistake
==================================

The perceptron looks at one sample after the other, and moves its line only at
a mistake. The lines turn from pale to dark. With margin γ and radius ρ it
makes at most (ρ/γ)² mistakes, in whatever order the samples come. Here it
needs far fewer.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import Perceptron

rng = np.random.default_rng(3)
X = rng.uniform(-2, 2, (400, 2))
X = X[np.abs(X @ [0.6, 0.8]) > 0.13][:40]
y = np.where(X @ [0.6, 0.8] > 0, 1, -1)

learner = Perceptron(fit_intercept=False, shuffle=False, margin="compute")
lines = [step.w for step in learner.steps(X, y) if step.is_mistake]
model = learner.fit(X, y)
print(f"{model.n_updates_} mistakes, at most {int(model.mistake_bound_)}")
print(model.witness_.check())

figure, ax = plt.subplots(figsize=(6.8, 4.8), layout="constrained")
for label, marker, colour in ((1, "o", "#0072B2"), (-1, "s", "#E69F00")):
    ax.scatter(
        *X[y == label].T,
        marker=marker,
        color=colour,
        s=30,
        label=f"y = {label:+d}".replace("-", "−"),
    )
for k, w in enumerate(lines, 1):
    across = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    shade = 0.8 * (1 - k / len(lines))
    ax.plot(
        *np.outer(across, [-4, 4]),
        color=str(shade),
        lw=1.5,
        label=f"after mistake {k}",
    )
ax.set(
    xlim=(-2.1, 2.1),
    ylim=(-2.1, 2.1),
    aspect="equal",
    xlabel="feature 0",
    ylabel="feature 1",
)
ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
plt.show()
