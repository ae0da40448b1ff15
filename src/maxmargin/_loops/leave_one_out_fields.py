"""Positions and marks that the loops of leave-one-out share with those who call them; nothing is compiled here."""

# What is known of the left-out sample, by position in `bounds`: the ends of F(x_i), the gap, and the rounds made.
LOWER, UPPER, GAP, ROUNDS, N_BOUNDS = 0, 1, 2, 3, 4

# The settings, by position in `rules`: stop at a certain sign?; at this width; at this gap; after so many rounds of so many
# steps or sweeps; the least curvature of a pair; how much rounding may have moved F; which samples are near the margin.
AT_SIGN, WIDTH, LEAST_GAP, MAX_ROUNDS, ROUND_STEPS, FLOOR, ROUNDING, NEAR = 0, 1, 2, 3, 4, 5, 6, 7

INSIDE, LOW, HIGH = 0, 1, 2
"""Where a sample is: between its bounds or at one of them."""
