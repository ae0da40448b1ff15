"""
Distance and projection
=======================

The nearest point of the line to x lies in the direction of w: the foot of x
is x − (F(x)/‖w‖²) w. The signed distance is F(x)/‖w‖. It is the same from
whichever point p of the line it is measured: the projection of x − p onto
the unit vector w/‖w‖.
"""

import matplotlib.pyplot as plt

from maxmargin import Halfspace, plot

halfspace = Halfspace([3.0, 4.0], b=-5.0)
plot.DistanceDisplay.from_halfspace(
    halfspace, [[3.0, 4.0], [0.0, 0.0], [2.5, 0.5]], through=[-1.0, 2.0]
)
plt.show()
