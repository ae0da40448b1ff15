"""
Imbalanced classes
==================

There are 20 healthy patients for each ill one. The plain machine is right
most of the time and misses most of the ill. ``class_weight="balanced"`` makes
a missed ill patient as expensive as 20 false alarms, and the line moves.
Accuracy falls, and recall, the share of the ill that are found, rises.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import recall_score

from maxmargin import LinearSVC, plot

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0.0, 1.0, (400, 2)), rng.normal(1.6, 1.0, (20, 2))])
y = np.repeat(["healthy", "ill"], [400, 20])

figure, axes = plt.subplots(
    1, 2, figsize=(9.6, 4.6), sharey=True, layout="constrained"
)
for ax, weight in zip(axes, (None, "balanced"), strict=True):
    model = LinearSVC(class_weight=weight, tol=1e-6).fit(X, y)
    plot.DecisionBoundaryDisplay.from_estimator(
        model, X, y, ax=ax, legend=False
    )
    accuracy = model.score(X, y)
    recall = recall_score(y, model.predict(X), pos_label="ill")
    ax.set_title(
        f"class_weight={weight!r}\n"
        f"accuracy {accuracy:.0%}, recall of the ill {recall:.0%}",
        fontsize=10,
    )
    ax.label_outer()
plt.show()
