"""The certificate's share of each fit: of kernel sets at their own C, and of linear sets with C = 1, gap 1e-3, without peers.

A share is of the fit's seconds, or, where several problems have threads of their own, of those of all cores. The scores that a
solver makes for its certificate count as part of it.
"""

from functools import partial
from statistics import median
from typing import Any

from benchmarks import datasets, results
from benchmarks.options import Options, select
from benchmarks.race import proof_share, worst
from benchmarks.results import Row
from benchmarks.timing import load_loops, timed_fit
from maxmargin import SVC, LinearSVC

GAP = 1e-3
"""The relative gap of all fits."""


def run(options: Options) -> None:
    """Run, print and save."""
    load_loops()
    timed_fit(SVC(), *datasets.clusters(300, 5, 3))
    rows: list[Row] = []
    chosen = select(options.data, tuple(dict.fromkeys((*datasets.KERNEL, *datasets.LINEAR))))
    kernel = [(name, "SVC", SVC, datasets.KERNEL[name].C) for name in datasets.KERNEL if name in chosen]
    linear = [(name, kind, make, 1.0) for name in datasets.LINEAR if name in chosen for kind, make in LINEAR.items()]
    for name, kind, make, C in kernel + linear:
        X, y = datasets.kernel_set(name, None) if kind == "SVC" else datasets.linear_set(name)
        rows.append({"data": name, "model": kind, "C": C, **measure(partial(make, C=C, tol=GAP), X, y, options.repeats)})
        results.save("proof_share_part" if options.is_narrowed else "proof_share", rows, repeats=options.repeats)
    results.show("the certificate's share", rows)


LINEAR = {"LinearSVC": LinearSVC, "LinearSVC, no bias": partial(LinearSVC, fit_intercept=False)}
"""The linear machines by the bias that they have."""


def measure(make: Any, X: Any, y: Any, repeats: int) -> Row:
    """The median seconds of a fit, the certificate's share of them, and the gap."""
    model = make()
    found = [proof_share(model, X, y) for _ in range(repeats)]
    return {
        "seconds": median(seconds for seconds, _ in found),
        "proof share": median(share for _, share in found),
        "our gap": worst(model.certificate_).relative_gap,
    }
