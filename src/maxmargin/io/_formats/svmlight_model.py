"""SVM-light's text models, in and out: two classes, −1 and +1.

    F(x) = Σ_s (αy)_s k(z_s, x) − b        kernels: ⟨u, v⟩,  (s⟨u, v⟩ + r)^d,  exp(−g‖u − v‖²),  tanh(s⟨u, v⟩ + r)

Ten lines of settings, each with its meaning behind a #, then the support vectors. (SVM-light itself keeps features in float32.)
"""

from typing import IO, Any

import numpy as np

from maxmargin.errors import NotSupportedError
from maxmargin.estimators import SVC
from maxmargin.io._formats.libsvm import support_vectors, whole_labels
from maxmargin.io._formats.machine import Machine, svc_of
from maxmargin.io._model.parameters import encode
from maxmargin.io._text import Lines, read_support_vectors

FIRST = b"SVM-light Version"
KERNELS = ("linear", "poly", "rbf", "sigmoid")
PARAMETERS = {"poly": {"degree": "-d", "gamma": "-s", "coef0": "-r"}, "rbf": {"gamma": "-g"}}
PARAMETERS["sigmoid"] = {"gamma": "-s", "coef0": "-r"}
COUNTS = {"highest feature index": 0, "number of documents": 0, "number of support vectors": 1}
"""Counts of the header, and the least that they may be."""


def write_svmlight_model(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine, or say why SVM-light's format cannot hold it."""
    if machine.scheme != "binary" or whole_labels(machine) != [-1, 1]:
        raise NotSupportedError(
            f"SVM-light's models tell −1 from +1 and name no labels, these are {machine.model.classes_.tolist()[:5]}. "
            "Train on labels −1 and 1, or export to LIBSVM or ONNX."
        )
    kernel = encode("kernel", machine.kernel)
    if kernel["name"] not in KERNELS:
        raise NotSupportedError(f"SVM-light's models have no kernel {kernel['name']!r}. Export to LIBSVM or ONNX.")
    vectors = support_vectors(machine)
    said = {"-d": 3, "-g": 1.0, "-s": 1.0, "-r": 0.0}
    said |= {letter: kernel[name] for name, letter in PARAMETERS.get(kernel["name"], {}).items()}
    head = [
        "SVM-light Version V6.02",
        f"{KERNELS.index(kernel['name'])} # kernel type",
        *(f"{value!r} # kernel parameter {letter} " for letter, value in said.items()),
        "empty# kernel parameter -u ",
        f"{machine.model.n_features_in_} # highest feature index ",
        f"{len(vectors.entries)} # number of training documents ",
        f"{len(vectors.entries) + 1} # number of support vectors plus 1 ",
        f"{0.0 - float(machine.model.intercept_[0])!r} # threshold b, each following line is a SV (starting with alpha*y)",
    ]
    file.write("".join(f"{line}\n" for line in head).encode())
    for coefficient, text in zip(vectors.coefficients[0].tolist(), vectors.entries, strict=True):
        file.write(f"{coefficient!r} {text} #\n".encode())


def read_svmlight_model(file: IO[bytes], n_features: int | None) -> SVC:
    """The model as an SVC."""
    lines = Lines(file, comment=b"#")
    lines.next("version")
    kind = lines.wholes("kernel type", [lines.next("kernel type")])[0]
    if kind >= len(KERNELS):
        raise NotSupportedError(
            f"The SVM-light model has kernel type {kind}: a function of its own, which the file lacks."
        )
    names = {letter: name for name, letter in PARAMETERS.get(KERNELS[kind], {}).items()}
    parameters: dict[str, Any] = {"kernel": KERNELS[kind]}
    for letter in ("-d", "-g", "-s", "-r"):
        is_whole = names.get(letter) == "degree"
        value = (lines.wholes if is_whole else lines.numbers)(letter, [lines.next(letter)])[0]
        if letter in names:
            parameters[names[letter]] = value
    lines.next("-u")
    highest, _, count = (lines.wholes(part, [lines.next(part)], low=low)[0] for part, low in COUNTS.items())
    threshold = lines.numbers("threshold b", [lines.next("threshold b")])[0]
    coefficients, rows = read_support_vectors(lines, "support vectors", (count - 1, 1), n_features)
    is_known = rows.shape[1] <= max(highest, n_features or 0, 1)
    lines.require(
        is_known, "highest feature index", f"feature {rows.shape[1]} appears, {highest} should be the highest"
    )
    order = np.argsort(coefficients[0] > 0, kind="stable")  # grouped by class, which the sign tells
    counts = [int((coefficients <= 0).sum()), int((coefficients > 0).sum())]
    return svc_of(parameters, [-1, 1], counts, coefficients[:, order], rows[order], [0.0 - threshold])
