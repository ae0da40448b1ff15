"""RBF values and their sums."""
