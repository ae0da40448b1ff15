"""Support vector machines in which every answer carries its proof.

Public names are found on first use, so that ``import maxmargin`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from maxmargin import bounds, distributed, errors, io, kernels, plot, solvers
    from maxmargin.analysis.witness import NotSeparable, Separable, Undecided
    from maxmargin.core import Certificate, Halfspace, Problem, Regularization, Status
    from maxmargin.errors import (
        InvalidInputError,
        MaxMarginError,
        MemoryBudgetError,
        MissingExtraError,
        ModelFileError,
        NotSeparableError,
        NotSupportedError,
        UndecidedError,
    )
    from maxmargin.estimators import (
        SVC,
        ConvergenceWarning,
        HardMarginSVC,
        L1Path,
        LeaveOneOut,
        LeaveOneOutSearch,
        LinearSVC,
        PegasosSVC,
        Perceptron,
        SettledBy,
        certify,
        l1_min_c,
        l1_path,
        leave_one_out,
        separability,
        xi_alpha,
    )
    from maxmargin.html_report import report
    from maxmargin.io import export, load, save

_HOME = {
    "HardMarginSVC": "estimators",
    "LinearSVC": "estimators",
    "SVC": "estimators",
    "PegasosSVC": "estimators",
    "Perceptron": "estimators",
    "certify": "estimators",
    "l1_min_c": "estimators",
    "l1_path": "estimators",
    "L1Path": "estimators",
    "separability": "estimators",
    "ConvergenceWarning": "estimators",
    "LeaveOneOut": "estimators",
    "LeaveOneOutSearch": "estimators",
    "SettledBy": "estimators",
    "leave_one_out": "estimators",
    "xi_alpha": "estimators",
    "Separable": "analysis.witness",
    "NotSeparable": "analysis.witness",
    "Undecided": "analysis.witness",
    "Certificate": "core",
    "Halfspace": "core",
    "Problem": "core",
    "Regularization": "core",
    "Status": "core",
    "MaxMarginError": "errors",
    "InvalidInputError": "errors",
    "NotSupportedError": "errors",
    "NotSeparableError": "errors",
    "UndecidedError": "errors",
    "MemoryBudgetError": "errors",
    "MissingExtraError": "errors",
    "ModelFileError": "errors",
    "export": "io",
    "load": "io",
    "save": "io",
    "report": "html_report",
}
_MODULES = ("bounds", "distributed", "errors", "io", "kernels", "plot", "solvers")

__all__ = [
    "Certificate",
    "ConvergenceWarning",
    "Halfspace",
    "HardMarginSVC",
    "InvalidInputError",
    "LeaveOneOut",
    "LeaveOneOutSearch",
    "L1Path",
    "LinearSVC",
    "MaxMarginError",
    "MemoryBudgetError",
    "MissingExtraError",
    "ModelFileError",
    "NotSeparable",
    "NotSeparableError",
    "NotSupportedError",
    "PegasosSVC",
    "Perceptron",
    "Problem",
    "Regularization",
    "SVC",
    "Separable",
    "SettledBy",
    "Status",
    "Undecided",
    "UndecidedError",
    "bounds",
    "certify",
    "distributed",
    "errors",
    "export",
    "io",
    "kernels",
    "leave_one_out",
    "l1_min_c",
    "l1_path",
    "load",
    "plot",
    "report",
    "save",
    "separability",
    "solvers",
    "xi_alpha",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"maxmargin.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    value = getattr(import_module(f"maxmargin.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
