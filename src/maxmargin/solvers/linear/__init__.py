"""Linear problems: coordinate descent and Newton steps."""
