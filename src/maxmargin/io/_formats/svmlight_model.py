"""SVM-light's text models, in and out: two classes, −1 and +1.

    F(x) = Σ_s (αy)_s k(z_s, x) − b        kernels: ⟨u, v⟩,  (s⟨u, v⟩ + r)^d,  exp(−g‖u − v‖²),  tanh(s⟨u, v⟩ + r)

Ten lines of settings, each with its meaning behind a #, then the support vectors. (SVM-light itself keeps features in float32.)
"""

from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators import SVC
from maxmargin.io._formats.libsvm_read import MAX_WEIGHTS, pair_weights
from maxmargin.io._formats.libsvm_write import entries_of, whole_labels
from maxmargin.io._formats.machine import Machine
from maxmargin.io._model.state_kernel import KernelMachine
from maxmargin.io._model.values import encode_kernel
from maxmargin.io._text import Lines, SparseRows, shown
from maxmargin.kernels import Kernel, Linear, kernel_from_name

FIRST = b"SVM-light Version"
NUMBERS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}
NAMES = {number: name for name, number in NUMBERS.items()}


def write_svmlight_model(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine, or say why SVM-light's format cannot hold it."""
    if machine.scheme != "binary" or whole_labels(machine) != [-1, 1]:
        raise NotSupportedError(
            f"SVM-light's models tell −1 from +1 and name no labels, these are {machine.classes.tolist()[:5]}. "
            "Train on labels −1 and 1, or export to LIBSVM or ONNX."
        )
    kernel = encode_kernel(machine.kernel)
    if kernel["name"] not in NUMBERS:
        raise NotSupportedError(f"SVM-light's models have no kernel {kernel['name']!r}. Export to LIBSVM or ONNX.")
    coefficients, rows = np.ones(1), machine.weights
    if machine.coefficients is not None:
        coefficients, rows = machine.coefficients[0], machine.vectors
    gamma, coef0, degree = kernel.get("gamma", 1.0), kernel.get("coef0", 0.0), kernel.get("degree", 3)
    is_rbf = kernel["name"] == "rbf"
    head = [
        "SVM-light Version V6.02",
        f"{NUMBERS[kernel['name']]} # kernel type",
        f"{degree} # kernel parameter -d ",
        f"{gamma if is_rbf else 1.0!r} # kernel parameter -g ",
        f"{1.0 if is_rbf else gamma!r} # kernel parameter -s ",
        f"{coef0!r} # kernel parameter -r ",
        "empty# kernel parameter -u ",
        f"{machine.n_features} # highest feature index ",
        f"{len(coefficients)} # number of training documents ",
        f"{len(coefficients) + 1} # number of support vectors plus 1 ",
        f"{0.0 - float(machine.intercept[0])!r} # threshold b, each following line is a SV (starting with alpha*y)",
    ]
    file.write("".join(f"{line}\n" for line in head).encode())
    for coefficient, text in zip(coefficients.tolist(), entries_of(rows), strict=True):
        file.write(f"{coefficient!r} {text} #\n".encode())


def read_svmlight_model(file: IO[bytes], n_features: int | None) -> SVC:
    """The model as an SVC: it predicts, but has no certificate, no C and no numbers of training samples."""
    lines = Lines(file)
    lines.next("version")
    said = {
        part: lines.next(part).partition(b"#")[0].strip()
        for part in ("kernel type", "-d", "-g", "-s", "-r", "-u", "highest feature index", "number of documents")
    }
    count = lines.whole_of(
        "number of support vectors", lines.next("number of support vectors").partition(b"#")[0].strip(), 1
    )
    threshold = lines.number_of("threshold b", lines.next("threshold b").partition(b"#")[0].strip())
    parameters = _parameters(lines, said)
    lines.whole_of("number of documents", said["number of documents"])
    highest = lines.whole_of("highest feature index", said["highest feature index"])
    coefficients, rows = [], SparseRows(lines, "support vectors")
    for _ in range(count - 1):
        tokens = lines.next("support vectors").partition(b"#")[0].split()
        if not tokens:
            raise lines.wrong("support vectors", "a coefficient is wanted")
        coefficients.append(lines.number_of("support vectors", tokens[0]))
        rows.add(tokens[1:])
    if any(line.strip() for line in lines.rest()):
        raise lines.wrong("support vectors", f"more lines than the {count - 1} that were counted")
    X = rows.matrix(n_features)
    if X.shape[1] > max(highest, n_features or 0, 1):
        raise ModelFileError(
            f"Feature {X.shape[1]} appears, {highest} was said to be the highest.", "highest feature index"
        )
    return _assembled(parameters, X, np.array(coefficients, dtype=np.float64), 0.0 - threshold)


def _parameters(lines: Lines, said: dict[str, bytes]) -> dict[str, Any]:
    kind = lines.whole_of("kernel type", said["kernel type"])
    if kind not in NAMES:
        raise NotSupportedError(
            f"The SVM-light model has kernel type {kind}: a function of its own, which the file lacks."
        )
    name = NAMES[kind]
    parameters: dict[str, Any] = {"kernel": name}
    if name == "poly":
        parameters["degree"] = lines.whole_of("-d", said["-d"])
    if name == "rbf":
        parameters["gamma"] = lines.number_of("-g", said["-g"])
    if name in ("poly", "sigmoid"):
        parameters["gamma"] = lines.number_of("-s", said["-s"])
        parameters["coef0"] = lines.number_of("-r", said["-r"])
    for part in ("-d", "-g", "-s", "-r"):
        lines.number_of(part, said[part])
    return parameters


def _assembled(parameters: dict[str, Any], X: Any, coefficients: Any, intercept: float) -> SVC:
    try:
        kernel: Kernel = kernel_from_name(**parameters)
    except InvalidInputError as error:
        raise ModelFileError(f"The SVM-light model's kernel cannot be used: {error}", "kernel type") from error
    if X.shape[1] > MAX_WEIGHTS:
        raise NotSupportedError(f"{X.shape[1]} features are more weights than fit; {shown(b'highest feature index')}.")
    order = np.argsort(coefficients > 0, kind="stable")  # grouped by class, which the sign tells
    coefficients, X = coefficients[np.newaxis, order], X[order]
    n_negative = int((coefficients <= 0).sum())
    n_support = np.array([n_negative, len(order) - n_negative], dtype=np.int32)
    weights = pair_weights(coefficients, n_support, X) if isinstance(kernel, Linear) else None
    model = SVC(**parameters)
    support = np.arange(len(order), dtype=np.int32)
    KernelMachine(kernel, support, n_support, coefficients, np.array([intercept]), X, weights).put_into(model)
    model.classes_, model.n_features_in_ = np.array([-1, 1]), X.shape[1]
    model.shape_fit_, model.class_weight_ = (max(len(order), 1), X.shape[1]), np.ones(2)
    model._balls, model._last_fit, model.fit_status_ = [], None, 0
    return model
