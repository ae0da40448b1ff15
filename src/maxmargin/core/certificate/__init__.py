"""The certificate: how far a candidate is from the best possible, its own rounding included."""
