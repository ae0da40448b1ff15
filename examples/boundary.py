"""
The boundary of an RBF machine
==============================

Two half moons that no straight line separates. The solid line is F = 0, where
the label changes. The shaded street is the margin, −1 ≤ F ≤ 1. Only the
samples on the margin, inside it or on the wrong side carry the model: they
are its support vectors. The size of a mark is the weight α of its sample.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import SVC, plot

X, y = make_moons(120, noise=0.2, random_state=0)
model = SVC(C=3.0, gamma=1.0).fit(X, y)
print(model.certificate_)

plot.DecisionBoundaryDisplay.from_estimator(model, X, y)
plt.show()
