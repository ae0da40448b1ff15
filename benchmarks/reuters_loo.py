"""The experiment of Joachims' lecture again: leave-one-out against the error on validation documents, over ten splits of Reuters.

Reuters ModApte has 12 902 documents; each split takes 6451 of them for training and 6451 for validation. The rows are tf-idf of
length 1 (so R = 1), with idf from all documents: from the training half alone, a word of one document would count where this
document is left out and not where it is validated. The machine is linear with a free bias. The lecture names neither its topic
nor its C, so a topic is told apart with several C. Beside each other stand: the share of samples with 2αR² + ξ ≥ 1 (its bound),
its algorithm with its retrainings, exact leave-one-out, and the validation error. WebKB and Ohsumed, its other two sets, are
halved in the same way; our collections are other selections of their documents, so n differs.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

from benchmarks import results
from benchmarks.datasets import is_real, shared, zipf
from benchmarks.options import Options, select
from benchmarks.results import Row
from maxmargin import LinearSVC, leave_one_out, theory

SPLITS = 10
"""Test and training splits, as in the lecture."""

SETS = ("reuters:earn", "webkb:student", "ohsumed:largest")
"""Collection and topic."""

COSTS = (0.05, 0.1, 0.25, 1.0)
"""The values of C."""

GAP = 1e-5
"""Relative gap of each fit: that of the library's default leaves the label of a document near a tie open."""

PUBLISHED = {"reuters": (6451, 0.58, 32.3), "webkb": (2092, 20.42, 235.4), "ohsumed": (10_000, 2.56, 1132.3)}
"""Of the lecture: n, the share of retraining steps in percent, and seconds of CPU time."""

SOURCES = {"reuters": "reuters_modapte", "webkb": "webkb4_cachopo", "ohsumed": "ohsumed_single23"}


class Split(NamedTuple):
    """Training and validation documents."""

    X: Any
    y: Any
    X_validation: Any
    y_validation: Any


def run(options: Options) -> None:
    """Run, print, save and draw."""
    suite = "reuters_loo_part" if options.is_narrowed else "reuters_loo"
    rows: list[Row] = []
    for name in select(options.data, SETS):
        X, y = documents(name)
        for C in COSTS:
            measured = [measure(split, C) for split in splits(X[: options.rows], y[: options.rows])]
            rows.append(summary(name, C, measured))
            results.save(suite, rows, splits=SPLITS)
    finish(suite)


def finish(suite: str) -> None:
    """Print the saved rows and draw them."""
    rows = results.load(suite)
    results.show("leave-one-out against validation", rows)
    draw(
        rows,
        Path(__file__).parent.parent / "docs" / "reuters_loo.png" if suite == "reuters_loo" else results.FOLDER / f"{suite}.png",
    )


def documents(name: str) -> tuple[Any, Any]:
    """(tf-idf rows of length 1, whether a document is of the topic) of a whole collection; synthetic where it is missing."""
    kind, _, topic = name.partition(":")
    if not is_real(SOURCES[kind]):
        return zipf(2000, 4000, 40)
    data = shared(SOURCES[kind])
    counts = sp.csr_matrix(sp.vstack([data["X_train"], data["X_test"]]))
    if kind == "reuters":
        column = list(data["topics"]).index(topic)
        labels = sp.csc_matrix(sp.vstack([data["Y_train"], data["Y_test"]]))[:, [column]].toarray().ravel()
        return unit_rows(counts), (labels > 0).astype(int)
    labels = np.concatenate([data["y_train"], data["y_test"]])
    wanted = list(data["classes"]).index(topic) if kind == "webkb" else np.argmax(np.bincount(labels))
    return unit_rows(counts), (labels == wanted).astype(int)


def unit_rows(counts: Any) -> Any:
    """Counts times ln(n / documents with the word), as rows of length 1; empty documents stay empty."""
    found = np.bincount(counts.indices, minlength=counts.shape[1])
    X = sp.csr_matrix(counts @ sp.diags(np.log(counts.shape[0] / np.maximum(found, 1))))
    X.eliminate_zeros()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ X)


def splits(X: Any, y: Any) -> Iterator[Split]:
    """Random halves, with the same share of the topic in both."""
    for seed in range(SPLITS):
        train, rest = train_test_split(np.arange(len(y)), train_size=len(y) // 2, stratify=y, random_state=seed)
        yield Split(X[train], y[train], X[rest], y[rest])


def measure(split: Split, C: float) -> Row:
    """One split: his algorithm, the exact one, and the validation error; percent and seconds."""
    model = LinearSVC(C=C, tol=GAP)
    his, exact = theory.joachims_leave_one_out(model, split.X, split.y), leave_one_out(model, split.X, split.y)
    predicted = model.fit(split.X, split.y).predict(split.X_validation)
    differ, skipped = his.is_error != (exact.predictions != split.y), his.cases != theory.InfluenceCase.RETRAINED
    return {
        "bound %": 100.0 * his.upper,
        "his error %": 100.0 * his.error,
        "his retrained %": 100.0 * his.share,
        "his seconds": his.seconds,
        "exact error %": 100.0 * exact.error,
        "exact retrained %": 100.0 * exact.n_retrained / exact.n,
        "exact seconds": exact.seconds,
        "validation %": 100.0 * float(np.mean(predicted != split.y_validation)),
        "n": len(split.y),
        "differ, skipped": int(np.sum(differ & skipped)),
        "differ, retrained": int(np.sum(differ & ~skipped)),
    }


def summary(name: str, C: float, measured: list[Row]) -> Row:
    """Means over the splits, with two standard deviations, beside what was published; labels that differ, over all splits."""
    kind = name.partition(":")[0]
    means = {key: fmean(row[key] for row in measured) for key in measured[0] if not key.startswith(("n", "differ"))}
    spread = {f"± {key}": float(np.std([row[key] for row in measured], ddof=1)) for key in ("exact error %", "validation %")}
    title = name if is_real(SOURCES[kind]) else f"{name} (synthetic)"
    n, share, seconds = PUBLISHED[kind]
    differ = {key: sum(row[key] for row in measured) for key in measured[0] if key.startswith("differ")}
    head = {"data": title, "C": C, "n": measured[0]["n"]}
    return {**head, **means, **spread, **differ, "published n": n, "published retrained %": share, "published seconds": seconds}


ERRORS = {
    "bound %": ("2αR² + ξ ≥ 1", {"color": "#E69F00", "marker": "_", "ms": 12, "mew": 2.5, "ls": ":"}),
    "his error %": ("his algorithm", {"color": "#56B4E9", "marker": "s", "ms": 11, "mfc": "none", "mew": 1.6, "ls": "none"}),
    "exact error %": ("exact leave-one-out", {"color": "#0072B2", "marker": "o", "ms": 6, "ls": "-"}),
    "validation %": ("validation", {"color": "black", "marker": "x", "ms": 6, "mew": 1.6, "ls": "none"}),
}
"""The columns of the upper panels, with their names and looks."""


def draw(rows: list[Row], path: Path) -> bool:
    """For each collection, against C: above the errors, below the share of samples that were retrained."""
    try:
        import matplotlib.figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return False
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = matplotlib.figure.Figure(figsize=(3.2 * len(names), 5.4), layout="constrained")
    panels = figure.subplots(2, len(names), sharex=True, squeeze=False)
    for name, (above, below) in zip(names, panels.T, strict=True):
        mine = [row for row in rows if row["data"] == name]
        costs = [row["C"] for row in mine]
        for key, (label, looks) in ERRORS.items():
            above.plot(costs, [row[key] for row in mine], label=label, **looks)
        for key, look in (("his retrained %", "his error %"), ("exact retrained %", "exact error %")):
            below.plot(costs, [row[key] for row in mine], **ERRORS[look][1])
        below.axhline(mine[0]["published retrained %"], color="0.5", ls="--", lw=1.0)
        text = f"published: {mine[0]['published retrained %']:g} % (n = {mine[0]['published n']:.0f})"
        below.annotate(
            text, (0.98, mine[0]["published retrained %"]), (0, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", fontsize=8, color="0.35",
        )  # fmt: skip
        above.set_title(f"{name}, n = {mine[0]['n']:.0f}", fontsize=10)
        below.set(xscale="log", xlabel="C")
        below.set_xticks(costs, [f"{C:g}" for C in costs], minor=False)
        below.set_xticks([], minor=True)
        for axes in (above, below):
            axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1], top=1.12 * axes.get_ylim()[1])
            axes.grid(axis="y", color="0.92", linewidth=0.6)
    panels[0, 0].set_ylabel(f"error in percent, mean of {SPLITS} splits")
    panels[1, 0].set_ylabel("retrained, in percent")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return True
