"""The parameters of all classifiers with a kernel."""

from dataclasses import dataclass
from typing import Any


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """Mixin: fields that an estimator's `__init__` takes."""

    kernel: Any = "linear"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    fit_intercept: bool = True
    max_seconds: float | None = None
