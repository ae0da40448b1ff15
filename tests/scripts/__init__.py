"""Forty typical scripts around support vector machines. Each takes the module that it imports `SVC` and `LinearSVC` from."""
