"""The L1 penalty: coordinate descent, linear programs, an interior point."""
