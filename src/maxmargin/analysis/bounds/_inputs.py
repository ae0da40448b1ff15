"""The numbers that go into a theorem, checked; and the smallest sample size that reaches a target."""

import math
import numbers
import operator
from collections.abc import Callable
from typing import Any

from maxmargin.analysis.bounds._bound import Bound
from maxmargin.errors import InvalidInputError

_ROUNDING = 1e-9  # γ and ρ that are equal may differ by this much when both were computed


def number(name: str, value: Any, wanted: str, holds: Callable[[float], bool]) -> float:
    """A finite real number for which the condition holds."""
    if isinstance(value, Bound):
        value = value.value
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        try:
            x = float(value)
        except OverflowError:
            x = math.inf
        if math.isfinite(x) and holds(x):
            return x
    raise InvalidInputError(f"{name} = {value!r} where {wanted} is wanted. {_MEANING[name]}")


def positive(name: str, value: Any) -> float:
    """A number > 0."""
    return number(name, value, "a finite number > 0", lambda x: x > 0)


def not_negative(name: str, value: Any) -> float:
    """A number ≥ 0."""
    return number(name, value, "a finite number ≥ 0", lambda x: x >= 0)


def probability(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    return number(name, value, "a number strictly between 0 and 1", lambda x: 0 < x < 1)


def count(name: str, value: Any) -> int:
    """An integer ≥ 1; 10.0 is none, since a rounded sample size hides a mistake."""
    try:
        n = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        n = 0
    if 1 <= n <= 10**300:
        return n
    raise InvalidInputError(f"{name} = {value!r} where an integer from 1 to 1e300 is wanted. {_MEANING[name]}")


def radius_and_margin(rho: Any, gamma: Any) -> tuple[float, float]:
    """ρ and γ with 0 < γ ≤ ρ, beyond which no sample exists."""
    rho, gamma = not_negative("rho", rho), positive("gamma", gamma)
    if gamma > rho * (1 + _ROUNDING):
        raise InvalidInputError(
            f"gamma = {gamma!r} is larger than rho = {rho!r}, which is impossible: γ ≤ y⟨u, x⟩ ≤ ‖x‖ ≤ ρ for a unit "
            "vector u. Look whether γ is a margin in the same units as ρ, and of a hyperplane through the origin."
        )
    return rho, gamma


def smallest_sample(value: Callable[[int], float], epsilon: float, guess: float) -> int:
    """Smallest m ≥ 1 with value(m) ≤ ε, for a value that does not increase with m: exact, by bisection, O(log m)."""
    if not guess < 1e300:
        raise InvalidInputError(
            f"epsilon = {epsilon!r} would take more than 1e300 samples, where float64 ends. Use a larger epsilon."
        )
    low, high = 0, max(1, math.ceil(guess))  # low fails, as nothing is known from no sample; high shall hold
    while value(high) > epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if value(middle) <= epsilon else (middle, high)
    return high


_MEANING = {
    "rho": "rho is the radius of the data: every ‖x‖ ≤ ρ.",
    "gamma": "gamma is the margin, a distance; a sample that is not separated has none: use soft_margin there.",
    "m": "m is the number of training samples.",
    "d": "d is the number of features.",
    "delta": "delta is the probability with which the bound may fail, for example 0.05.",
    "epsilon": "epsilon is the target to reach, for example 0.1.",
    "hinge_loss": "hinge_loss is a mean of max(0, 1 − y⟨u, x⟩).",
    "norm": "norm is ‖u‖ of the vector that hinge_loss belongs to.",
    "lam": "lam is the λ of λ‖w‖² + mean hinge: Regularization.to('tikhonov', n).value gives it.",
    "B": "B bounds the norm of the vectors to compare with.",
    "updates": "updates is how often the perceptron changed w; the first sample always makes it do so.",
    "n_support": "n_support is an expected number of support vectors, between 0 and m.",
}
