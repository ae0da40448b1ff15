"""ρ²B² against d on documents: section 15.2.2 of Shalev-Shwartz & Ben-David, measured.

Reuters ModApte, one topic against the rest, LinearSVC without a bias on the training documents. Rows say which words occur (0 or
1), as the book's example has them, or are tf-idf of length 1. B is the norm of the model's w, d the number of words that occur,
the hinge loss a mean over the training documents; the error is that on the test documents.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import results
from benchmarks.loo_sets import task
from benchmarks.options import Options, select
from benchmarks.results import Row
from maxmargin import LinearSVC, losses, theory

TOPICS = ("earn", "acq", "grain")

COSTS = (0.01, 1.0)
"""The values of C."""


def run(options: Options) -> None:
    """Run, print and save."""
    rows: list[Row] = []
    for topic in select(options.data, TOPICS):
        found = task(f"reuters:{topic}", options.rows)
        for kind, turned in (("words, 0 or 1", occurrences), ("tf-idf, length 1", sp.csr_matrix)):
            for C in COSTS:
                rows.append(measure(topic, kind, C, turned(found.X), found.y, turned(found.X_test), found.y_test))
    results.save("reuters_capacity_part" if options.is_narrowed else "reuters_capacity", rows)
    results.show("ρ²B² against d", rows)


def occurrences(X: Any) -> Any:
    """1 where a word occurs."""
    return sp.csr_matrix((X != 0).astype(np.float64))


def measure(topic: str, kind: str, C: float, X: Any, y: Any, X_test: Any, y_test: Any) -> Row:
    """One model."""
    model = LinearSVC(C=C, fit_intercept=False).fit(X, y)
    found = theory.capacity(model, X)
    z = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    return {
        "topic": topic,
        "rows": kind,
        "C": C,
        "n": len(y),
        "ρ²": found.rho2,
        "B²": found.norm2,
        "ρ²B²": found.product,
        "d": found.d,
        "hinge loss": float(losses.Hinge().value(z).mean()),
        "error %": 100.0 * float(np.mean(model.predict(X_test) != y_test)),
    }
