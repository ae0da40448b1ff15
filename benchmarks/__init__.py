"""Benchmarks at equal certified gap: ``python -m benchmarks SUITE``."""
