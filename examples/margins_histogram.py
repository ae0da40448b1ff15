"""
How far from the boundary?
==========================

The margin z = yF of every training sample. Left of 0 it gets the wrong label.
Between 0 and 1 its label is right, but it lies inside the margin. From 1 on
it costs nothing. Support vectors on the margin itself stand at 1.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, plot

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC(C=0.3)).fit(X, y)

plot.MarginsDisplay.from_estimator(model, X, y)
plt.show()
