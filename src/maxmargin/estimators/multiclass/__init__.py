"""Several classes from binary problems."""
