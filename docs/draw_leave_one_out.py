"""Draw the picture of leave_one_out.md: ``python docs/draw_leave_one_out.py``. Needs the extra "plot"."""

from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import LinearSVC, SettledBy, leave_one_out

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREEN, RED, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9"
"""Colours of Okabe and Ito, told apart by the colour-blind."""

LOOKS = {
    SettledBy.OUTSIDE: ("outside the margin", GREEN, "o"),
    SettledBy.BALL: ("settled by the ball", BLUE, "s"),
    SettledBy.TRAINING_ERROR: ("training error", RED, "X"),
    SettledBy.EQUATIONS: ("settled by the equations", SKY, "^"),
    SettledBy.RETRAINED: ("retrained", ORANGE, "D"),
}


def unit_rows(n: int, d: int, seed: int) -> tuple[Any, Any]:
    """Non-negative rows of length 1, as texts have them, with labels that a direction tells up to noise."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.4) + 0.02
    X /= np.linalg.norm(X, axis=1)[:, None]
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + 0.12 * rng.normal(size=n) > np.median(scores), 1, -1)


def verdicts(path: Path) -> None:
    """α against ξ, the lemma's line, and what settled each sample; the wrong ones are ringed."""
    from matplotlib.figure import Figure

    X, y = unit_rows(300, 12, 3)
    C = 0.8
    weights = np.random.default_rng(1).uniform(0.1, 1.0, len(y))  # so that the largest α differ
    result = leave_one_out(LinearSVC(C=C, fit_intercept=False), X, y, weights)
    alpha, xi = result.xi_alpha.alpha, result.xi_alpha.xi
    wrong = result.predictions != y
    rng = np.random.default_rng(0)
    figure = Figure(figsize=(9.2, 4.4), layout="constrained")
    axes = figure.subplots()
    spread = np.where(xi > 1e-6, 0.0, rng.uniform(-0.05, 0.0, len(y)))  # those without slack lie on one line
    for how, (name, colour, marker) in LOOKS.items():
        mine = result.settled_by == how
        label = f"{name}: {int(mine.sum())}"
        axes.scatter((xi + spread)[mine], alpha[mine], color=colour, marker=marker, s=22, alpha=0.8, lw=0, label=label, zorder=3)
    axes.scatter(
        (xi + spread)[wrong], alpha[wrong], s=70, facecolor="none", edgecolor="black", lw=0.8, zorder=4,
        label=f"leave-one-out errors: {int(wrong.sum())}",
    )  # fmt: skip
    ends = np.array([0.0, 1.0])
    axes.plot(ends, (1.0 - ends) / 2.0, color="0.4", ls="--", lw=1.2, label="2α + ξ = 1: the text's lemma")
    axes.plot(ends, 1.0 - ends, color="black", lw=1.2, label="α + ξ = 1: the theorem without a bias")
    axes.axvline(1.0, color=RED, lw=1.0, ls=":")
    axes.text(1.02, 0.03, "ξ > 1: wrong already", color=RED, fontsize=9)
    axes.set(
        xlabel="slack ξ",
        ylabel="dual variable α",
        xlim=(-0.08, max(1.6, float(xi.max()) + 0.05)),
        ylim=(-0.03, C * 1.08),
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9, frameon=False)
    axes.set_title(f"{len(y)} samples, {result.n_retrained} of them retrained, error {result.error:.1%}", fontsize=11)
    figure.savefig(path, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    verdicts(FOLDER / "leave_one_out.png")
