"""SVC and HardMarginSVC: their fitted attributes, and how a model is put together from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.io._model.fields import Array, Input, Output, wrong
from maxmargin.io._model.proofs import read_proofs, write_proofs
from maxmargin.io._model.state_common import (
    Sizes,
    read_balls,
    read_common,
    read_support,
    write_balls,
    write_common,
)
from maxmargin.io._model.state_ramp import read_ramp, write_ramp
from maxmargin.io._model.values import decode_kernel, encode_kernel
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernels import Kernel, Linear, Precomputed


@dataclass(frozen=True)
class KernelMachine:
    """One-vs-one in scikit-learn's layout: support vectors grouped by class, `weights` for the linear kernel only.

    `support` are the numbers of the training rows; `vectors` is None where the kernel is precomputed.
    """

    kernel: Kernel
    support: Array
    n_support: Array
    dual_coef: Array
    intercept: Array
    vectors: Any
    weights: Array | None

    def put_into(self, model: Any) -> None:
        """Set the fitted attributes that predictions are made from."""
        is_precomputed = isinstance(self.kernel, Precomputed)
        model.kernel_ = self.kernel
        model.support_ = self.support
        model.dual_coef_ = self.dual_coef
        model.n_support_ = self.n_support
        model.support_vectors_ = np.empty((0, 0)) if is_precomputed else self.vectors
        model.intercept_ = self.intercept
        model._weights = self.weights
        reference = self.support.astype(np.intp)[:, np.newaxis] if is_precomputed else self.vectors
        groups = None if len(self.n_support) == 2 else self.n_support
        is_linear = isinstance(self.kernel, Linear)
        model._expansion = None if is_linear else Expansion(self.kernel, reference, self.dual_coef, groups)


def write_kernel_machine(model: Any, out: Output) -> None:
    """Everything but the memory of a warm start."""
    write_common(model, out)
    out.values["kernel"] = encode_kernel(model.kernel_)
    out.arrays["support"] = model.support_
    out.arrays["n_support"] = model.n_support_
    out.arrays["dual_coef"] = model.dual_coef_
    out.arrays["intercept"] = model.intercept_
    if model._weights is not None:
        out.arrays["coef"] = model._weights
    if not isinstance(model.kernel_, Precomputed):
        out.matrix("support_vectors", model.support_vectors_)
    write_balls(model._balls, out)
    out.values["fit_status"] = int(model.fit_status_)
    if hasattr(model, "n_iter_"):
        out.arrays["n_iter"] = model.n_iter_
    write_ramp(model, out)
    write_proofs(model, out)


def read_kernel_machine(model: Any, fields: Input) -> None:
    """The same, each field checked against the others."""
    sizes = read_common(model, fields)
    if sizes.n is None:
        raise wrong("shape_fit", "it is missing")
    _read_machine(fields, sizes, sizes.n).put_into(model)
    model._balls = read_balls(fields, sizes.n_pairs)
    model._last_fit = None
    model.fit_status_ = fields.whole("fit_status", 0, 1)
    if fields.has("n_iter"):
        model.n_iter_ = fields.indices("n_iter", "i4", (sizes.n_pairs,), 2**31)
    read_ramp(model, fields, sizes.n_pairs, sizes.n)
    read_proofs(model, fields, sizes.n_pairs)


def _read_machine(fields: Input, sizes: Sizes, n: int) -> KernelMachine:
    kernel = decode_kernel("kernel", fields.value("kernel"))
    if not kernel.is_resolved:
        raise wrong("kernel", f"{kernel!r} still depends on data")
    if isinstance(kernel, Precomputed) and n != sizes.n_features:
        raise wrong("shape_fit", f"a precomputed matrix is square, not {n} × {sizes.n_features}")
    support = read_support(fields, n)
    n_support = fields.indices("n_support", "i4", (sizes.n_classes,), n + 1)
    if n_support.sum(dtype=np.int64) != len(support):
        raise wrong("n_support", f"its sum is not the number of support vectors, {len(support)}")
    is_linear, is_precomputed = isinstance(kernel, Linear), isinstance(kernel, Precomputed)
    return KernelMachine(
        kernel=kernel,
        support=support,
        n_support=n_support,
        dual_coef=fields.floats("dual_coef", (sizes.n_classes - 1, len(support))),
        intercept=fields.floats("intercept", (sizes.n_pairs,)),
        vectors=None if is_precomputed else fields.matrix("support_vectors", (len(support), sizes.n_features)),
        weights=fields.floats("coef", (sizes.n_pairs, sizes.n_features)) if is_linear else None,
    )
