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

import re
import sys
from array import array
from collections.abc import Callable, Iterator
from dataclasses import fields
from io import BytesIO
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators import SVC
from maxmargin.io._data.files import LARGEST_INDEX, NUMBER, read_svmlight, shown
from maxmargin.io._formats.machine import Machine, svc_of
from maxmargin.io._model.archive import Array
from maxmargin.io._model.parameters import encode
from maxmargin.kernels import Precomputed
from maxmargin.kernels.names import KERNELS

TYPES = ("linear", "poly", "rbf", "sigmoid")
"""SVM-light's types of kernels, by number."""

PARAMETERS = {name: tuple(field.name for field in fields(KERNELS[name])) for name in (*TYPES, "precomputed")}  # type: ignore[arg-type]
LIBSVM_NAMES = {name.replace("poly", "polynomial"): name for name in PARAMETERS}
KNOWN = {"svm_type", "kernel_type", *PARAMETERS["poly"], "nr_class", "total_sv", "rho", "label", "nr_sv"}
KNOWN |= {"probA", "probB", "prob_density_marks"}
SMALLEST_LABEL, LARGEST = -(2**31), sys.float_info.max
WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
DENSE = 0.25
"""Support vectors with at least this share of entries are kept dense."""


class Lines:
    """The lines of a text file, one after the other, without what follows the mark of a comment."""

    def __init__(self, file: IO[bytes], comment: bytes = b"\n") -> None:
        self._file, self._comment, self._number = file, comment, 0

    def next(self, part: str) -> bytes:
        """The next line, stripped; `part` should be there."""
        line = self._file.readline()
        self._number += 1
        self.require(line, part, "the file ends here, it is truncated")
        return line.partition(self._comment)[0].strip()

    def end(self, part: str, count: int) -> None:
        """Nothing but empty lines may follow."""
        for line in self._file:
            self._number += 1
            self.require(not line.partition(self._comment)[0].strip(), part, f"there are {count} lines, and this one")

    def require(self, is_right: Any, part: str, what: str) -> None:
        """Refuse something in the present line that is not right."""
        if not is_right:
            raise ModelFileError(f"The model file is damaged at {part!r}, line {self._number}: {what}.", part)

    def number(self, part: str, low: int | None = None) -> Any:
        """The number that is the next line; where `low` is said, a whole one."""
        return self.numbers(part, self.next(part).split(), low=low)[0]

    def numbers(self, part: str, tokens: list[bytes], count: int = 1, low: int | None = None) -> list[Any]:
        """So many finite numbers; where `low` is said, whole ones from there on that fit into 32 bits."""
        self.require(len(tokens) == count, part, f"{len(tokens)} values where {count} are wanted")
        form, kind, least, most = (NUMBER, float, -LARGEST, LARGEST) if low is None else (WHOLE, int, low, LARGEST_INDEX)
        words = "a finite number" if low is None else f"a whole number from {low} to {LARGEST_INDEX}"
        for token in tokens:
            if not (form.fullmatch(token) and least <= kind(token) <= most):
                self.require(False, part, f"{shown(token)} is not {words}")
        return [kind(token) for token in tokens]


def read_support_vectors(
    lines: Lines, part: str, shape: tuple[int, int], n_features: int | None, is_precomputed: bool = False
) -> tuple[Array, Any]:
    """(coefficients, rows) of lines ``coefficient … index:value …``, as many lines and coefficients as `shape` says.

    Rows are dense if many of their entries are there. With a precomputed kernel ``0:number`` names a training sample, and the
    row has a 1 there.
    """
    coefficients, entries = array("d"), BytesIO()
    for _ in range(shape[0]):
        tokens = lines.next(part).split()
        coefficients.extend(lines.numbers(part, tokens[: shape[1]], shape[1]))
        tokens[: shape[1]] = [b"0"]  # as a label
        if is_precomputed:
            is_right = len(tokens) == 2 and tokens[1].startswith(b"0:")
            lines.require(is_right, part, "0:number is wanted, the number of a training sample")
            tokens[1] = tokens[1].removeprefix(b"0:") + b":1"
        entries.write(b" ".join(tokens) + b"\n")
    lines.end(part, shape[0])
    entries.seek(0)
    try:
        X = sp.csr_array(read_svmlight(entries, n_features, zero_based=False).X)
    except InvalidInputError as error:
        raise ModelFileError(f"The model file is damaged at {part!r}, counted from there: {error}", part) from error
    lines.require(np.isfinite(X.data).all(), part, "a value is not finite")
    table = np.array(coefficients).reshape(shape).T.copy()
    return table, X.toarray() if X.nnz >= DENSE * shape[0] * X.shape[1] else X


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
    dual_coef, rows = read_support_vectors(lines, "SV", (total, n_classes - 1), n_features, kernel == "precomputed")
    if n_classes == 2:  # F > 0 is the file's first label, which stands second here
        order = np.roll(np.arange(total), counts[1])
        labels, counts, dual_coef, rows = labels[::-1], counts[::-1], dual_coef[:, order], rows[order]
    return svc_of(parameters, labels, counts, dual_coef, rows, intercept)


def write_libsvm(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine, or say why LIBSVM's format cannot hold it."""
    labels = whole_labels(machine)
    if machine.scheme == "one_vs_rest":
        raise NotSupportedError("LIBSVM decides between classes one-vs-one, this model one-vs-rest. Use SVC, or export to ONNX.")
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
    kind, classes = machine.model.classes_.dtype.kind, machine.model.classes_.tolist()
    if kind not in "iuf" or not all(v == int(v) and SMALLEST_LABEL <= v <= LARGEST_INDEX for v in classes):
        raise NotSupportedError(f"Labels must be whole numbers here, these are {classes[:5]}. Encode them, or use save().")
    return [int(value) for value in classes]


def support_vectors(machine: Machine) -> tuple[list[str], list[int]]:
    """What a machine of two classes, or of one-vs-one, decides by, in LIBSVM's layout: lines, and how many each label has."""
    k = len(machine.model.classes_)
    if machine.weights is not None:
        entries, counts = _entries(machine.weights), [k - 1 - i for i in range(k)]
        coefficients = np.eye(k - 1)[:, np.triu_indices(k, 1)[1] - 1]
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


LETTERS = {"-d": 0, "-g": None, "-s": None, "-r": None}
COUNTS = {"highest feature index": 0, "number of documents": 0, "number of support vectors": 1}
"""Parameters of kernels and counts in the header, and the least that they may be if they are whole numbers."""


def _letters(kernel: str) -> dict[str, str]:
    """The parameters of a kernel, by SVM-light's letters for them."""
    letters = {"degree": "-d", "gamma": "-g" if kernel == "rbf" else "-s", "coef0": "-r"}
    return {letters[name]: name for name in PARAMETERS[kernel]}


def write_svmlight_model(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine, or say why SVM-light's format cannot hold it."""
    if machine.scheme != "binary" or whole_labels(machine) != [-1, 1]:
        these = machine.model.classes_.tolist()[:5]
        raise NotSupportedError(f"SVM-light tells −1 from +1, these are {these}. Use such labels, or export to LIBSVM or ONNX.")
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
    kind = lines.number("kernel type", low=0)
    if kind >= len(TYPES):
        raise NotSupportedError(f"The SVM-light model has kernel type {kind}: a function of its own, which the file lacks.")
    said = {letter: lines.number(letter, low) for letter, low in LETTERS.items()}
    parameters = {name: said[letter] for letter, name in _letters(TYPES[kind]).items()}
    lines.next("-u")
    highest, _, count = (lines.number(part, low) for part, low in COUNTS.items())
    threshold = lines.number("threshold b")
    coefficients, rows = read_support_vectors(lines, "support vectors", (count - 1, 1), n_features)
    is_known = rows.shape[1] <= max(highest, n_features or 0, 1)
    lines.require(is_known, "highest feature index", f"feature {rows.shape[1]} appears, {highest} should be the highest")
    order = np.argsort(coefficients[0] > 0, kind="stable")  # grouped by class, which the sign tells
    counts = [int((coefficients <= 0).sum()), int((coefficients > 0).sum())]
    return svc_of({"kernel": TYPES[kind], **parameters}, [-1, 1], counts, coefficients[:, order], rows[order], [0.0 - threshold])


READERS: dict[bytes, Callable[[IO[bytes], int | None], SVC]] = {
    b"svm_type": read_libsvm,
    b"SVM-light Version": read_svmlight_model,
}
"""By the first bytes of a file."""

WRITERS: dict[str, Callable[[Machine, IO[bytes]], None]] = {"libsvm": write_libsvm, "svmlight": write_svmlight_model}
