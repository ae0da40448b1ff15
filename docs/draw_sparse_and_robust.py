"""Draw the pictures of sparse_and_robust.md: ``python docs/draw_sparse_and_robust.py``. Needs the extra "plot"."""

from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import LinearSVC, l1_min_c, l1_path

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREEN, RED, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
"""Colours of Okabe and Ito, told apart by the colour-blind."""


def path(file: Path) -> None:
    """Left: the weights over C. Right: how many there are, and the accuracy on fresh samples."""
    from matplotlib.figure import Figure

    rng = np.random.default_rng(1)
    n, d = 120, 40
    X = rng.standard_normal((n + 2000, d))
    truth = np.zeros(d)
    truth[:4] = 2.0, -1.5, 1.0, 0.7
    y = np.where(X @ truth + rng.standard_normal(n + 2000) > 0, 1, -1)
    found = l1_path(X[:n], y[:n], Cs=40)
    fresh = [(np.sign(X[n:] @ w + b) == y[n:]).mean() for w, b in zip(found.coef, found.intercept, strict=True)]
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k in range(4, d):
        left.plot(found.Cs, found.coef[:, k], color="0.75", lw=0.8)
    for k, colour in enumerate((BLUE, ORANGE, GREEN, PURPLE)):
        left.plot(found.Cs, found.coef[:, k], color=colour, lw=2.0, label=f"feature {k} (true weight {truth[k]:g})")
    least = l1_min_c(X[:n], y[:n])
    left.axvline(least, color="black", lw=0.8, ls=":")
    left.annotate("l1_min_c", (least, 0.97), xycoords=("data", "axes fraction"), xytext=(4, -8), textcoords="offset points")
    left.set(xscale="log", xlabel="C", title="weights; grey: the 36 features that mean nothing")
    left.legend(fontsize=8, loc="lower left")
    right.step(found.Cs, found.n_features, where="post", color=RED, label="features with a weight")
    right.set(xscale="log", xlabel="C", ylim=(0, d), title="features kept, and accuracy on 2000 fresh samples")
    right.set_ylabel("features", color=RED)
    other = right.twinx()
    other.plot(found.Cs, fresh, color=BLUE, label="accuracy")
    other.set_ylabel("accuracy", color=BLUE)
    other.set_ylim(0.45, 1.0)
    figure.savefig(file, dpi=100, metadata={"Software": None})


def robust(file: Path) -> None:
    """Two clouds with outliers far on the wrong side: the hinge's line, the ramp's, and the two losses."""
    from matplotlib.figure import Figure

    rng = np.random.default_rng(4)
    y = np.where(np.arange(60) % 2, 1, -1)
    X = rng.standard_normal((60, 2)) * 0.7 + np.outer(y, [1.3, 0.4])
    X = np.vstack([X, rng.standard_normal((5, 2)) * 0.5 + [4.5, 3.5]])
    y = np.append(y, np.full(5, -1))
    models: dict[str, Any] = {loss: LinearSVC(loss=loss, tol=1e-8).fit(X, y) for loss in ("hinge", "ramp")}
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    left.scatter(*X[y > 0].T, color=BLUE, marker="o", s=24, label="y = +1")
    left.scatter(*X[y < 0].T, color=ORANGE, marker="s", s=24, label="y = −1")
    out = models["ramp"].outliers_
    left.scatter(*X[out].T, s=130, facecolors="none", edgecolors=RED, linewidths=1.4, label="outliers_ of the ramp")
    ends = np.array([-4.0, 6.0])
    for loss, colour, style in (("hinge", "0.45", "--"), ("ramp", "black", "-")):
        (w,), (b,) = models[loss].coef_, models[loss].intercept_
        left.plot(-(b + w[1] * ends) / w[0], ends, color=colour, ls=style, lw=2.0, label=f"{loss}: F = 0")
    left.set(xlim=(-3.5, 6.0), ylim=(-2.6, 5.2), aspect="equal", title="five labels that are wrong")
    left.legend(fontsize=8, loc="lower right")
    z = np.linspace(-3.0, 2.0, 200)
    right.plot(z, np.maximum(0.0, 1.0 - z), color="0.45", ls="--", lw=2.0, label="hinge")
    right.plot(z, np.clip(1.0 - z, 0.0, 1.0), color="black", lw=2.0, label="ramp")
    right.axvspan(-3.0, 0.0, color=RED, alpha=0.08, lw=0)
    right.annotate("left out of the convex step", (-2.9, 0.2), color=RED, fontsize=9)
    right.set(xlabel="z = y F(x)", title="what a sample costs", xlim=(-3.0, 2.0), ylim=(-0.1, 4.0))
    right.legend(fontsize=9)
    figure.savefig(file, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    path(FOLDER / "sparse_path.png")
    robust(FOLDER / "robust_ramp.png")
