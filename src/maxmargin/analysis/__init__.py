"""Questions about a problem and its solution: separability, bounds."""
