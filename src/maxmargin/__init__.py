"""Support vector machines in which every answer carries its proof.

Public names are found on first use, so that ``import maxmargin`` costs next to nothing.
"""

# ruff: noqa: F403, F405 (for type checkers, errors and estimators are imported as a whole: __all__ lists them)
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from maxmargin import bounds, distributed, errors, io, kernels, losses, plot, solvers, theory
    from maxmargin.analysis.witness import NotSeparable, Separable, Undecided
    from maxmargin.core import Certificate, FitCase, Halfspace, Problem, Regularization, Status
    from maxmargin.errors import *
    from maxmargin.estimators import *
    from maxmargin.html_report import report
    from maxmargin.io import export, load, save

_HOMES = {
    "analysis.witness": ("NotSeparable", "Separable", "Undecided"),
    "core": ("Certificate", "FitCase", "Halfspace", "Problem", "Regularization", "Status"),
    "io": ("export", "load", "save"),
    "html_report": ("report",),
}
"""Where public names are. Errors are in `errors`, all others in `estimators`."""

_MODULES = ("bounds", "distributed", "errors", "io", "kernels", "losses", "plot", "solvers", "theory")

__all__ = ["SVC", "LinearSVC", "HardMarginSVC", "PegasosSVC", "Perceptron", "LeaveOneOutSearch", "Regularization"]
__all__ += ["SVR", "LinearSVR", "OneClassSVM", "NuSVC", "NuSVR"]
__all__ += ["certify", "leave_one_out", "l1_min_c", "l1_path", "report", "separability", "warm_up", "xi_alpha"]
__all__ += ["export", "load", "save"]
__all__ += ["Certificate", "FitCase", "Halfspace", "L1Path", "LeaveOneOut", "Problem", "SettledBy", "Status", "WarmUp"]
__all__ += ["NotSeparable", "Separable", "Undecided"]
__all__ += ["ConvergenceWarning", "InvalidInputError", "MaxMarginError", "MemoryBudgetError", "MissingExtraError"]
__all__ += ["ModelFileError", "NotSeparableError", "NotSupportedError", "UndecidedError"]
__all__ += ["bounds", "distributed", "errors", "io", "kernels", "losses", "plot", "solvers", "theory"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"maxmargin.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    usual = "errors" if name.endswith("Error") else "estimators"
    home = next((home for home, names in _HOMES.items() if name in names), usual)
    globals()[name] = value = getattr(import_module(f"maxmargin.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
