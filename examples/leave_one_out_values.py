"""
Leave-one-out decision values
=============================

What would the machine say about a sample if it had never seen it? The slow
way is to train once for each sample. Here equations on the full solution
answer without any retraining, and the values are exact. Each line goes from
F(x) of the full machine (hollow) to F(x) of the machine without that sample
(filled). Support vectors move towards the other class. All other samples stay
where they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVC, leave_one_out

X, y = make_moons(60, noise=0.3, random_state=5)
model = SVC(C=3.0, gamma=1.0).fit(X, y)
result = leave_one_out(model, X, y, decision_values=True)
print(result)

before, after = model.decision_function(X), result.decision_values.ravel()
order = np.argsort(before)
place = np.arange(len(y))
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.vlines(place, before[order], after[order], color="0.6", lw=1.2, zorder=1)
for k, (marker, colour) in enumerate((("o", "#0072B2"), ("s", "#E69F00"))):
    mine = y[order] == k
    ax.scatter(
        place[mine],
        after[order][mine],
        s=28,
        marker=marker,
        color=colour,
        label=f"class {k}, left out",
        zorder=3,
    )
    ax.scatter(
        place[mine],
        before[order][mine],
        s=28,
        marker=marker,
        facecolor="white",
        edgecolor=colour,
        label=f"class {k}",
        zorder=2,
    )
ax.axhline(0.0, color="black", lw=1.0)
ax.set(
    xlabel="samples, in the order of F",
    ylabel="F(x)",
    title=f"leave-one-out error {result.error:.0%}",
)
ax.legend(ncols=2, fontsize=8)
plt.show()
