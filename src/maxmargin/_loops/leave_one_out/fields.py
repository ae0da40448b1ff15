"""Positions and marks that the loops of leave-one-out share with those who call them; nothing is compiled here."""

# What is known of the left-out sample, by position in `bounds`: the ends of F(x_i), the gap, whether at least half of the gap is
# rounding, so that a better β would tell no more, and the bias at which the gap was summed.
LOWER, UPPER, GAP, EXHAUSTED, BIAS, N_BOUNDS = 0, 1, 2, 3, 4, 5

INSIDE, LOW, HIGH = 0, 1, 2
"""Where a sample is: between its bounds or at one of them."""
