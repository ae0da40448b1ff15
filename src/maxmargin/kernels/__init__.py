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

from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernel_matrix.kernel_rows import KernelRows
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.custom import Custom
from maxmargin.kernels.feature_map import FeatureMap
from maxmargin.kernels.interactions import interactions
from maxmargin.kernels.linear import Linear
from maxmargin.kernels.names import kernel_from_name
from maxmargin.kernels.poly import Polynomial
from maxmargin.kernels.precomputed import Precomputed
from maxmargin.kernels.psd import PSDCheck
from maxmargin.kernels.rbf import RBF
from maxmargin.kernels.sigmoid import Sigmoid

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
    "KernelRows",
    "Expansion",
    "kernel_from_name",
]
