"""Loops of sequential minimal optimisation."""
