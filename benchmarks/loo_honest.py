"""Every leave-one-out label against that of an honest fit without the sample: heart, sonar, breast_cancer, iris, digits.

An honest fit gives the sample weight 0 and goes to a relative gap of 1e-9; `gamma` and the costs stay those of all samples. Heart
and sonar are read from ../shared/data, and left out where that is missing.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import scale

from benchmarks import datasets, results
from benchmarks.options import Options, select
from benchmarks.results import Row
from benchmarks.timing import timed
from maxmargin import SVC, LinearSVC, leave_one_out

DIGITS = 300
"""Samples of digits: ten classes make 45 problems."""

NAMES = ("heart", "sonar", "breast_cancer", "iris", "digits")


def run(options: Options) -> None:
    """Run, print and save."""
    rows: list[Row] = []
    for name in select(options.data, NAMES):
        loaded = _load(name)
        if loaded is None:
            print(f"{name}: not there")
            continue
        X, y = loaded
        for model in (LinearSVC(), LinearSVC(fit_intercept=False), SVC(C=10.0, gamma=1.0 / X.shape[1])):
            rows.append(compare(name, model, X, y))
            results.save("loo_honest", rows)
    results.show("leave-one-out against honest fits", rows)


def compare(name: str, model: Any, X: Any, y: Any) -> Row:
    """How many labels differ, of those that are said to be certain and of the others."""
    found = leave_one_out(model, X, y)
    labels, seconds = timed(lambda: honest(model, X, y))
    differs = found.predictions != labels
    return {
        "data": name,
        "machine": str(model),
        "n": found.n,
        "differ": int((differs & found.is_certain).sum()),
        "undecidable": int((~found.is_certain).sum()),
        "retrained": found.n_retrained,
        "seconds": found.seconds,
        "honest seconds": seconds,
    }


def honest(model: Any, X: Any, y: Any) -> Any:
    """The label of each sample from a fit without it."""
    model, labels = clone(model).set_params(tol=1e-9), []
    for i in range(len(y)):
        weights = np.ones(len(y))
        weights[i] = 0.0
        labels.append(model.fit(X, y, weights).predict(X[[i]])[0])
    return np.array(labels)


def _load(name: str) -> Any:
    if name in ("heart", "sonar"):
        data = datasets.shared(name)
        return None if data is None else (scale(_dense(data["X_train"])), data["y_train"])
    X, y = {"breast_cancer": load_breast_cancer, "iris": load_iris, "digits": load_digits}[name](return_X_y=True)
    return (scale(X)[:DIGITS], y[:DIGITS]) if name == "digits" else (scale(X), y)


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
