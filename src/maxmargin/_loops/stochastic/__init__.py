"""Loops that visit one sample after another."""
