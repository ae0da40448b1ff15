"""
A kernel of your own
====================

The samples are hours of the day and a temperature. 23:30 and 0:30 are close
to each other, but their numbers are not. A kernel that measures time around
the clock knows that: the region "night" goes on across midnight. Any function
of two matrices can be a kernel; `is_positive_semidefinite` checks on your
data that it is one.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVC, plot
from maxmargin.kernels import Custom


def around_the_clock(A, B):
    hours = 2 * np.pi * (A[:, None, 0] - B[None, :, 0]) / 24
    degrees = A[:, None, 1] - B[None, :, 1]
    return np.exp(2.0 * (np.cos(hours) - 1.0) - 0.02 * degrees**2)


rng = np.random.default_rng(0)
X = np.c_[rng.uniform(0, 24, 150), rng.uniform(5, 25, 150)]
height = np.cos(2 * np.pi * (X[:, 0] - 1.0) / 24) - 0.03 * (X[:, 1] - 15)
is_night = height > 0.25 + 0.25 * rng.standard_normal(150)
y = np.where(is_night, "night", "day")

kernel = Custom(around_the_clock)
print(kernel.is_positive_semidefinite(X))
model = SVC(kernel=kernel, C=3.0).fit(X, y)
limits = ((0.0, 24.0), (4.0, 26.0))
display = plot.DecisionBoundaryDisplay.from_estimator(
    model, X, y, limits=limits, aspect="auto"
)
display.ax_.set(
    xlabel="hour of the day", ylabel="temperature, °C", xticks=range(0, 25, 6)
)
plt.show()
