"""ONNX export: plain operators in float64, so that onnxruntime decides as we do.

ONNX has an operator for support vector machines, ai.onnx.ml SVMClassifier, but its scores are float32 by definition, and it knows
neither one-vs-rest nor precomputed kernels nor `decision_function_shape="ovr"`. MatMul, Exp, Tanh and Pow exist in float64 and
reproduce `decision_function` to rounding, and ArgMax takes the first of equals, as we do.

The steps are written in ONNX's own text syntax, which its parser reads: what is computed, and below it the constants in it.
Scalers before the model in a Pipeline come first, with scikit-learn's operations in its order.
"""

from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import MissingExtraError, NotSupportedError
from maxmargin.io._formats.machine import Machine, combined
from maxmargin.io._model.parameters import encode
from maxmargin.kernels import RBF, Polynomial, Precomputed, Sigmoid

HEAD = '<ir_version: 8, opset_import: ["": 17], producer_name: "maxmargin"> maxmargin'
KERNELS: dict[type[Any], str] = {
    Precomputed: "K = Gather<axis=1>(rows, support)",
    # −γ‖x − z‖² = 2γ⟨x, z⟩ − γ‖x‖² − γ‖z‖², about a point in the middle of the support vectors, and at most 0
    RBF: "Y = Sub(rows, middle) YY = Mul(Y, Y) squares = ReduceSum<keepdims=1>(YY, axis) less = Mul(squares, gamma) "
    "products = MatMul(Y, Z) some = Sub(products, less) exponent = Sub(some, sizes) least = Min(exponent, zero) K = Exp(least)",
    Polynomial: "products = MatMul(rows, Z) inner = Add(products, coef0) K = Pow(inner, degree)",
    Sigmoid: "products = MatMul(rows, Z) inner = Add(products, coef0) K = Tanh(inner)",
}
"""k(z_s, x), (n, support vectors), by the kernel."""

SCALERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "StandardScaler": (("Sub", "mean_", "with_mean"), ("Div", "scale_", "with_std")),
    "RobustScaler": (("Sub", "center_", "with_centering"), ("Div", "scale_", "with_scaling")),
    "MinMaxScaler": (("Mul", "scale_", ""), ("Add", "min_", "")),
    "MaxAbsScaler": (("Div", "scale_", ""),),
}
"""What scikit-learn's scalers do to rows, one by one: an operator, what it takes, and the parameter that turns it off."""

BINARY = "scores = Squeeze(decisions, axis) is_second = Greater(scores, zero) number = Cast<to=7>(is_second)"
# won pairs of each class: its side of a pair, and of the others those that were not lost
COUNT = "{0}_one = Cast<to=11>({0}) {0}_sides = MatMul({0}_one, sides) {0}_count = Add({0}_sides, n_second)"
SHARES = "totals = MatMul(decisions, sides) size = Abs(totals) more = Add(size, one) most = Mul(more, three)"
RANKED = f"lost = Less(decisions, zero) kept = Not(lost) {COUNT.format('kept')} {SHARES} share = Div(totals, most)"
VOTES = f"won = Greater(decisions, zero) {COUNT.format('won')} votes = Identity(won_count)"
LARGEST = "number = ArgMax<axis=1, keepdims=0, select_last_index=0>(votes)"  # the first of equals


def write_onnx(machine: Machine, file: IO[bytes], before: Sequence[Any] = ()) -> None:
    """Write the machine and the scalers before it: input `X` (float64), outputs `label` and `scores`."""
    try:
        import onnx
        import onnx.parser
    except ImportError as error:
        raise MissingExtraError("Export to ONNX needs the package onnx: pip install 'maxmargin[onnx]'.") from error
    encode("kernel", machine.kernel)  # refuses functions
    classes, width = _labels(machine.model.classes_), len(machine.model.classes_)
    if getattr(machine.model, "decision_function_shape", "ovr") == "ovo":
        width = len(machine.model.intercept_)
    scaling, scales = _scaling(before)
    steps, constants = _decisions(machine)
    steps += f" {_numbers(machine)} label = Gather<axis=0>(classes, number)"
    first, second = (np.eye(len(classes))[places] for places in np.triu_indices(len(classes), 1))
    sides = first - second  # 1 for the first class of a pair, −1 for the second
    constants |= {"b": machine.model.intercept_, "classes": classes, "sides": sides, "n_second": second.sum(axis=0)}
    constants |= scales | {"axis": np.array([1]), "zero": np.array([0.0]), "one": np.array([1.0]), "three": np.array([3.0])}
    kind = {"O": "string", "f": "double", "b": "bool"}.get(classes.dtype.kind, "int64")
    shape = "n" if machine.scheme == "binary" else f"n, {width}"
    ends = f"(double[n, {machine.model.n_features_in_}] X) => ({kind}[n] label, double[{shape}] scores)"
    model = onnx.parser.parse_model(f"{HEAD} {ends} {{ {scaling} {steps} }}")
    used = {name for node in model.graph.node for name in node.input}
    tensors = (onnx.numpy_helper.from_array(constants[name], name) for name in constants if name in used)
    model.graph.initializer.extend(tensors)
    onnx.checker.check_model(model, full_check=True)
    file.write(model.SerializeToString())


def _scaling(before: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """From `X` to the `rows` of the model: the steps, and the constants in them."""
    steps, name = "", "X"
    constants: dict[str, Any] = {}
    for scaler in before:
        is_known = type(scaler).__name__ in SCALERS and type(scaler).__module__.startswith("sklearn.preprocessing.")
        if not is_known or getattr(scaler, "clip", False):
            raise NotSupportedError(
                f"ONNX export takes {', '.join(SCALERS)} with clip=False before the model, not {scaler!r}. "
                "Export the last step and apply the others yourself, or use save(), which keeps more."
            )
        for operator, attribute, switch in SCALERS[type(scaler).__name__]:
            if not switch or getattr(scaler, switch):
                new, constant = f"scaled{len(constants)}", f"scale{len(constants)}"
                steps += f"{new} = {operator}({name}, {constant}) "
                constants[constant] = np.asarray(getattr(scaler, attribute), dtype=np.float64)
                name = new
    return f"{steps}rows = Identity({name})", constants


def _decisions(machine: Machine) -> tuple[str, dict[str, Any]]:
    """Σ_s A_ps k(z_s, x) + b_p of each problem, (n, problems): the steps, and the constants in them."""
    if machine.weights is not None:
        return "sums = MatMul(rows, A) decisions = Add(sums, b)", {"A": np.ascontiguousarray(machine.weights.T)}
    A, steps = machine.coefficients, f"{KERNELS[type(machine.kernel)]} sums = MatMul(K, A) decisions = Add(sums, b)"
    if machine.scheme == "one_vs_one":
        A = combined(A, machine.model.n_support_, sp.eye_array(A.shape[1], format="csr"))
    return steps, {"A": np.ascontiguousarray(A.T), **_kernel_constants(machine)}


def _kernel_constants(machine: Machine) -> dict[str, Any]:
    kernel: Any = machine.kernel
    if isinstance(kernel, Precomputed):
        return {"support": machine.model.support_.astype(np.int64)}
    Z, scale = machine.model.support_vectors_, float(kernel.gamma)
    Z = (Z.toarray() if sp.issparse(Z) else Z).astype(np.float64)
    named = {name: np.array([float(getattr(kernel, name))]) for name in ("gamma", "coef0", "degree") if hasattr(kernel, name)}
    if isinstance(kernel, RBF):
        named["middle"] = Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
        Z, scale = Z - named["middle"], 2 * scale
        named["sizes"] = float(kernel.gamma) * np.einsum("ij,ij->i", Z, Z)
    return named | {"Z": np.ascontiguousarray(scale * Z.T)}


def _numbers(machine: Machine) -> str:
    """From decisions to `scores`, as `decision_function` gives them, and the `number` of the class that `predict` names."""
    if machine.scheme == "binary":
        return BINARY
    if machine.scheme == "one_vs_rest":
        return f"scores = Identity(decisions) votes = Identity(decisions) {LARGEST}"
    is_per_pair = machine.model.decision_function_shape == "ovo"
    scores = "scores = Identity(decisions)" if is_per_pair else f"{RANKED} scores = Add(kept_count, share)"
    return f"{scores} {'votes = Identity(scores)' if machine.model.break_ties else VOTES} {LARGEST}"


def _labels(classes: Any) -> Any:
    """The classes as one of ONNX's types."""
    if classes.dtype.kind == "S":
        raise NotSupportedError("ONNX has no labels of bytes. Train on texts or numbers.")
    kinds: dict[str, Any] = {"i": np.int64, "u": np.int64, "f": np.float64, "U": object}
    return classes.astype(kinds.get(classes.dtype.kind, classes.dtype))
