"""Kernels computed the slow, obvious way: one pair of rows at a time, in float64."""

import math

import numpy as np

from tests.kernels.draws import dense


def gram(function, X, Z):
    X, Z = dense(X), dense(Z)
    return np.array([[function(u, v) for v in Z] for u in X]).reshape(len(X), len(Z))


def inner(u, v):
    return math.fsum(a * b for a, b in zip(u, v, strict=True))


def linear(X, Z):
    return gram(inner, X, Z)


def polynomial(X, Z, degree, gamma, coef0):
    return gram(lambda u, v: (gamma * inner(u, v) + coef0) ** degree, X, Z)


def rbf(X, Z, gamma):
    return gram(lambda u, v: math.exp(-gamma * math.fsum((a - b) ** 2 for a, b in zip(u, v, strict=True))), X, Z)


def sigmoid(X, Z, gamma, coef0):
    return gram(lambda u, v: math.tanh(gamma * inner(u, v) + coef0), X, Z)


def norms(X):
    return np.linalg.norm(dense(X), axis=1)


def epsilon(K):
    return float(np.finfo(K.dtype).eps)
