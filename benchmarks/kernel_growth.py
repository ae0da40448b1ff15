"""How our kernel training grows: log-log slopes of its seconds in samples, and in samples × support vectors.

Two axes: samples of one mixture of clusters, whose support vectors grow with them; and the same number of samples
with clusters that overlap more and more, so that only the support vectors grow. 1 in samples × support vectors is
time in proportion to the kernel values that a fit cannot do without.
"""

from statistics import median

from benchmarks import results
from benchmarks.datasets import clusters
from benchmarks.linear_growth import slope
from benchmarks.options import Options
from benchmarks.results import Row
from benchmarks.timing import timed_fit
from maxmargin import SVC

COLUMNS, SPREAD = 20, 0.7
SIZES = (2_500, 5_000, 10_000, 20_000, 40_000)
SPREADS = (0.4, 0.6, 0.8, 1.0, 1.2)


def run(options: Options) -> None:
    """Run, print and save."""
    rows: list[Row] = []
    most = options.rows or max(SIZES)
    sizes = [most * n // max(SIZES) for n in SIZES]
    for C, gap in options.cases or ((1.0, 1e-3),):
        for axis, shapes in (
            ("samples", [(n, SPREAD) for n in sizes]),
            ("support vectors", [(sizes[2], spread) for spread in SPREADS]),
        ):
            rows += along(axis, shapes, C, gap, options.repeats)
            results.save("kernel_growth", rows)
    results.show("growth of kernel training", rows)


def along(axis: str, shapes: list[tuple[int, float]], C: float, gap: float, repeats: int) -> list[Row]:
    """A row for each shape (samples, spread of the clusters), with the slopes along all of them."""
    rows: list[Row] = []
    for n, spread in shapes:
        X, y = clusters(n, COLUMNS, 2, spread=spread)
        fits = [timed_fit(SVC(C, tol=gap), X, y) for _ in range(repeats)]
        model = fits[0][0]
        rows.append(
            {
                "axis": axis,
                "C": C,
                "gap": gap,
                "samples": n,
                "support vectors": len(model.support_),
                "solver": model.solver_.split(":")[0],
                "our gap": model.certificate_.relative_gap,
                "seconds": median(seconds for _, seconds in fits),
            }
        )
    seconds = [row["seconds"] for row in rows]
    products = [row["samples"] * row["support vectors"] for row in rows]
    slopes = {
        "slope": slope([row[axis] for row in rows], seconds),
        "slope in samples × support vectors": slope(products, seconds),
    }
    return [row | slopes for row in rows]
