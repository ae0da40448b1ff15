"""Perceptron, stochastic gradients and subgradient descent."""
