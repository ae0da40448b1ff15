"""What the parameters mean, in a few words each, and how values are written."""

from numbers import Integral
from typing import Any

MEANINGS = {
    "C": "the trade-off: larger fits the samples more closely",
    "average": "which iterates are averaged",
    "batch_size": "samples a step",
    "break_ties": "how equal votes are settled",
    "cache_size": "memory for kernel rows",
    "class_weight": "factors of the costs by class",
    "coef0": "constant of the polynomial and sigmoid kernels",
    "decision_function_shape": "columns of decision_function for more than two classes",
    "degree": "of the polynomial kernel",
    "eta": "the learning rate",
    "fit_intercept": "whether there is a bias b",
    "gamma": "of the kernel; “scale” is computed from the data",
    "intercept_scaling": "None leaves the bias free; a number penalises it",
    "kernel": "where the hyperplane lies",
    "loss": "what a sample costs",
    "margin": "the margin of the mistake bound",
    "max_iter": "budget of rounds; −1 is no limit",
    "max_seconds": "budget of seconds; None is no limit",
    "method": "Pegasos or SGD",
    "n_epochs": "budget of epochs",
    "n_jobs": "threads; the model does not depend on it",
    "output": "the last, averaged or voted perceptron",
    "penalty": "what is kept small",
    "project": "Pegasos's projection",
    "random_state": "seed",
    "shrinking": "whether settled samples are left out for a while",
    "shuffle": "whether the order is random",
    "solver": "which algorithm was asked for",
    "tol": "the relative duality gap to prove",
    "verbose": "whether progress was shown",
    "warm_start": "whether a fit starts from the last one",
}

LONGEST = 160


def short(value: Any) -> str:
    """The repr of a value, cut where it is long."""
    words = repr(value)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}… ({len(words)} characters)"


def number(value: Any, digits: int = 4) -> str:
    """A number as people write it: few digits, thousands apart, a real minus.

    Examples
    --------
    >>> number(-0.12345), number(20000)
    ('−0.1235', '20\u202f000')
    """
    if isinstance(value, Integral):
        return f"{int(value):,}".replace(",", "\u202f").replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """A share in percent."""
    return f"{share:.{digits}%}"
