"""ONNX export: plain operators in float64, so that onnxruntime decides as we do.

ONNX has an operator for support vector machines, ai.onnx.ml SVMClassifier, but its scores are float32 by definition, and it knows
neither one-vs-rest nor precomputed kernels nor `decision_function_shape="ovr"`. MatMul, Exp, Tanh and Pow exist in float64 and
reproduce `decision_function` to rounding, and ArgMax takes the first of equals, as we do.
"""

from typing import IO, Any

import numpy as np

from maxmargin.errors import MissingExtraError, NotSupportedError
from maxmargin.io._formats.machine import Machine
from maxmargin.io._model.archive import Array
from maxmargin.io._model.values import encode_kernel
from maxmargin.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid

OPSET, IR_VERSION = 17, 8
MAX_NUMBERS = 2**31 // 8 - 2**20
"""Of float64, in a file that protocol buffers can hold."""


def write_onnx(machine: Machine, file: IO[bytes]) -> None:
    """Write the machine: input `X` (float64), outputs `label` and `scores`."""
    onnx = _onnx()
    encode_kernel(machine.kernel)  # refuses functions
    graph = _Graph(onnx)
    decisions = graph.node("Add", _sums(graph, machine), graph.constant(machine.intercept))
    labels, scores = _votes(graph, machine, decisions)
    model = graph.model(machine, labels, scores)
    onnx.checker.check_model(model, full_check=True)
    file.write(model.SerializeToString())


def _onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("Export to ONNX needs the package onnx: pip install 'maxmargin[onnx]'.") from error
    return onnx


class _Graph:
    """Nodes and constants, named by number."""

    def __init__(self, onnx: Any) -> None:
        self._onnx, self._nodes, self._constants = onnx, [], []  # type: ignore[var-annotated]

    def constant(self, value: Any) -> str:
        array = np.asarray(value)
        name = f"c{len(self._constants)}"
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array]
            tensor = self._onnx.helper.make_tensor(name, self._onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants.append(tensor)
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def model(self, machine: Machine, labels: str, scores: str) -> Any:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        self._nodes += [
            helper.make_node("Identity", [labels], ["label"]),
            helper.make_node("Identity", [scores], ["scores"]),
        ]
        label_kind = {"U": kinds.STRING, "O": kinds.STRING, "f": kinds.DOUBLE, "b": kinds.BOOL}
        width = len(machine.classes) if machine.decision_function_shape == "ovr" else len(machine.intercept)
        shape = ["n"] if machine.scheme == "binary" else ["n", width]
        graph = helper.make_graph(
            self._nodes,
            "maxmargin",
            [helper.make_tensor_value_info("X", kinds.DOUBLE, ["n", machine.n_features])],
            [
                helper.make_tensor_value_info("label", label_kind.get(machine.classes.dtype.kind, kinds.INT64), ["n"]),
                helper.make_tensor_value_info("scores", kinds.DOUBLE, shape),
            ],
            self._constants,
        )
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="maxmargin")


def _sums(graph: _Graph, machine: Machine) -> str:
    """Σ_s A_ps k(z_s, x) of each problem, (n, problems)."""
    if isinstance(machine.kernel, Linear):
        assert machine.weights is not None
        _check_size(machine.weights)
        return graph.node("MatMul", "X", graph.constant(machine.weights.T))
    A = machine.matrix()
    _check_size(A, machine.vectors)
    return graph.node("MatMul", _kernel_values(graph, machine), graph.constant(A.T))


def _kernel_values(graph: _Graph, machine: Machine) -> str:
    """k(z_s, x), (n, support vectors)."""
    kernel = machine.kernel
    if isinstance(kernel, Precomputed):
        assert machine.support is not None
        return graph.node("Gather", "X", graph.constant(machine.support.astype(np.int64)), axis=1)
    Z = machine.vectors.toarray() if hasattr(machine.vectors, "toarray") else machine.vectors
    Z = Z.astype(np.float64)
    if isinstance(kernel, RBF):
        # −γ‖x − z‖² = 2γ⟨x, z⟩ − γ‖x‖² − γ‖z‖², about a point in the middle of the support vectors, and at most 0
        gamma, middle = float(kernel.gamma), Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
        Z = Z - middle
        X = graph.node("Sub", "X", graph.constant(middle))
        squares = graph.node(
            "ReduceSum", graph.node("Mul", X, X), graph.constant(np.array([1], dtype=np.int64)), keepdims=1
        )
        products = graph.node("MatMul", X, graph.constant(2 * gamma * Z.T))
        less = graph.node("Sub", products, graph.node("Mul", squares, graph.constant(np.array([gamma]))))
        exponent = graph.node("Sub", less, graph.constant(gamma * np.einsum("ij,ij->i", Z, Z)))
        return graph.node("Exp", graph.node("Min", exponent, graph.constant(np.array([0.0]))))
    assert isinstance(kernel, Polynomial | Sigmoid)
    products = graph.node("MatMul", "X", graph.constant(float(kernel.gamma) * Z.T))
    inner = graph.node("Add", products, graph.constant(np.array([float(kernel.coef0)])))
    if isinstance(kernel, Sigmoid):
        return graph.node("Tanh", inner)
    return graph.node("Pow", inner, graph.constant(np.array([float(kernel.degree)])))


def _votes(graph: _Graph, machine: Machine, decisions: str) -> tuple[str, str]:
    """(labels, scores) as `predict` and `decision_function` give them."""
    if machine.scheme == "binary":
        scores = graph.node("Squeeze", decisions, graph.constant(np.array([1], dtype=np.int64)))
        is_positive = graph.node("Greater", scores, graph.constant(np.array(0.0)))
        return _named(graph, machine, graph.node("Cast", is_positive, to=_int64(graph))), scores
    if machine.scheme == "one_vs_rest":
        return _named(graph, machine, _first_largest(graph, decisions)), decisions
    sides = np.zeros((len(machine.pairs), len(machine.classes)))
    for row, (i, j) in zip(sides, machine.pairs, strict=True):
        row[i], row[j] = 1.0, -1.0
    zero = graph.constant(np.array([0.0]))
    scores = decisions
    if machine.decision_function_shape == "ovr":
        totals = graph.node("MatMul", decisions, graph.constant(sides))
        three = graph.constant(np.array([3.0]))
        size = graph.node("Mul", graph.node("Add", graph.node("Abs", totals), graph.constant(np.array([1.0]))), three)
        won = graph.node("Not", graph.node("Less", decisions, zero))
        scores = graph.node("Add", _count(graph, won, sides), graph.node("Div", totals, size))
    if machine.break_ties:
        return _named(graph, machine, _first_largest(graph, scores)), scores
    votes = _count(graph, graph.node("Greater", decisions, zero), sides)
    return _named(graph, machine, _first_largest(graph, votes)), scores


def _count(graph: _Graph, is_won: str, sides: Array) -> str:
    """Won pairs of each class: its side of a pair, and of the others those that were not lost."""
    won = graph.node("MatMul", graph.node("Cast", is_won, to=_float64(graph)), graph.constant(sides))
    return graph.node("Add", won, graph.constant((sides < 0).sum(axis=0).astype(np.float64)))


def _first_largest(graph: _Graph, values: str) -> str:
    return graph.node("ArgMax", values, axis=1, keepdims=0, select_last_index=0)


def _named(graph: _Graph, machine: Machine, numbers: str) -> str:
    classes = machine.classes
    if classes.dtype.kind in "iu":
        classes = classes.astype(np.int64)
    elif classes.dtype.kind == "f":
        classes = classes.astype(np.float64)
    elif classes.dtype.kind == "S":
        raise NotSupportedError("ONNX has no labels of bytes. Train on texts or numbers.")
    return graph.node("Gather", graph.constant(classes), numbers, axis=0)


def _check_size(*arrays: Any) -> None:
    numbers = sum(int(np.prod(array.shape, dtype=np.float64)) for array in arrays if array is not None)
    if numbers > MAX_NUMBERS:
        raise NotSupportedError(f"An ONNX file holds 2 GB, this model has {numbers:.3g} numbers. Use save().")


def _int64(graph: _Graph) -> int:
    return int(graph._onnx.TensorProto.INT64)


def _float64(graph: _Graph) -> int:
    return int(graph._onnx.TensorProto.DOUBLE)
