"""LIBSVM's text models, written: what svm-predict and every LIBSVM reads.

Two classes: the labels stand as (`classes_[1]`, `classes_[0]`), so that a decision of 0 gives the same label there as here.
Linear models are written by their weights, one "support vector" with coefficient 1 a decision: that is what they decide by.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import NotSupportedError
from maxmargin.io._formats.libsvm_read import KERNELS, LARGEST_LABEL, PARAMETERS, SMALLEST_LABEL
from maxmargin.io._formats.machine import Machine
from maxmargin.io._model.fields import Array
from maxmargin.io._model.values import encode_kernel
from maxmargin.kernels import Precomputed


@dataclass(frozen=True)
class _Rows:
    """Support vectors in LIBSVM's layout: their coefficients, entries, and how many there are of each label."""

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
    if machine.scheme == "one_vs_one" and machine.break_ties:
        raise NotSupportedError("LIBSVM knows no break_ties=True. Use set_params(break_ties=False) first.")
    kernel = encode_kernel(machine.kernel)
    name = kernel["name"]
    rows = _rows(machine)
    head = [
        "svm_type c_svc",
        f"kernel_type {next(theirs for theirs, ours in KERNELS.items() if ours == name)}",
        *(f"{key} {kernel[key]!r}" for key in PARAMETERS.get(name, ())),
        f"nr_class {len(labels)}",
        f"total_sv {len(rows.entries)}",
        "rho " + " ".join(repr(0.0 - float(b)) for b in machine.intercept),
        "label " + " ".join(map(str, labels[::-1] if machine.scheme == "binary" else labels)),
        "nr_sv " + " ".join(map(str, rows.counts)),
        "SV",
    ]
    file.write("".join(f"{line}\n" for line in head).encode())
    for column, text in zip(rows.coefficients.T.tolist(), rows.entries, strict=True):
        file.write(f"{' '.join(map(repr, column))} {text}\n".encode())


def whole_labels(machine: Machine) -> list[int]:
    """The classes as LIBSVM's whole numbers."""
    classes = machine.classes
    if classes.dtype.kind not in "iuf" or not all(
        value == int(value) and SMALLEST_LABEL <= value <= LARGEST_LABEL for value in classes.tolist()
    ):
        raise NotSupportedError(
            f"LIBSVM's labels are whole numbers, these are {classes.tolist()[:5]}. Train on encoded labels, or use save()."
        )
    return [int(value) for value in classes.tolist()]


def _rows(machine: Machine) -> _Rows:
    k = len(machine.classes)
    if machine.weights is not None:
        entries = list(entries_of(machine.weights))
        if k == 2:
            return _Rows(np.ones((1, 1)), entries, [1, 0])
        coefficients = np.zeros((k - 1, len(entries)))
        for column, (_, j) in enumerate(machine.pairs):
            coefficients[j - 1, column] = 1.0
        return _Rows(coefficients, entries, [k - 1 - i for i in range(k)])
    assert machine.coefficients is not None
    assert machine.support is not None
    is_precomputed = isinstance(machine.kernel, Precomputed)
    entries = [f"0:{n + 1}" for n in machine.support.tolist()] if is_precomputed else list(entries_of(machine.vectors))
    if k > 2:
        assert machine.n_support is not None
        return _Rows(machine.coefficients, entries, machine.n_support.tolist())
    # those of the first label, which are those with a positive coefficient, come first
    order = np.argsort(machine.coefficients[0] <= 0, kind="stable")
    n_positive = int((machine.coefficients[0] > 0).sum())
    ordered = machine.coefficients[:, order]
    return _Rows(ordered, [entries[s] for s in order], [n_positive, len(entries) - n_positive])


def entries_of(rows: Any) -> Iterator[str]:
    """``index:value`` of the entries of each row that are not 0, indices from 1 on."""
    if sp.issparse(rows):
        rows = rows.copy()
        rows.sum_duplicates()
        for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
            pairs = zip(rows.indices[start:stop].tolist(), rows.data[start:stop].tolist(), strict=True)
            yield " ".join(f"{index + 1}:{value!r}" for index, value in pairs if value != 0)
        return
    for row in rows:
        yield " ".join(f"{index + 1}:{value!r}" for index, value in enumerate(row.tolist()) if value != 0)
