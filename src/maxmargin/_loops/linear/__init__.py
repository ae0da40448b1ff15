"""Loops over rows, for linear solvers."""
