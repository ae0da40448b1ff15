"""LIBSVM's text models, read: C-SVC with any of its kernels, two classes or more.

    F_ij(x) = Σ_s coef_s k(z_s, x) − ρ_ij > 0 votes for label i, else for label j, i < j in the order of the file's labels

The classes keep the file's order (for two classes: second, first, so that F > 0 is `classes_[1]`), because it decides between
classes with as many votes. LIBSVM itself believes the counts of a file; here they are compared with each other and with the
lines that are there (CVE-2020-28975).
"""

from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators import SVC
from maxmargin.io._model.fields import Array
from maxmargin.io._model.state_kernel import KernelMachine
from maxmargin.io._text import Lines, SparseRows, shown
from maxmargin.kernels import Kernel, Linear, Precomputed, kernel_from_name

KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}
PARAMETERS = {"linear": (), "poly": ("degree", "gamma", "coef0"), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}
KNOWN = (
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB",
    "prob_density_marks", "nr_sv",
)  # fmt: skip
MAX_WEIGHTS = 1 << 27
SMALLEST_LABEL, LARGEST_LABEL = -(2**31), 2**31 - 1


class _Header:
    """The lines before the support vectors: a word and its values."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self._values: dict[str, list[bytes]] = {}
        while (tokens := lines.next("SV").split()) != [b"SV"]:
            name = tokens[0].decode("ascii", "replace") if tokens else ""
            if name not in KNOWN:
                raise lines.wrong("header", f"{shown(b' '.join(tokens[:1]))} has no meaning here")
            if name in self._values:
                raise lines.wrong(name, "it appears twice")
            self._values[name] = tokens[1:]

    def values(self, name: str, count: int) -> list[bytes]:
        values = self._values.get(name)
        if values is None:
            raise ModelFileError(f"The LIBSVM model lacks {name!r}.", name)
        if len(values) != count:
            raise ModelFileError(
                f"The LIBSVM model has {len(values)} values of {name!r} where {count} are wanted.", name
            )
        return values

    def word(self, name: str) -> str:
        return self.values(name, 1)[0].decode("ascii", "replace")

    def whole(self, name: str, low: int = 0) -> int:
        return self.lines.whole_of(name, self.values(name, 1)[0], low)

    def number(self, name: str) -> float:
        return self.lines.number_of(name, self.values(name, 1)[0])

    def has(self, name: str) -> bool:
        return name in self._values


def read_libsvm(file: IO[bytes], n_features: int | None) -> SVC:
    """The model as an SVC: it predicts, but has no certificate, no C and no numbers of training samples."""
    header = _Header(Lines(file))
    kernel = _kernel(header)
    n_classes = header.whole("nr_class", 2)
    n_pairs = n_classes * (n_classes - 1) // 2
    rho = [header.lines.number_of("rho", token) for token in header.values("rho", n_pairs)]
    labels = [
        header.lines.whole_of("label", token, SMALLEST_LABEL, LARGEST_LABEL)
        for token in header.values("label", n_classes)
    ]
    if len(set(labels)) != n_classes:
        raise ModelFileError(f"The LIBSVM model names a label twice: {labels[:10]}.", "label")
    for name in ("probA", "probB"):  # of another method of prediction; checked, not kept
        if header.has(name):
            [header.lines.number_of(name, token) for token in header.values(name, n_pairs)]
    counts = [header.lines.whole_of("nr_sv", token) for token in header.values("nr_sv", n_classes)]
    total = header.whole("total_sv")
    if sum(counts) != total:
        raise ModelFileError(f"The LIBSVM model counts {total} support vectors, and {sum(counts)} by class.", "nr_sv")
    coefficients, rows = _support_vectors(header.lines, total, n_classes, isinstance(kernel, Precomputed))
    model = SVC(kernel=_name(header), **{name: getattr(kernel, name) for name in PARAMETERS.get(_name(header), ())})
    order = np.arange(total)
    if n_classes == 2:  # F > 0 is the file's first label, which stands second here
        labels, counts = labels[::-1], counts[::-1]
        order = np.concatenate([order[counts[1] :], order[: counts[1]]])
    intercept = np.array([0.0 - value for value in rho])
    _assemble(
        model, kernel, np.array(labels), counts, coefficients[:, order], rows.matrix(n_features)[order], intercept
    )
    return model


def _name(header: _Header) -> str:
    return KERNELS[header.word("kernel_type")]


def _kernel(header: _Header) -> Kernel:
    if (kind := header.word("svm_type")) != "c_svc":
        raise NotSupportedError(
            f"The LIBSVM model is {shown(kind.encode())}; of LIBSVM's machines only c_svc is an SVC."
        )
    if header.word("kernel_type") not in KERNELS:
        raise ModelFileError(f"The LIBSVM model has kernel_type {header.word('kernel_type')!r}.", "kernel_type")
    parameters: dict[str, Any] = {}
    for name in PARAMETERS.get(_name(header), ()):
        parameters[name] = header.whole(name) if name == "degree" else header.number(name)
    try:
        return kernel_from_name(_name(header), **parameters)
    except InvalidInputError as error:
        raise ModelFileError(f"The LIBSVM model's kernel cannot be used: {error}", "kernel_type") from error


def _support_vectors(lines: Lines, total: int, n_classes: int, is_precomputed: bool) -> tuple[Array, SparseRows]:
    """(coefficients, rows); a precomputed kernel's row holds the number of its training sample alone."""
    coefficients, rows = [], SparseRows(lines, "SV")
    for _ in range(total):
        tokens = lines.next("SV").split()
        if len(tokens) < n_classes - 1:
            raise lines.wrong("SV", f"{n_classes - 1} coefficients are wanted")
        coefficients.append([lines.number_of("SV", token) for token in tokens[: n_classes - 1]])
        entries = tokens[n_classes - 1 :]
        if is_precomputed:
            index, _, number = entries[0].partition(b":") if len(entries) == 1 else (b"", b"", b"")
            if index != b"0":
                raise lines.wrong("SV", "0:number is wanted, the number of a training sample")
            entries = [b"%d:1" % lines.whole_of("SV", number, 1)]
        rows.add(entries)
    if any(line.strip() for line in lines.rest()):
        raise lines.wrong("SV", f"more lines than the {total} support vectors that were counted")
    return np.array(coefficients, dtype=np.float64).reshape(total, n_classes - 1).T.copy(), rows


def _assemble(
    model: SVC, kernel: Kernel, classes: Array, counts: list[int], dual_coef: Array, rows: Any, intercept: Array
) -> None:
    n, d = rows.shape
    support, vectors, shape = np.arange(n, dtype=np.int32), rows, (max(n, 1), d)
    if isinstance(kernel, Precomputed):
        support, vectors, shape = sp.csr_array(rows).indices.astype(np.int32), None, (d, d)
        if len(np.unique(support)) != n:
            raise ModelFileError("The LIBSVM model names a training sample twice.", "SV")
    n_support = np.array(counts, dtype=np.int32)
    weights = None
    if isinstance(kernel, Linear):
        if len(intercept) * d > MAX_WEIGHTS:
            raise NotSupportedError(f"{len(intercept)} linear decisions of {d} features are more weights than fit.")
        weights = pair_weights(dual_coef, n_support, rows)
    KernelMachine(kernel, support, n_support, dual_coef, intercept, vectors, weights).put_into(model)
    model.classes_, model.n_features_in_, model.shape_fit_ = classes, d, shape
    model.class_weight_ = np.ones(len(classes))
    model._balls, model._last_fit, model.fit_status_ = [], None, 0


def pair_weights(dual_coef: Array, n_support: Array, vectors: Any) -> Array:
    """w_p = Σ_s A_ps z_s of each pair, from scikit-learn's layout of A."""
    k = len(n_support)
    if k == 2:
        return np.asarray(dual_coef @ vectors)
    ends = np.cumsum([0, *n_support])
    groups = [slice(ends[i], ends[i + 1]) for i in range(k)]
    return np.array(
        [
            dual_coef[j - 1, groups[i]] @ vectors[groups[i]] + dual_coef[i, groups[j]] @ vectors[groups[j]]
            for i in range(k)
            for j in range(i + 1, k)
        ]
    )
