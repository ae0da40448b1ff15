"""Kernel problems: sequential minimal optimisation on working sets."""
