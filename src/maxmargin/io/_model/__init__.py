"""The model file: data, not code."""
