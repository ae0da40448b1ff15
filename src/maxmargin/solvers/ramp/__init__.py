"""The ramp loss, which is not convex: drivers above `solve`."""
