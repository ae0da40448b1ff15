"""Loops of the hard margin."""
