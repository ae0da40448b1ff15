"""Draw the picture of README and of the front page: ``python docs/draw_front.py``. Needs the extra "plot"."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVC, PegasosSVC, Regularization, plot

FILE = Path(__file__).parent / "front.png"


def draw_machine(ax: Any) -> None:
    """An RBF machine with its margin; support vectors sized by their dual variables."""
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = SVC(C=3.0, gamma=1.0).fit(X, y)
    plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title("The model: boundary, margin, support vectors", loc="left", fontsize=11)


def draw_proof(ax: Any) -> None:
    """Primal and dual values of a fit: the optimum lies between them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 20))
    y = X @ rng.standard_normal(20) + 2.0 * rng.standard_normal(4000) > 0
    model = PegasosSVC(C=Regularization.pegasos(1e-2), tol=2e-4, n_epochs=400).fit(X, y)
    plot.GapDisplay([model.trace_], shows="values", against="rounds").plot(ax)
    ax.set_title("The proof: the optimum lies between", loc="left", fontsize=11)


def main() -> None:
    """Both, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.35, 1])
    draw_machine(left)
    draw_proof(right)
    figure.savefig(FILE, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
