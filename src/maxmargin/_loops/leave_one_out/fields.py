"""Positions and marks that the loops of leave-one-out share with those who call them; nothing is compiled here."""

# What is known of the left-out sample, by position in `bounds`: the ends of F(x_i), the gap, the rounds made, and whether at
# least half of the gap is rounding, so that more rounds would tell no more.
LOWER, UPPER, GAP, ROUNDS, EXHAUSTED, N_BOUNDS = 0, 1, 2, 3, 4, 5

# The settings, by position in `rules`: stop at a certain sign?; at this width; after so many rounds of so many steps or sweeps;
# the least curvature of a pair; which samples are near the margin; the slope in b that is surely zero, and the one that may be.
AT_SIGN, WIDTH, MAX_ROUNDS, ROUND_STEPS, FLOOR, NEAR, LEAST_SLOPE, MOST_SLOPE = 0, 1, 2, 3, 4, 5, 6, 7

INSIDE, LOW, HIGH = 0, 1, 2
"""Where a sample is: between its bounds or at one of them."""
