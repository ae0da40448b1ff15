"""
Choose C and gamma
==================

`LeaveOneOutSearch` tries every pair of C and γ and computes its leave-one-out
error exactly. With 178 wines and 36 pairs that would be 6408 retrainings one
by one. Good pairs lie on a ridge: a larger γ needs a smaller C. The best pair
is marked. Its accuracy is a little optimistic, because it is the best of 36.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, LeaveOneOutSearch

X, y = load_wine(return_X_y=True)
Cs, gammas = np.logspace(-1, 4, 6).tolist(), np.logspace(-4, 1, 6).tolist()
search = LeaveOneOutSearch(
    make_pipeline(StandardScaler(), SVC()),
    param_grid={"svc__C": Cs, "svc__gamma": gammas},
)
search.fit(X, y)
print(search.best_params_, f"leave-one-out accuracy {search.best_score_:.1%}")

accuracy = search.cv_results_["mean_test_score"].reshape(len(Cs), len(gammas))
figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
shown = ax.imshow(accuracy, cmap="viridis", origin="lower")
for (row, column), value in np.ndenumerate(accuracy):
    ax.text(
        column,
        row,
        f"{value:.0%}",
        ha="center",
        va="center",
        fontsize=9,
        color="white" if value < 0.8 else "black",
    )
best = np.unravel_index(search.best_index_, accuracy.shape)
ax.plot(best[1], best[0], "s", ms=36, mfc="none", mec="#D55E00", mew=2.5)
ax.set_xticks(range(6), [f"{gamma:g}" for gamma in gammas])
ax.set_yticks(range(6), [f"{C:g}" for C in Cs])
ax.set(xlabel="γ", ylabel="C", title="exact leave-one-out accuracy")
figure.colorbar(shown)
plt.show()
