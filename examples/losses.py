"""
The losses side by side
=======================

What one sample costs, depending on z = yF: negative on the wrong side,
between 0 and 1 inside the margin, above 1 outside it. The hinge is convex and
nowhere below the 0–1 loss, so a small hinge loss means few errors. The ramp
stops growing at 1, so that a sample far on the wrong side has no more
influence than one just over the line.
"""

import matplotlib.pyplot as plt

from maxmargin import plot

plot.LossesDisplay.from_losses()
plt.show()
