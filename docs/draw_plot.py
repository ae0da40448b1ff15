"""Draw the pictures of plot.md: ``python docs/draw_plot.py``. Needs the extra "plot"."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, make_moons

from maxmargin import SVC, LinearSVC, PegasosSVC, Regularization, l1_path, plot

FOLDER = Path(__file__).parent


def clouds(n: int) -> tuple[Any, Any]:
    """Two clouds of the plane that overlap a little."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.standard_normal((n, 2)) * 0.9 + np.outer(y, [1.1, 0.6]), np.where(y > 0, "yes", "no")


def save(display: Any, name: str) -> None:
    """A small PNG."""
    display.figure_.savefig(FOLDER / f"plot_{name}.png", dpi=80, metadata={"Software": None})


def main() -> None:
    """Draw them all."""
    X, y = clouds(80)
    moons, side = make_moons(120, noise=0.2, random_state=0)
    model = SVC(C=3.0, gamma=1.0).fit(moons, side)
    save(plot.DecisionBoundaryDisplay.from_estimator(model, moons, side), "boundary")
    flowers = load_iris()
    petals, names = flowers.data[:, 2:], flowers.target_names[flowers.target]
    save(plot.DecisionBoundaryDisplay.from_estimator(SVC(C=10.0).fit(petals, names), petals, names), "regions")
    save(plot.GapDisplay.from_training(model, moons, side), "values")
    save(plot.CostEffectDisplay.from_estimator(LinearSVC(), X, y), "cost_effect")
    save(plot.SlackDisplay.from_estimator(LinearSVC(C=0.3).fit(X, y), X, y), "slack")
    save(plot.LossesDisplay.from_losses(), "losses")
    rng = np.random.default_rng(0)
    big = rng.standard_normal((4000, 20))
    label = np.where(big @ rng.standard_normal(20) + 2.0 * rng.standard_normal(4000) > 0, 1, 0)
    slow = PegasosSVC(C=Regularization.pegasos(1e-3), tol=1e-3).fit(big, label)
    save(plot.GapDisplay.from_estimator(slow), "gap")
    few = np.where(big[:150] @ np.r_[2.0, -1.5, 1.0, 0.7, np.zeros(16)] + rng.standard_normal(150) > 0, 1, 0)
    save(plot.L1PathDisplay.from_path(l1_path(big[:150], few, Cs=40), n_named=4), "l1_path")
    save(plot.LeaveOneOutDisplay.from_estimator(LinearSVC(C=0.05), X, y), "leave_one_out")
    save(plot.MarginsDisplay.from_estimator(slow, big, label), "margins")


if __name__ == "__main__":
    main()
