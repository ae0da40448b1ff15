"""Interior points, by Clarabel: the reference for all solvers."""
