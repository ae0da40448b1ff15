"""
Probabilities by calibration
============================

A support vector machine gives distances, not probabilities. scikit-learn's
``CalibratedClassifierCV`` turns them into probabilities: it fits a curve to
decision values of samples that were left out. The curve of the calibrated
model stays near the diagonal: of the samples that are given 70 %, roughly 70
% belong to the class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay

from maxmargin import SVC

rng = np.random.default_rng(2)
y = rng.integers(0, 2, 4000)
X = rng.standard_normal((4000, 2)) + np.outer(2 * y - 1, [0.6, 0.4])
X_test, y_test = X[500:], y[500:]
model = CalibratedClassifierCV(SVC(), ensemble=False).fit(X[:500], y[:500])
for x, (no, yes) in zip(
    X_test[:3], model.predict_proba(X_test[:3]), strict=True
):
    print(
        f"x = ({x[0]:5.2f}, {x[1]:5.2f}): "
        f"class 0 with {no:.0%}, class 1 with {yes:.0%}"
    )

figure, ax = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
CalibrationDisplay.from_estimator(
    model,
    X_test,
    y_test,
    n_bins=8,
    strategy="quantile",
    ax=ax,
    name="SVC, calibrated",
    color="#0072B2",
)
ax.set(
    aspect="equal",
    xlabel="predicted probability of class 1",
    ylabel="share of class 1 among them",
)
ax.legend(loc="upper left")
plt.show()
