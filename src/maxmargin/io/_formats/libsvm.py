"""LIBSVM's text models, in and out: C-SVC with any of its kernels, two classes or more.

    F_ij(x) = Σ_s coef_s k(z_s, x) − ρ_ij > 0 votes for label i, else for label j, i < j in the order of the file's labels

The classes of a model that is read keep the file's order (for two classes: second, first, so that F > 0 is `classes_[1]`),
because it decides between classes with as many votes; they are written so, too, so that a decision of 0 gives the same label
there as here. LIBSVM itself believes the counts of a file; here they are compared with each other and with the lines that are
there (CVE-2020-28975). Linear models are written by their weights, one "support vector" with coefficient 1 a decision: that is
what they decide by.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import NotSupportedError
from maxmargin.estimators import SVC
from maxmargin.io._formats.machine import Machine, svc_of
from maxmargin.io._model.archive import Array
from maxmargin.io._model.parameters import encode
from maxmargin.io._text import Lines, read_support_vectors, shown
from maxmargin.kernels import Precomputed

KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}
PARAMETERS = {"poly": ("degree", "gamma", "coef0"), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}
KNOWN = {
    *("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB"),
    *("prob_density_marks", "nr_sv"),
}
SMALLEST_LABEL, LARGEST_LABEL = -(2**31), 2**31 - 1


def _header(lines: Lines) -> dict[str, list[bytes]]:
    """The lines before the support vectors: a word and its values."""
    found: dict[str, list[bytes]] = {}
    while (tokens := lines.next("SV").split()) != [b"SV"]:
        name = shown(b"".join(tokens[:1]))[1:-1]
        lines.require(name in KNOWN, "header", f"{name!r} has no meaning here")
        lines.require(name not in found, name, "it appears twice")
        found[name] = tokens[1:]
    return {name: found.get(name, []) for name in KNOWN}


def read_libsvm(file: IO[bytes], n_features: int | None) -> SVC:
    """The model as an SVC."""
    lines = Lines(file)
    header = _header(lines)
    kind, kernel = (shown(b" ".join(header[name]))[1:-1] for name in ("svm_type", "kernel_type"))
    if kind != "c_svc":
        raise NotSupportedError(f"The LIBSVM model is {kind!r}; of LIBSVM's machines only c_svc is an SVC.")
    lines.require(kernel in KERNELS, "kernel_type", f"{kernel!r} is none of {', '.join(KERNELS)}")
    parameters: dict[str, Any] = {"kernel": KERNELS[kernel]}
    for name in PARAMETERS.get(KERNELS[kernel], ()):
        parameters[name] = (lines.wholes if name == "degree" else lines.numbers)(name, header[name])[0]
    n_classes = lines.wholes("nr_class", header["nr_class"], low=2)[0]
    n_pairs = n_classes * (n_classes - 1) // 2
    intercept = [0.0 - rho for rho in lines.numbers("rho", header["rho"], n_pairs)]
    labels = lines.wholes("label", header["label"], n_classes, SMALLEST_LABEL)
    lines.require(len(set(labels)) == n_classes, "label", "a label appears twice")
    for name in ("probA", "probB"):  # of another method of prediction; checked, not kept
        lines.numbers(name, header[name], n_pairs if header[name] else 0)
    counts, total = lines.wholes("nr_sv", header["nr_sv"], n_classes), lines.wholes("total_sv", header["total_sv"])[0]
    lines.require(sum(counts) == total, "nr_sv", f"{sum(counts)} support vectors by class, {total} in all")
    is_precomputed = kernel == "precomputed"
    dual_coef, rows = read_support_vectors(lines, "SV", (total, n_classes - 1), n_features, is_precomputed)
    if n_classes == 2:  # F > 0 is the file's first label, which stands second here
        order = np.roll(np.arange(total), counts[1])
        labels, counts, dual_coef, rows = labels[::-1], counts[::-1], dual_coef[:, order], rows[order]
    return svc_of(parameters, labels, counts, dual_coef, rows, intercept)


@dataclass(frozen=True)
class SupportVectors:
    """In LIBSVM's layout: coefficients, entries as text, and how many there are of each label."""

    coefficients: Array
    entries: list[str]
    counts: list[int]


def write_libsvm(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine, or say why LIBSVM's format cannot hold it."""
    labels = whole_labels(machine)
    if machine.scheme == "one_vs_rest":
        raise NotSupportedError(
            "LIBSVM decides between more than two classes one-vs-one, this model one-vs-rest. Use SVC, or export to ONNX."
        )
    if machine.scheme == "one_vs_one" and machine.model.break_ties:
        raise NotSupportedError("LIBSVM knows no break_ties=True. Use set_params(break_ties=False) first.")
    kernel, vectors = encode("kernel", machine.kernel), support_vectors(machine)
    head = [
        "svm_type c_svc",
        f"kernel_type {next(theirs for theirs, ours in KERNELS.items() if ours == kernel['name'])}",
        *(f"{key} {kernel[key]!r}" for key in PARAMETERS.get(kernel["name"], ())),
        f"nr_class {len(labels)}",
        f"total_sv {len(vectors.entries)}",
        "rho " + " ".join(repr(0.0 - float(b)) for b in machine.model.intercept_),
        "label " + " ".join(map(str, labels[::-1] if machine.scheme == "binary" else labels)),
        "nr_sv " + " ".join(map(str, vectors.counts)),
        "SV",
    ]
    file.write("".join(f"{line}\n" for line in head).encode())
    for column, text in zip(vectors.coefficients.T.tolist(), vectors.entries, strict=True):
        file.write(f"{' '.join(map(repr, column))} {text}\n".encode())


def whole_labels(machine: Machine) -> list[int]:
    """The classes as LIBSVM's whole numbers."""
    classes = machine.model.classes_.tolist()
    if machine.model.classes_.dtype.kind not in "iuf" or not all(
        value == int(value) and SMALLEST_LABEL <= value <= LARGEST_LABEL for value in classes
    ):
        raise NotSupportedError(
            f"LIBSVM's labels are whole numbers, these are {classes[:5]}. Train on encoded labels, or use save()."
        )
    return [int(value) for value in classes]


def support_vectors(machine: Machine) -> SupportVectors:
    """What a machine of two classes, or of one-vs-one, decides by."""
    k = len(machine.model.classes_)
    if machine.weights is not None:
        entries = list(_entries(machine.weights))
        if k == 2:
            return SupportVectors(np.ones((1, 1)), entries, [1, 0])
        second = np.array([j - 1 for _, j in machine.pairs])
        return SupportVectors(np.eye(k - 1)[:, second], entries, [k - 1 - i for i in range(k)])
    is_precomputed = isinstance(machine.kernel, Precomputed)
    entries = (
        [f"0:{n + 1}" for n in machine.model.support_.tolist()]
        if is_precomputed
        else list(_entries(machine.model.support_vectors_))
    )
    if k > 2:
        return SupportVectors(machine.coefficients, entries, machine.model.n_support_.tolist())
    # those of the first label, which are those with a positive coefficient, come first
    order = np.argsort(machine.coefficients[0] <= 0, kind="stable")
    n_positive = int((machine.coefficients[0] > 0).sum())
    return SupportVectors(
        machine.coefficients[:, order], [entries[s] for s in order], [n_positive, len(entries) - n_positive]
    )


def _entries(rows: Any) -> Iterator[str]:
    """``index:value`` of the entries of each row that are not 0, indices from 1 on."""
    rows = sp.csr_array(rows, copy=True)
    rows.sum_duplicates()
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        pairs = zip(rows.indices[start:stop].tolist(), rows.data[start:stop].tolist(), strict=True)
        yield " ".join(f"{index + 1}:{value!r}" for index, value in pairs if value != 0)
