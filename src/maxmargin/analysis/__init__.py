"""Questions about a problem and its solution: separability, leave-one-out, bounds, margins, the critical cost of L1."""
