"""
What settled each left-out sample
=================================

Most samples need no retraining. A sample outside the margin has no influence,
so leaving it out changes nothing. A training error is an error without
itself, too. Below the dashed line a lemma of Joachims says that the label is
right; with a free bias, as here, that is an estimate and is not relied upon.
Only what theorems and equations leave open is retrained. Rings mark the
leave-one-out errors.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinearSVC, plot

rng = np.random.default_rng(0)
y = np.where(np.arange(80) % 2, "yes", "no")
X = 0.9 * rng.standard_normal((80, 2)) + np.outer(
    np.where(y == "yes", 1, -1), [1.1, 0.6]
)

plot.LeaveOneOutDisplay.from_estimator(LinearSVC(C=0.05), X, y)
plt.show()
