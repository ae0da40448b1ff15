"""Loops of the L1 penalty."""
