"""Small fitted models of every kind, for the tests of files."""

import warnings
from functools import cache

import numpy as np
import scipy.sparse as sp

from maxmargin import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron, Regularization
from maxmargin.kernels import RBF, Polynomial
from maxmargin.solvers import SMO

NAMES = np.array(["ant", "bee", "cat"])


def samples(n_classes=2, n=24, d=3, seed=0):
    """Clouds about the corners, a little apart: (X, class numbers)."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return np.round(rng.normal(size=(n, d)) + 3.0 * np.eye(d)[y % d], 3), y


MAKERS = {
    "svc_rbf": lambda: SVC(C=Regularization.mean(30.0), class_weight={"ant": 2.0, "bee": 1.0}).fit(*_named(2)),
    "svc_rbf_3": lambda: SVC(kernel=RBF(0.25), C=2.0).fit(*_named(3)),
    "svc_poly_float32": lambda: SVC(kernel=Polynomial(2, 0.5, 1.0)).fit(_named(3)[0].astype(np.float32), _named(3)[1]),
    "svc_sigmoid": lambda: SVC(kernel="sigmoid", gamma=0.01, decision_function_shape="ovo").fit(*samples(3)),
    "svc_linear_sparse": lambda: SVC(kernel="linear", solver=SMO(shrinking=False)).fit(_sparse(2), samples(2)[1] * 2 - 1),
    "svc_rbf_sparse_float32": lambda: SVC(gamma=0.5).fit(sp.csr_matrix(_sparse(3).astype(np.float32)), samples(3)[1]),
    "svc_precomputed": lambda: SVC(kernel="precomputed").fit(samples(3)[0] @ samples(3)[0].T, samples(3)[1]),
    "svc_hard": lambda: SVC(C=np.inf, kernel="rbf", gamma=2.0).fit(*samples(2)),
    "hard_margin": lambda: HardMarginSVC(kernel="rbf", gamma=2.0).fit(samples(3)[0], samples(3)[1] == 1),
    "linear": lambda: LinearSVC(C=3.0, class_weight="balanced").fit(*_named(2)),
    "linear_3": lambda: LinearSVC("l2", "squared_hinge", intercept_scaling=1.0).fit(samples(3)[0], samples(3)[1] * 2.0),
    "linear_l1": lambda: LinearSVC("l1", C=0.5).fit(*_named(2)),
    "linear_ramp": lambda: LinearSVC(loss="ramp", C=5.0, n_starts=2).fit(*samples(3, 30, seed=3)),
    "svc_ramp": lambda: SVC(loss="ramp", C=5.0).fit(samples(2, 30, seed=3)[0], np.arange(30) % 7 < 3),
    "pegasos": lambda: PegasosSVC(n_epochs=40).fit(*_named(3)),
    "pegasos_rbf": lambda: PegasosSVC(kernel="rbf", C=Regularization.pegasos(0.05), n_epochs=60).fit(*samples(2)),
    "pegasos_stream": lambda: _stream(PegasosSVC(C=Regularization.pegasos(0.05)), samples(3)),
    "perceptron_stream": lambda: _stream(Perceptron(output="averaged"), samples(3)),
    "perceptron": lambda: Perceptron(max_iter=30, margin="compute").fit(*_named(2)),
    "perceptron_voted": lambda: Perceptron(kernel="rbf", gamma=0.5, output="voted", max_iter=30).fit(*_named(3)),
}  # fmt: skip


def _named(n_classes):
    X, y = samples(n_classes)
    return X, NAMES[y]


def _sparse(n_classes):
    X, _ = samples(n_classes)
    return sp.csr_array(np.where(np.abs(X) < 0.7, 0.0, X))


def _stream(model, data):
    X, y = data
    return model.partial_fit(X[:13], y[:13], classes=[0, 1, 2]).partial_fit(X[13:], y[13:])


@cache
def model(name):
    """A fitted model, the same each time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some end on their budget
        return MAKERS[name]()


def new_samples(fitted, n=50):
    """Samples to ask a model about: its kernel's rows where that is precomputed."""
    X = samples(3, n, seed=9)[0]
    return X @ samples(3)[0].T if fitted.n_features_in_ == 24 else X
