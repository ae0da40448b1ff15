"""
Learning from a stream
======================

The data arrive in pieces of 100 samples and are not kept. Each piece is
predicted before it is used for training, so the errors are honest. After half
of the stream the rule changes: the error jumps, and then falls again as the
model learns the new rule. Pegasos weighs all pieces alike, so it changes its
mind more slowly than the perceptron, and is steadier where the rule stays the
same.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import PegasosSVC, Perceptron, Regularization


def pieces(n_pieces):
    rng = np.random.default_rng(0)
    for k in range(n_pieces):
        w = [1.0, -1.0, 0.0] if k < n_pieces // 2 else [1.0, 0.0, 1.0]
        X = rng.standard_normal((100, 3))
        scores = X @ w + 0.4 * rng.standard_normal(100)
        yield X, np.where(scores > 0, "up", "down")


learners = {
    "Pegasos": PegasosSVC(C=Regularization.pegasos(1e-2)),
    "perceptron": Perceptron(),
}
errors = {name: [] for name in learners}
for number, (X, y) in enumerate(pieces(80)):
    for name, learner in learners.items():
        if number > 0:
            errors[name].append(np.mean(learner.predict(X) != y))
        learner.partial_fit(X, y, classes=["down", "up"])

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, found), colour in zip(
    errors.items(), ("#0072B2", "#D55E00"), strict=True
):
    smooth = np.convolve(found, np.full(5, 0.2), mode="valid")
    ax.plot(range(1, 80), found, ".", color=colour, alpha=0.35)
    ax.plot(
        range(5, 80),
        smooth,
        color=colour,
        lw=2,
        label=f"{name}, mean of five pieces",
    )
ax.axvline(40, color="black", lw=1, ls=":")
ax.text(40.6, 0.42, "the rule changes", fontsize=9)
ax.set(
    xlabel="piece of 100 samples",
    ylabel="error before training on it",
    ylim=(0, 0.5),
)
ax.legend(loc="upper left")
plt.show()
