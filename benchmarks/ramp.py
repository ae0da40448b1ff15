"""The ramp loss against the hinge where a tenth of the training labels is flipped: accuracy on clean test labels.

C is chosen for each loss by 5-fold cross-validation on the flipped training labels, from 0.01 to 10. Each figure is the mean
over seeds, of the split (two thirds for training, at most 1000 samples) and of the flips; ± is the standard error of the
difference.
"""

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks import datasets, results
from benchmarks.options import Options, select
from maxmargin import LinearSVC

SETS = (
    "australian",
    "breast_cancer",
    "cod_rna",
    "diabetes",
    "fourclass",
    "german",
    "heart",
    "ijcnn1",
    "mushrooms",
    "sonar",
    "splice",
    "svmguide1",
)
"""All small or dense two-class sets of the folder, whatever comes out."""
FLIPPED = 0.1
SEEDS = 10
MOST = 1000
GRID = {"C": [0.01, 0.1, 1.0, 10.0]}


def run(options: Options) -> None:
    """Run, print and save."""
    rows = [_compare(name) for name in select(options.data, SETS)]
    results.show(f"test accuracy with {FLIPPED:.0%} flipped training labels", rows)
    results.save("ramp_part" if options.is_narrowed else "ramp", rows, seeds=SEEDS)
    print(f"the ramp is better on {sum(row['ramp'] > row['hinge'] for row in rows)} of {len(rows)} sets")


def _compare(name: str) -> results.Row:
    X, y = datasets.small_set(name)
    scores: dict[str, list[float]] = {"hinge": [], "ramp": []}
    found = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        cut = min(2 * len(y) // 3, MOST)
        train, test = order[:cut], order[cut:]
        flips = rng.random(cut) < FLIPPED
        labels = np.where(flips, -y[train], y[train])
        low, high = X[train].min(axis=0), X[train].max(axis=0)
        scaled = (X - low) / np.where(high > low, high - low, 1.0)
        for loss, values in scores.items():
            best: Any = GridSearchCV(LinearSVC(loss=loss), GRID, cv=5).fit(scaled[train], labels)
            values.append(float(best.score(scaled[test], y[test])))
        found.append(
            float(flips[best.best_estimator_.outliers_].mean()) if len(best.best_estimator_.outliers_) else 0.0
        )
    difference = np.subtract(scores["ramp"], scores["hinge"])
    return {
        "data": name,
        "n": len(y),
        "d": X.shape[1],
        "hinge": float(np.mean(scores["hinge"])),
        "ramp": float(np.mean(scores["ramp"])),
        "difference": float(difference.mean()),
        "±": float(difference.std(ddof=1) / np.sqrt(SEEDS)),
        "flipped among outliers": float(np.mean(found)),
    }
