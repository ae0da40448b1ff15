"""Similarity between rows, evaluated in blocks.

====================  ================================  =========================
kernel                k(u, v)                           positive semi-definite
====================  ================================  =========================
`Linear`              ⟨u, v⟩                            yes
`Polynomial`          (γ⟨u, v⟩ + c₀)^degree             if c₀ ≥ 0
`RBF`                 exp(−γ‖u − v‖²)                   yes
`Sigmoid`             tanh(γ⟨u, v⟩ + c₀)                not in general
`FeatureMap`          ⟨Φ(u), Φ(v)⟩                      yes
`Custom`              a function                        ask
`Precomputed`         a matrix                          ask
====================  ================================  =========================
"""

import importlib
import warnings
from typing import Any

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.custom import Custom
from maxmargin.kernels.feature_map import FeatureMap, interactions
from maxmargin.kernels.inner import Linear, Polynomial, Sigmoid
from maxmargin.kernels.names import kernel_from_name
from maxmargin.kernels.precomputed import Precomputed
from maxmargin.kernels.psd import PSDCheck
from maxmargin.kernels.rbf import RBF

__all__ = [
    "Kernel",
    "Linear",
    "Polynomial",
    "RBF",
    "Sigmoid",
    "Precomputed",
    "Custom",
    "FeatureMap",
    "interactions",
    "PSDCheck",
    "KernelMatrix",
    "Expansion",
    "kernel_from_name",
]

ABOVE = {"KernelMatrix": "matrix", "Expansion": "expansion", "KernelRows": "matrix"}
"""Names that are public here and live in `kernel_matrix`, a layer above, imported on first use: they are found on first use."""


def __getattr__(name: str) -> Any:
    if name not in ABOVE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "KernelRows":
        warnings.warn("KernelRows is now KernelMatrix, and `get` is `rows`.", DeprecationWarning, stacklevel=2)
        name = "KernelMatrix"
    return getattr(importlib.import_module(f"maxmargin.kernel_matrix.{ABOVE[name]}"), name)
