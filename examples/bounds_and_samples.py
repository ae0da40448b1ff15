"""
How many samples does a margin need?
====================================

Theorems bound the error on new data by the ratio of the margin γ to the
radius ρ of the data, whatever the number of features. Each curve is such a
bound, at a confidence of 95 %. Above 1 it says nothing: an error is never
above 1. The marks show how many samples bring the bound down to 10 %. Half
the margin needs about three times as many.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import bounds

sizes = np.geomspace(100, 1e7, 100).astype(int)
figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for gamma, colour, line in (
    (0.4, "#0072B2", "-"),
    (0.2, "#D55E00", "--"),
    (0.1, "#009E73", "-."),
):
    values = [
        float(bounds.hard_margin(rho=1.0, gamma=gamma, m=int(m), delta=0.05))
        for m in sizes
    ]
    enough = int(
        bounds.hard_margin_samples(
            rho=1.0, gamma=gamma, epsilon=0.1, delta=0.05
        )
    )
    ax.plot(
        sizes,
        values,
        color=colour,
        ls=line,
        lw=2,
        label=f"γ/ρ = {gamma:g}: {enough} samples",
    )
    ax.plot(enough, 0.1, "o", color=colour)
    print(f"margin {gamma:g}: {enough} samples for an error of at most 10 %")
ax.axhspan(1.0, 4.0, color="0.9", zorder=0)
ax.text(1.2e6, 1.5, "says nothing", color="0.4")
ax.set(
    xscale="log",
    yscale="log",
    xlabel="samples m",
    ylabel="bound on the error",
    ylim=(0.01, 4.0),
)
ax.axhline(0.1, color="0.6", lw=0.8, zorder=0)
ax.legend(loc="lower left", title="10 % is reached with")
plt.show()
