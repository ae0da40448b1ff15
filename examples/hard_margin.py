"""
The hard margin and its support vectors
=======================================

The two classes can be separated, and the hard margin chooses the line that is
furthest from both. Three samples touch the margin, those with a ring. They
alone decide: if all others are taken away, the line stays where it is. The
last line printed checks that.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import HardMarginSVC, plot

rng = np.random.default_rng(4)
y = np.repeat(["left", "right"], 20)
side = np.where(y == "left", -1.0, 1.0)
X = rng.standard_normal((40, 2)) + np.outer(side, [2.2, 1.1])

model = HardMarginSVC().fit(X, y)
few = HardMarginSVC().fit(X[model.support_], y[model.support_])
print(model.certificate_)
print(f"{len(model.support_)} support vectors")
same = np.allclose(model.coef_, few.coef_)
print("the same line from these alone:", same)

plot.DecisionBoundaryDisplay.from_estimator(model, X, y)
plt.show()
