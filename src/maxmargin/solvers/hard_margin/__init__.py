"""The hard margin: constraint generation and nearest points of two hulls."""
