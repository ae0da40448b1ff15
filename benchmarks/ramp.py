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
SEEDS = 40
MOST = 1000
GRID = {"C": [0.01, 0.1, 1.0, 10.0]}


def run(options: Options) -> None:
    """Run, print and save."""
    rows = [_compare(name) for name in select(options.data, SETS)]
    results.show(f"test accuracy with {FLIPPED:.0%} flipped training labels", rows)
    name = "ramp_part" if options.is_narrowed else "ramp"
    results.save(name, rows, seeds=SEEDS)
    finish(name)
    print(f"the ramp is better on {sum(row['ramp'] > row['hinge'] for row in rows)} of {len(rows)} sets")


def finish(name: str) -> None:
    """Draw results/NAME.png: what the ramp gains over the hinge, with two standard errors."""
    rows = results.load(name)[::-1]
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return
    figure = Figure(figsize=(7.0, 0.34 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    gains, errors = [100 * row["difference"] for row in rows], [200 * row["±"] for row in rows]
    axes.errorbar(gains, range(len(rows)), xerr=errors, fmt="o", color="#0072B2", capsize=3)
    axes.axvline(0.0, color="black", linewidth=1.0)
    axes.set_yticks(range(len(rows)), [row["data"] for row in rows])
    axes.grid(axis="x", color="0.9")
    axes.set_xlabel("test accuracy of the ramp minus that of the hinge, in points, ± 2 standard errors", fontsize=9)
    figure.savefig(results.FOLDER / f"{name}.png", dpi=110, metadata={"Software": None})


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
        found.append(float(flips[best.best_estimator_.outliers_].mean()) if len(best.best_estimator_.outliers_) else 0.0)
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
