"""Text models of other programs, in and out: LIBSVM's and SVM-light's.

LIBSVM: C-SVC with any of its kernels, two classes or more.

    F_ij(x) = Σ_s coef_s k(z_s, x) − ρ_ij > 0 votes for label i, else for label j, i < j in the order of the file's labels

The classes of a model that is read keep the file's order (for two classes: second, first, so that F > 0 is `classes_[1]`),
because it decides between classes with as many votes; they are written so, too, so that a decision of 0 gives the same label
there as here. LIBSVM itself believes the counts of a file; here they are compared with each other and with the lines that are
there (CVE-2020-28975). Linear models are written by their weights, one "support vector" with coefficient 1 a decision: that is
what they decide by.

SVM-light: two classes, −1 and +1. (SVM-light itself keeps features in float32.)

    F(x) = Σ_s (αy)_s k(z_s, x) − b        kernels: ⟨u, v⟩,  (s⟨u, v⟩ + r)^d,  exp(−g‖u − v‖²),  tanh(s⟨u, v⟩ + r)

Ten lines of settings, each with its meaning behind a #, then the support vectors.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import NotSupportedError
from maxmargin.estimators import SVC
from maxmargin.io._formats.machine import Machine, svc_of
from maxmargin.io._model.parameters import encode
from maxmargin.io._text import LARGEST_INDEX, Lines, read_support_vectors, shown
from maxmargin.kernels import Precomputed
from maxmargin.kernels.names import KERNELS

TYPES = ("linear", "poly", "rbf", "sigmoid")
"""SVM-light's types of kernels, by number."""

PARAMETERS = {name: tuple(field.name for field in fields(KERNELS[name])) for name in (*TYPES, "precomputed")}  # type: ignore[arg-type]
LIBSVM_NAMES = {name.replace("poly", "polynomial"): name for name in PARAMETERS}
KNOWN = {
    *("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB"),
    *("prob_density_marks", "nr_sv"),
}
SMALLEST_LABEL = -(2**31)


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
    lines.require(kernel in LIBSVM_NAMES, "kernel_type", f"{kernel!r} is none of {', '.join(LIBSVM_NAMES)}")
    parameters: dict[str, Any] = {"kernel": LIBSVM_NAMES[kernel]}
    for name in PARAMETERS[LIBSVM_NAMES[kernel]]:
        parameters[name] = lines.numbers(name, header[name], low=0 if name == "degree" else None)[0]
    n_classes = lines.numbers("nr_class", header["nr_class"], low=2)[0]
    n_pairs = n_classes * (n_classes - 1) // 2
    intercept = [0.0 - rho for rho in lines.numbers("rho", header["rho"], n_pairs)]
    labels = lines.numbers("label", header["label"], n_classes, low=SMALLEST_LABEL)
    lines.require(len(set(labels)) == n_classes, "label", "a label appears twice")
    for name in ("probA", "probB"):  # of another method of prediction; checked, not kept
        lines.numbers(name, header[name], n_pairs if header[name] else 0)
    counts = lines.numbers("nr_sv", header["nr_sv"], n_classes, low=0)
    total = lines.numbers("total_sv", header["total_sv"], low=0)[0]
    lines.require(sum(counts) == total, "nr_sv", f"{sum(counts)} support vectors by class, {total} in all")
    is_precomputed = kernel == "precomputed"
    dual_coef, rows = read_support_vectors(lines, "SV", (total, n_classes - 1), n_features, is_precomputed)
    if n_classes == 2:  # F > 0 is the file's first label, which stands second here
        order = np.roll(np.arange(total), counts[1])
        labels, counts, dual_coef, rows = labels[::-1], counts[::-1], dual_coef[:, order], rows[order]
    return svc_of(parameters, labels, counts, dual_coef, rows, intercept)


def write_libsvm(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine, or say why LIBSVM's format cannot hold it."""
    labels = whole_labels(machine)
    if machine.scheme == "one_vs_rest":
        raise NotSupportedError(
            "LIBSVM decides between more than two classes one-vs-one, this model one-vs-rest. Use SVC, or export to ONNX."
        )
    if machine.scheme == "one_vs_one" and machine.model.break_ties:
        raise NotSupportedError("LIBSVM knows no break_ties=True. Use set_params(break_ties=False) first.")
    kernel, (vectors, counts) = encode("kernel", machine.kernel), support_vectors(machine)
    head = [
        "svm_type c_svc",
        f"kernel_type {kernel['name'].replace('poly', 'polynomial')}",
        *(f"{key} {kernel[key]!r}" for key in PARAMETERS[kernel["name"]]),
        f"nr_class {len(labels)}",
        f"total_sv {len(vectors)}",
        "rho " + " ".join(repr(0.0 - float(b)) for b in machine.model.intercept_),
        "label " + " ".join(map(str, labels[::-1] if machine.scheme == "binary" else labels)),
        "nr_sv " + " ".join(map(str, counts)),
        "SV",
    ]
    file.writelines(f"{line}\n".encode() for line in (*head, *vectors))


def whole_labels(machine: Machine) -> list[int]:
    """The classes as LIBSVM's whole numbers."""
    classes = machine.model.classes_.tolist()
    are_numbers = machine.model.classes_.dtype.kind in "iuf"
    if not are_numbers or not all(v == int(v) and SMALLEST_LABEL <= v <= LARGEST_INDEX for v in classes):
        what = f"LIBSVM's labels are whole numbers, these are {classes[:5]}"
        raise NotSupportedError(f"{what}. Train on encoded labels, or use save().")
    return [int(value) for value in classes]


def support_vectors(machine: Machine) -> tuple[list[str], list[int]]:
    """What a machine of two classes, or of one-vs-one, decides by, in LIBSVM's layout: lines, and how many each label has."""
    k = len(machine.model.classes_)
    if machine.weights is not None:
        entries, counts = _entries(machine.weights), [k - 1 - i for i in range(k)]
        coefficients = np.eye(k - 1)[:, [j - 1 for _, j in machine.pairs]]
    else:
        is_precomputed, coefficients = isinstance(machine.kernel, Precomputed), machine.coefficients
        rows = machine.model.support_ if is_precomputed else machine.model.support_vectors_
        entries = (f"0:{n + 1}" for n in rows.tolist()) if is_precomputed else _entries(rows)
        n_positive = int((coefficients[0] > 0).sum())
        counts = machine.model.n_support_.tolist() if k > 2 else [n_positive, coefficients.shape[1] - n_positive]
    both = zip(coefficients.T.tolist(), entries, strict=True)
    lines = [f"{' '.join(map(repr, column))} {text}" for column, text in both]
    # of two labels, those of the first come first: those with a positive coefficient
    order = np.argsort(coefficients[0] <= 0, kind="stable") if k == 2 else range(len(lines))
    return [lines[s] for s in order], counts


def _entries(rows: Any) -> Iterator[str]:
    """``index:value`` of the entries of each row that are not 0, indices from 1 on."""
    rows = sp.csr_array(rows, copy=True)
    rows.sum_duplicates()
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        pairs = zip(rows.indices[start:stop].tolist(), rows.data[start:stop].tolist(), strict=True)
        yield " ".join(f"{index + 1}:{value!r}" for index, value in pairs if value != 0)


COUNTS = {"highest feature index": 0, "number of documents": 0, "number of support vectors": 1}
"""Counts of the header, and the least that they may be."""


def _letters(kernel: str) -> dict[str, str]:
    """The parameters of a kernel, by SVM-light's letters for them."""
    letters = {"degree": "-d", "gamma": "-g" if kernel == "rbf" else "-s", "coef0": "-r"}
    return {letters[name]: name for name in PARAMETERS[kernel]}


def write_svmlight_model(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine, or say why SVM-light's format cannot hold it."""
    if machine.scheme != "binary" or whole_labels(machine) != [-1, 1]:
        raise NotSupportedError(
            f"SVM-light's models tell −1 from +1 and name no labels, these are {machine.model.classes_.tolist()[:5]}. "
            "Train on labels −1 and 1, or export to LIBSVM or ONNX."
        )
    kernel = encode("kernel", machine.kernel)
    if kernel["name"] not in TYPES:
        raise NotSupportedError(f"SVM-light's models have no kernel {kernel['name']!r}. Export to LIBSVM or ONNX.")
    vectors, _ = support_vectors(machine)
    said = {"-d": 3, "-g": 1.0, "-s": 1.0, "-r": 0.0}
    said |= {letter: kernel[name] for letter, name in _letters(kernel["name"]).items()}
    head = [
        "SVM-light Version V6.02",
        f"{TYPES.index(kernel['name'])} # kernel type",
        *(f"{value!r} # kernel parameter {letter} " for letter, value in said.items()),
        "empty# kernel parameter -u ",
        f"{machine.model.n_features_in_} # highest feature index ",
        f"{len(vectors)} # number of training documents ",
        f"{len(vectors) + 1} # number of support vectors plus 1 ",
        f"{0.0 - float(machine.model.intercept_[0])!r} # threshold b, each following line is a SV (starting with alpha*y)",
    ]
    file.writelines(f"{line}\n".encode() for line in (*head, *(f"{line} #" for line in vectors)))


def read_svmlight_model(file: IO[bytes], n_features: int | None) -> SVC:
    """The model as an SVC."""
    lines = Lines(file, comment=b"#")
    lines.next("version")
    kind = lines.numbers("kernel type", [lines.next("kernel type")], low=0)[0]
    if kind >= len(TYPES):
        raise NotSupportedError(f"The SVM-light model has kernel type {kind}: a function of its own, which the file lacks.")
    names = _letters(TYPES[kind])
    parameters: dict[str, Any] = {"kernel": TYPES[kind]}
    for letter in ("-d", "-g", "-s", "-r"):
        is_whole = names.get(letter) == "degree"
        value = lines.numbers(letter, [lines.next(letter)], low=0 if is_whole else None)[0]
        if letter in names:
            parameters[names[letter]] = value
    lines.next("-u")
    highest, _, count = (lines.numbers(part, [lines.next(part)], low=low)[0] for part, low in COUNTS.items())
    threshold = lines.numbers("threshold b", [lines.next("threshold b")])[0]
    coefficients, rows = read_support_vectors(lines, "support vectors", (count - 1, 1), n_features)
    is_known = rows.shape[1] <= max(highest, n_features or 0, 1)
    lines.require(is_known, "highest feature index", f"feature {rows.shape[1]} appears, {highest} should be the highest")
    order = np.argsort(coefficients[0] > 0, kind="stable")  # grouped by class, which the sign tells
    counts = [int((coefficients <= 0).sum()), int((coefficients > 0).sum())]
    return svc_of(parameters, [-1, 1], counts, coefficients[:, order], rows[order], [0.0 - threshold])


READERS: dict[bytes, Callable[[IO[bytes], int | None], SVC]] = {
    b"svm_type": read_libsvm,
    b"SVM-light Version": read_svmlight_model,
}
"""By the first bytes of a file."""

WRITERS: dict[str, Callable[[Machine, IO[bytes]], None]] = {"libsvm": write_libsvm, "svmlight": write_svmlight_model}
