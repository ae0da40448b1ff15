"""Models of every kind with their data, for the tests of the report."""

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

from maxmargin import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron


def clouds(n=60, d=2, apart=3.0):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.standard_normal((n, d)) + apart * np.outer(y, np.ones(d)) / np.sqrt(d), np.where(y > 0, "yes", "no")


def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y, "benign", "malignant")


def texts():
    """Sparse rows of length 1 with a few words each."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.4, "spam", "ham")
    X = sp.random_array((300, 500), density=0.03, rng=rng, format="csr").tolil()
    X[np.flatnonzero(y == "spam"), 7] = 1.0
    return sp.csr_array(X), y


def gram():
    X, y = clouds(d=4, apart=1.0)
    return X @ X.T, y


MODELS = {
    "iris, three classes": (SVC(C=3.0), iris),
    "breast cancer, linear": (LinearSVC(C=0.1), cancer),
    "texts, sparse": (LinearSVC(C=1.0), texts),
    "hard margin, two features": (HardMarginSVC(), clouds),
    "hard margin, rbf": (HardMarginSVC(kernel="rbf"), clouds),
    "rbf, two features": (SVC(), lambda: clouds(apart=1.0)),
    "one feature": (LinearSVC(), lambda: clouds(d=1, apart=1.0)),
    "three classes, linear": (LinearSVC(), iris),
    "squared hinge": (LinearSVC(loss="squared_hinge"), lambda: clouds(d=3, apart=1.0)),
    "L1 penalty": (LinearSVC("l1", C=0.1), cancer),
    "ramp": (LinearSVC(loss="ramp"), lambda: clouds(apart=1.0)),
    "ramp, three classes": (SVC(loss="ramp"), iris),
    "Gram matrix": (SVC(kernel="precomputed"), gram),
    "Pegasos": (PegasosSVC(n_epochs=1000), lambda: clouds(d=5, apart=1.0)),
    "Pegasos, rbf": (PegasosSVC(kernel="rbf", n_epochs=1000), clouds),
    "perceptron": (Perceptron(margin="compute"), clouds),
    "perceptron, three classes": (Perceptron(max_iter=5), iris),
    "perceptron, rbf": (Perceptron(kernel="rbf"), lambda: clouds(d=5)),
}
