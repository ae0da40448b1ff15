"""From what a user types to a kernel object."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from maxmargin.errors import InvalidInputError
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.custom import Custom
from maxmargin.kernels.inner import Linear, Polynomial, Sigmoid
from maxmargin.kernels.parameters import check_degree, check_gamma, check_number
from maxmargin.kernels.precomputed import Precomputed
from maxmargin.kernels.rbf import RBF

KERNELS: Mapping[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}
"""The kernels that have a name. Estimators, command line and model files take them from here."""


def kernel_from_name(kernel: Any, *, degree: Any = 3, gamma: Any = "scale", coef0: Any = 0.0) -> Kernel:
    """Return the kernel that a name, a function or a kernel object stands for.

    Parameters
    ----------
    kernel : str, callable or Kernel
        A name of `KERNELS`; a function of two matrices (see `Custom`); or a kernel, which is returned as it is.
    degree, gamma, coef0
        Parameters of the named kernels that have them, as in scikit-learn.

    Examples
    --------
    >>> from maxmargin.kernels import kernel_from_name
    >>> kernel_from_name("poly", degree=2, gamma=1, coef0=1)
    Polynomial(degree=2, gamma=1.0, coef0=1.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        check_degree(degree), check_gamma(gamma), check_number("coef0", coef0)  # even where the kernel has none
        if kernel in KERNELS:
            given = {"degree": degree, "gamma": gamma, "coef0": coef0}
            kind: Any = KERNELS[kernel]
            named: Kernel = kind(**{field.name: given[field.name] for field in fields(kind) if field.name in given})
            return named
    elif isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InvalidInputError(f"kernel={kernel.__name__} is a class. Pass an object of it: kernel={kernel.__name__}().")
    elif callable(kernel):
        return Custom(kernel)
    raise InvalidInputError(
        f"kernel={kernel!r} is unknown. Use one of {', '.join(map(repr, KERNELS))}, a function of two matrices, "
        "or a Kernel object."
    )
