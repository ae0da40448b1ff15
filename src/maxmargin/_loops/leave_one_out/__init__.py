"""Loops of leave-one-out."""
