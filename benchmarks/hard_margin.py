"""The hard margin against scikit-learn's SVC(kernel="linear", C=1e6), and separability on data that overlap.

scikit-learn runs at its default tolerance; the gap of what it returns is certified by us (its w scaled to a margin of 1) and
stands in its own column. Times are medians of runs in turn. Loops are compiled before: the seconds that took stand first.
"""

import time
from statistics import median
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks import datasets, results
from benchmarks.options import Options
from benchmarks.summary import geometric_mean
from benchmarks.timing import timed_fit
from maxmargin import HardMarginSVC, separability
from maxmargin.core import Candidate, Problem, certify

PEER_LIMIT = 50_000
"""scikit-learn is not asked beyond this many samples: it would take minutes to hours."""


def run(options: Options) -> None:
    """Run, print and save."""
    started = time.perf_counter()
    HardMarginSVC(solver="constraint_generation").fit([[0.0], [1.0]], [0, 1])
    print(f"compiled loops loaded or made in {time.perf_counter() - started:.1f} s")
    sets = {
        "20 000 × 50, margin 0.05": datasets.separable(20_000, 50, 0.05),
        "20 000 × 50, margin 0.5": datasets.separable(20_000, 50, 0.5),
        "5 000 × 200, margin 0.1": datasets.separable(5_000, 200, 0.1),
        "200 000 × 50, margin 0.05": datasets.separable(200_000, 50, 0.05),
        "array_golub (72 × 7129)": datasets.genes("array_golub"),
        "array_alon (62 × 2000)": datasets.genes("array_alon"),
    }
    rows = [_against_scikit_learn(name, X, y, options.repeats) for name, (X, y) in sets.items()]
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    results.show(f"hard margin: geometric mean {geometric_mean(ratios):.1f} ×", rows)
    results.save("hard_margin", rows)
    overlap = [_overlap(f"{n} × {d}", *datasets.overlapping(n, d)) for n, d in ((2_000, 20), (20_000, 50), (200_000, 50))]
    results.show("separability of overlapping classes", overlap)
    results.save("separability", overlap)


def _against_scikit_learn(name: str, X: Any, y: Any, repeats: int) -> dict[str, Any]:
    ours, theirs = [], []
    peer = None
    for _ in range(repeats):
        model, seconds = timed_fit(HardMarginSVC(), X, y)
        ours.append(seconds)
        if len(X) <= PEER_LIMIT:
            peer, seconds = timed_fit(SVC(kernel="linear", C=1e6), X, y)
            theirs.append(seconds)
    return {
        "data": name,
        "seconds": median(ours),
        "gap": model.certificate_.relative_gap,
        "support": int(model.n_support_.sum()),
        "scikit-learn": median(theirs) if theirs else "",
        "its gap": _peer_gap(peer, X, y) if peer is not None else "",
        "ratio": median(theirs) / median(ours) if theirs else "",
    }


def _peer_gap(peer: Any, X: Any, y: Any) -> float:
    sign = np.where(y == peer.classes_[1], 1.0, -1.0)
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    problem = Problem(np.asarray(X, dtype=np.float64), sign, cost=np.full(len(y), np.inf))
    return certify(problem, Candidate(peer.coef_[0], float(peer.intercept_[0]), beta)).relative_gap


def _overlap(name: str, X: Any, y: Any) -> dict[str, Any]:
    started = time.perf_counter()
    verdict = separability(X, y)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    check = verdict.check()
    return {
        "data": name,
        "seconds": seconds,
        "verdict": type(verdict).__name__,
        "check": "exact" if check and check.is_exact else str(bool(check)),
        "check seconds": time.perf_counter() - started,
    }
