"""
One trade-off, many spellings
=============================

Books write the same problem with C, C/n, λ or λ/2. `Regularization` converts
between them. The left picture gives every spelling the same number and gets
different models. The right one converts: a C that was found on 50 samples is
kept as C/n, so that the balance between margin and slacks stays the same when
there are more samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinearSVC, Regularization

found = Regularization.sum(0.1)
for spelling in ("sum", "mean", "tikhonov", "pegasos", "ridge"):
    print(f"{spelling:9} {found.to(spelling, n=50)}")


def cloud(n):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.standard_normal((n, 2)) + np.outer(y, [0.8, 0.4]), y


sizes = [50, 100, 200, 400, 800, 1600]
kept = found.to("mean", n=50)
spellings = {
    name: getattr(Regularization, name)(0.1)
    for name in ("sum", "mean", "tikhonov", "pegasos", "ridge")
}
X, y = cloud(50)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained"
)
norms = [
    np.linalg.norm(LinearSVC(C=C).fit(X, y).coef_) for C in spellings.values()
]
left.bar(list(spellings), norms, color="#0072B2")
left.set(ylabel="‖w‖", title="the number 0.1 in each spelling")
for C, words, colour, line in (
    (found, "sum(0.1)", "#D55E00", "--"),
    (kept, f"mean({kept.value:g})", "#0072B2", "-"),
):
    margins = [
        1 / np.linalg.norm(LinearSVC(C=C).fit(*cloud(n)).coef_) for n in sizes
    ]
    right.plot(
        sizes,
        margins,
        marker="o",
        color=colour,
        ls=line,
        label=f"C = Regularization.{words}",
    )
right.set(
    xscale="log",
    xlabel="samples",
    ylabel="margin 1/‖w‖",
    title="the same C, more samples",
)
right.set_xticks(sizes, sizes, minor=False)
right.minorticks_off()
right.legend()
plt.show()
