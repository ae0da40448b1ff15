"""Estimators that learn from one sample after another."""
