"""Compiled loops: arrays and scalars only. The one place that imports numba; imports nothing of ours."""
