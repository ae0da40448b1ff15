"""
The proof closes: primal and dual values
========================================

While a fit goes on, two numbers move towards each other. The primal value is
the objective that the model achieves. The dual value is a bound that no model
can beat. The optimum lies between them, so their distance says how good the
model is, whoever computed it. A fit ends when the distance is at most
``tol``.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import SVC, plot

X, y = make_moons(200, noise=0.25, random_state=0)
model = SVC(C=3.0, gamma=1.0, tol=1e-4).fit(X, y)
print(model.certificate_)

plot.GapDisplay.from_training(model, X, y)
plt.show()
