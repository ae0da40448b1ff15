"""Draw the pictures of online.md: ``python docs/draw_online.py``. Needs the extra "plot"."""

from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import LinearSVC, PegasosSVC, Perceptron, Regularization
from maxmargin.core import Bias, Problem
from maxmargin.solvers import Budget, Subgradient, solve

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
"""Colours of Okabe and Ito, told apart by the colour-blind."""


def two_clouds(n: int, margin: float, seed: int) -> tuple[Any, Any]:
    """Points of the plane on both sides of a line off the origin, at least `margin` away from it."""
    rng = np.random.default_rng(seed)
    u = np.array([0.8, 0.6])
    X = rng.uniform(-2.0, 2.0, size=(4 * n, 2))
    X = X[np.abs(X @ u - 0.3) > margin][:n]
    return X, np.where(X @ u > 0.3, 1, -1)


def perceptron(path: Path) -> None:
    """Left: the line after each mistake. Right: the two bounds that end the learning."""
    from matplotlib.figure import Figure

    X, y = two_clouds(60, 0.1, 8)
    model = Perceptron(shuffle=False)
    mistakes = [step for step in model.steps(X, y) if step.is_mistake]
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.scatter(*X[y > 0].T, color=BLUE, marker="o", s=24, label="y = +1")
    left.scatter(*X[y < 0].T, color=ORANGE, marker="s", s=24, label="y = −1")
    ends = np.array([-2.6, 2.6])
    for k, step in enumerate(mistakes):
        is_last = k == len(mistakes) - 1
        if abs(step.w[1]) > 1e-12:
            line = -(step.b + step.w[0] * ends) / step.w[1]
            shade = 0.15 + 0.5 * k / len(mistakes)
            left.plot(
                ends,
                line,
                color="black" if is_last else "0.5",
                alpha=1.0 if is_last else shade,
                lw=2.0 if is_last else 0.8,
            )
    left.set(xlim=(-2.3, 2.3), ylim=(-2.3, 2.3), aspect="equal", title=f"the line after each of {len(mistakes)} mistakes")
    left.legend(loc="lower left", fontsize=8)
    augmented = np.hstack([X, np.ones((len(X), 1))])
    best = LinearSVC(C=1e6, intercept_scaling=1.0, tol=1e-8).fit(X, y)
    u = np.append(best.coef_[0], best.intercept_[0])
    u /= np.linalg.norm(u)
    gamma, rho = float((y * (augmented @ u)).min()), float(np.linalg.norm(augmented, axis=1).max())
    count = np.arange(1, len(mistakes) + 1)
    vectors = np.array([np.append(step.w, step.b) for step in mistakes])
    far = np.array([1.0, 2.0 * (rho / gamma) ** 2])
    right.plot(far, np.sqrt(far) * rho, color=RED, label="‖w‖ ≤ ρ√k")
    right.plot(far, far * gamma, color=GREEN, label="⟨w, u⟩ ≥ kγ")
    right.plot(count, np.linalg.norm(vectors, axis=1), ".", color="black", ms=5, label="‖w‖ after k mistakes")
    right.plot(count, vectors @ u, "x", color="0.4", ms=4, label="⟨w, u⟩ after k mistakes")
    right.axvline((rho / gamma) ** 2, color="black", lw=0.8, ls=":")
    right.annotate(
        f"(ρ/γ)² = {(rho / gamma) ** 2:.0f}",
        ((rho / gamma) ** 2, gamma),
        ha="right",
        xytext=(-4, 4),
        textcoords="offset points",
    )
    right.set(xscale="log", yscale="log", xlabel="mistakes k", title="beyond (ρ/γ)² there is no room between the two")
    right.legend(loc="upper left", fontsize=8)
    figure.savefig(path, dpi=100, metadata={"Software": None})


def pegasos(path: Path) -> None:
    """Left: suboptimality of the last iterate, the means and full subgradients. Right: primal and dual values."""
    from matplotlib.figure import Figure

    rng = np.random.default_rng(0)
    n, lam = 400, 0.01
    X = rng.standard_normal((n, 5))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.7 * rng.standard_normal(n) > 0, 1, -1)
    C = Regularization.pegasos(lam)
    best = LinearSVC(C=C, intercept_scaling=1.0, tol=1e-10).fit(X, y).certificate_.primal * lam
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    epochs = np.unique(np.round(2.0 ** np.arange(0, 9.01, 0.5)).astype(int))
    looks = {
        False: ("last iterate", RED, "o"),
        True: ("mean of all", ORANGE, "s"),
        "tail": ("mean of the tail", BLUE, "^"),
    }
    for average, (name, colour, marker) in looks.items():
        curves = []
        for seed in range(10):
            fits = [
                PegasosSVC(C=C, average=average, tol=None, n_epochs=int(e), random_state=seed).fit(X, y).certificate_
                for e in epochs
            ]
            curves.append([fit.primal * lam - best for fit in fits])
            if average == "tail" and seed == 0:
                right.fill_between(epochs, [f.dual * lam for f in fits], [f.primal * lam for f in fits], color=BLUE, alpha=0.15)
                right.plot(
                    epochs,
                    [f.primal * lam for f in fits],
                    color=BLUE,
                    marker="^",
                    ms=4,
                    label="P of the mean of the tail",
                )
                right.plot(
                    epochs,
                    [f.dual * lam for f in fits],
                    color=GREEN,
                    marker="v",
                    ms=4,
                    label="D of the shares of violations",
                )
        left.plot(epochs, np.mean(curves, axis=0), color=colour, marker=marker, ms=4, label=f"Pegasos, {name}")
    problem = Problem(X, y.astype(float), np.full(n, C.cost(n)), bias=Bias.penalized())
    full = [solve(problem, Subgradient(), tol=0.0, budget=Budget(iterations=int(e))).certificate for e in epochs]
    left.plot(epochs, [f.primal * lam - best for f in full], color="0.4", marker=".", label="all samples each step")
    left.plot(epochs, 2.0 * best / epochs, color="black", lw=0.8, ls=":", label="∝ 1/t")
    left.set(xscale="log", yscale="log", xlabel="epochs", title="P(w) − P*, mean of 10 runs")
    left.legend(fontsize=8, loc="lower left")
    right.axhline(best, color="black", lw=0.8, label="P* = D*")
    right.set(xscale="log", xlabel="epochs", title="the optimum lies in the blue", ylim=(0.6 * best, 1.5 * best))
    right.legend(fontsize=8)
    figure.savefig(path, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    perceptron(FOLDER / "online_perceptron.png")
    pegasos(FOLDER / "online_pegasos.png")
