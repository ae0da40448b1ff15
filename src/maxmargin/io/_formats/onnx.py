"""ONNX export: plain operators in float64, so that onnxruntime decides as we do.

ONNX has an operator for support vector machines, ai.onnx.ml SVMClassifier, but its scores are float32 by definition, and it knows
neither one-vs-rest nor precomputed kernels nor `decision_function_shape="ovr"`. MatMul, Exp, Tanh and Pow exist in float64 and
reproduce `decision_function` to rounding, and ArgMax takes the first of equals, as we do.
"""

from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import MissingExtraError, NotSupportedError
from maxmargin.io._formats.machine import Machine
from maxmargin.io._model.archive import Array
from maxmargin.io._model.parameters import encode
from maxmargin.kernels import RBF, Polynomial, Precomputed, Sigmoid

OPSET, IR_VERSION = 17, 8
MAX_NUMBERS = 2**31 // 8 - 2**20
"""Of float64, in a file that protocol buffers can hold."""


def write_onnx(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine: input `X` (float64), outputs `label` and `scores`."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("Export to ONNX needs the package onnx: pip install 'maxmargin[onnx]'.") from error
    encode("kernel", machine.kernel)  # refuses functions
    graph = _Graph(onnx)
    decisions = graph.node("Add", _sums(graph, machine), machine.model.intercept_)
    model = graph.model(machine, *_labels_and_scores(graph, machine, decisions))
    onnx.checker.check_model(model, full_check=True)
    file.write(model.SerializeToString())


class _Graph:
    """Nodes and constants, named by number."""

    def __init__(self, onnx: Any) -> None:
        self._onnx, self._nodes, self._constants = onnx, [], []  # type: ignore[var-annotated]

    def node(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """The name of an operator's result; inputs are names, or arrays, which become constants."""
        names = [value if isinstance(value, str) else self._constant(np.asarray(value)) for value in inputs]
        self._nodes.append(self._onnx.helper.make_node(operator, names, [f"v{len(self._nodes)}"], **attributes))
        return f"v{len(self._nodes) - 1}"

    def _constant(self, array: Array) -> str:
        name = f"c{len(self._constants)}"
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array]
            tensor = self._onnx.helper.make_tensor(name, self._onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants.append(tensor)
        return name

    def cast(self, value: str, kind: str) -> str:
        """The same values as another type of ONNX."""
        return self.node("Cast", value, to=int(getattr(self._onnx.TensorProto, kind)))

    def model(self, machine: Machine, labels: str, scores: str) -> Any:
        """The whole graph with its input and outputs."""
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        for result, name in ((labels, "label"), (scores, "scores")):
            self._nodes.append(helper.make_node("Identity", [result], [name]))
        label_kind = {"U": kinds.STRING, "O": kinds.STRING, "f": kinds.DOUBLE, "b": kinds.BOOL}
        is_per_pair = getattr(machine.model, "decision_function_shape", "ovr") == "ovo"
        width = len(machine.model.intercept_ if is_per_pair else machine.model.classes_)
        shape = ["n"] if machine.scheme == "binary" else ["n", width]
        outputs = [
            helper.make_tensor_value_info(
                "label", label_kind.get(machine.model.classes_.dtype.kind, kinds.INT64), ["n"]
            ),
            helper.make_tensor_value_info("scores", kinds.DOUBLE, shape),
        ]
        inputs = [helper.make_tensor_value_info("X", kinds.DOUBLE, ["n", machine.model.n_features_in_])]
        graph = helper.make_graph(self._nodes, "maxmargin", inputs, outputs, self._constants)
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="maxmargin")


def _sums(graph: _Graph, machine: Machine) -> str:
    """Σ_s A_ps k(z_s, x) of each problem, (n, problems)."""
    A = machine.matrix() if machine.weights is None else machine.weights
    numbers = A.size if machine.weights is not None else A.size + A.shape[1] * machine.model.n_features_in_
    if numbers > MAX_NUMBERS:
        raise NotSupportedError(f"An ONNX file holds 2 GB, this model has {numbers:.3g} numbers. Use save().")
    return graph.node("MatMul", "X" if machine.weights is not None else _kernel_values(graph, machine), A.T)


def _kernel_values(graph: _Graph, machine: Machine) -> str:
    """k(z_s, x), (n, support vectors)."""
    kernel = machine.kernel
    if isinstance(kernel, Precomputed):
        return graph.node("Gather", "X", machine.model.support_.astype(np.int64), axis=1)
    Z = machine.model.support_vectors_
    Z = (Z.toarray() if sp.issparse(Z) else Z).astype(np.float64)
    if isinstance(kernel, RBF):
        # −γ‖x − z‖² = 2γ⟨x, z⟩ − γ‖x‖² − γ‖z‖², about a point in the middle of the support vectors, and at most 0
        gamma, middle = float(kernel.gamma), Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
        Z = Z - middle
        X = graph.node("Sub", "X", middle)
        squares = graph.node("ReduceSum", graph.node("Mul", X, X), np.array([1]), keepdims=1)
        less = graph.node(
            "Sub", graph.node("MatMul", X, 2 * gamma * Z.T), graph.node("Mul", squares, np.array([gamma]))
        )
        exponent = graph.node("Sub", less, gamma * np.einsum("ij,ij->i", Z, Z))
        return graph.node("Exp", graph.node("Min", exponent, np.array([0.0])))
    assert isinstance(kernel, Polynomial | Sigmoid)
    products = graph.node("MatMul", "X", float(kernel.gamma) * Z.T)
    inner = graph.node("Add", products, np.array([float(kernel.coef0)]))
    if isinstance(kernel, Sigmoid):
        return graph.node("Tanh", inner)
    return graph.node("Pow", inner, np.array([float(kernel.degree)]))


def _labels_and_scores(graph: _Graph, machine: Machine, decisions: str) -> tuple[str, str]:
    """(labels, scores) as `predict` and `decision_function` give them."""
    if machine.scheme == "binary":
        scores = graph.node("Squeeze", decisions, np.array([1]))
        return _named(graph, machine, graph.cast(graph.node("Greater", scores, 0.0), "INT64")), scores
    scores = votes = decisions
    if machine.scheme == "one_vs_one":
        zero, sides = np.array([0.0]), np.zeros((len(machine.pairs), len(machine.model.classes_)))
        for row, (i, j) in zip(sides, machine.pairs, strict=True):
            row[i], row[j] = 1.0, -1.0
        if machine.model.decision_function_shape == "ovr":
            totals = graph.node("MatMul", decisions, sides)
            size = graph.node("Mul", graph.node("Add", graph.node("Abs", totals), np.array([1.0])), np.array([3.0]))
            won = graph.node("Not", graph.node("Less", decisions, zero))
            scores = graph.node("Add", _count(graph, won, sides), graph.node("Div", totals, size))
        votes = scores if machine.model.break_ties else _count(graph, graph.node("Greater", decisions, zero), sides)
    largest = graph.node("ArgMax", votes, axis=1, keepdims=0, select_last_index=0)  # the first of equals
    return _named(graph, machine, largest), scores


def _count(graph: _Graph, is_won: str, sides: Array) -> str:
    """Won pairs of each class: its side of a pair, and of the others those that were not lost."""
    won = graph.node("MatMul", graph.cast(is_won, "DOUBLE"), sides)
    return graph.node("Add", won, (sides < 0).sum(axis=0).astype(np.float64))


def _named(graph: _Graph, machine: Machine, numbers: str) -> str:
    """The labels of classes by their numbers."""
    kind = machine.model.classes_.dtype.kind
    if kind == "S":
        raise NotSupportedError("ONNX has no labels of bytes. Train on texts or numbers.")
    wide = {"i": np.int64, "u": np.int64, "f": np.float64}.get(kind, machine.model.classes_.dtype)
    return graph.node("Gather", machine.model.classes_.astype(wide), numbers, axis=0)
