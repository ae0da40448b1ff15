"""
Three classes and their regions
===============================

Irises by the length and width of their petals. `SVC` trains one machine for
each pair of classes, and each pair votes. The regions show which class wins.
A ring marks samples on a margin of some pair. Each pair has its own
certificate; the worst one is printed.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from maxmargin import SVC, plot

iris = load_iris(as_frame=True)
X = iris.data[["petal length (cm)", "petal width (cm)"]]
y = iris.target_names[iris.target]
model = SVC(C=10.0).fit(X, y)
print(model.certificate_.worst)

plot.DecisionBoundaryDisplay.from_estimator(model, X, y, aspect="auto")
plt.show()
