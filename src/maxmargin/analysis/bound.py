"""One answer of a theorem, with everything that it rests on; and the numbers that go into a theorem, checked."""

import math
import numbers
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeAlias

from maxmargin.errors import InvalidInputError
from maxmargin.rounding import raised

Kind: TypeAlias = Literal["error", "rate", "count", "samples", "margin", "confidence", "parameter"]
"""What the number is: an upper bound on an error probability, a rate, a number of updates or of samples, and so on."""

PLUG_IN = "This is a plug-in figure, with values of the sample in place of the distribution's: an indication, not a guarantee."

P = ParamSpec("P")


@dataclass(frozen=True)
class Bound:
    """A number that a theorem gives, what it means and what it assumes.

    ``float(bound)`` is the number, ``str(bound)`` says it in words. A count can be used as an integer, so that the
    answer of an inverse goes straight back into the bound.

    Attributes
    ----------
    value : float or int
        The number; an int where it counts something.
    name : str
        The function that made it.
    theorem : str
        Where it is proved.
    formula : str
        The formula, in the letters of ``inputs``.
    claim : str
        What the value means, as a sentence that contains it.
    inputs : mapping from str to float
        What was put in.
    assumptions : tuple of str
        What has to hold, one clause each.
    kind : str
        "error" for an upper bound on an error probability; else what is counted, chosen or compared.
    plug_in : bool
        Whether the inputs were measured on a sample although the theorem speaks of the distribution.

    Examples
    --------
    >>> from maxmargin import bounds
    >>> b = bounds.hard_margin(rho=1.0, gamma=1.0, m=4, delta=0.5)
    >>> b.vacuous, float(b) > 1
    (True, True)
    >>> print(bounds.perceptron_updates(rho=1.0, gamma=0.25))
    The perceptron makes at most 16 updates. Assumed: every sample has ‖x‖ ≤ ρ; some unit vector u has y⟨u, x⟩ ≥ γ on
    every sample (with a bias: of the samples with the constant feature added).
    """

    value: float | int
    name: str
    theorem: str
    formula: str
    claim: str
    inputs: Mapping[str, float | int] = field(hash=False)
    assumptions: tuple[str, ...] = ()
    kind: Kind = "error"
    plug_in: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", MappingProxyType(dict(self.inputs)))

    @property
    def vacuous(self) -> bool:
        """Whether it bounds an error probability by 1 or more, which is no news."""
        return self.kind == "error" and self.value >= 1

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data, for example for JSON."""
        return vars(self) | {"inputs": dict(self.inputs), "assumptions": list(self.assumptions), "vacuous": self.vacuous}

    def __float__(self) -> float:
        return float(self.value) if self.value <= sys.float_info.max else math.inf  # a count may be beyond float64

    def __index__(self) -> int:
        if isinstance(self.value, int):
            return self.value
        raise TypeError(f"{self.name} is {self.value!r}, not a count. Use float().")

    def __str__(self) -> str:
        vacuous = "This is vacuous: no error probability exceeds 1, so nothing is learned from it." if self.vacuous else ""
        assumed = f"Assumed: {'; '.join(self.assumptions)}." if self.assumptions else ""
        return " ".join(filter(None, (self.claim, vacuous, PLUG_IN if self.plug_in else "", assumed)))

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy cannot be pickled: go through the constructor
        return Bound, tuple((vars(self) | {"inputs": dict(self.inputs)}).values())


class Rule(NamedTuple):
    """What an input must be, and whether a number meets that, given the inputs that were checked before."""

    wanted: str
    holds: Callable[[float, Mapping[str, float]], bool]


positive = Rule("a finite number > 0", lambda x, _: x > 0)
at_most_rho = Rule("a number > 0 and at most rho = {rho}", lambda x, given: 0 < x <= raised(given["rho"], 4))
not_negative = Rule("a finite number ≥ 0", lambda x, _: x >= 0)
probability = Rule("a number strictly between 0 and 1", lambda x, _: 0 < x < 1)
count = Rule("an integer from 1 to 1e300", lambda x, _: 1 <= x <= 10**300)
at_most_m = Rule("a number between 0 and m = {m}", lambda x, given: 0 <= x <= given["m"])

INPUTS = {
    "rho": (not_negative, "rho is the radius of the data: every ‖x‖ ≤ ρ."),
    "gamma": (at_most_rho, "gamma is the margin, γ ≤ ‖x‖ ≤ ρ; a sample that is not separated has none: use soft_margin there."),
    "m": (count, "m is the number of training samples."),
    "d": (count, "d is the number of features."),
    "delta": (probability, "delta is the probability with which the bound may fail, for example 0.05."),
    "epsilon": (probability, "epsilon is the target to reach, for example 0.1."),
    "hinge_loss": (not_negative, "hinge_loss is a mean of max(0, 1 − y⟨u, x⟩)."),
    "norm": (not_negative, "norm is ‖u‖ of the vector that hinge_loss belongs to."),
    "lam": (positive, "lam is the λ of λ‖w‖² + mean hinge: Regularization.to('tikhonov', n).value gives it."),
    "B": (positive, "B bounds the norm of the vectors to compare with."),
    "updates": (count, "updates is how often the perceptron changed w; the first sample always makes it do so."),
    "n_support": (at_most_m, "n_support is an expected number of support vectors, between 0 and m."),
}
"""The rule of each input, unless a theorem has another one, and what the input means; they are checked in this order."""


def theorem(
    source: str, formula: str, assumptions: tuple[str, ...], kind: Kind = "error", **rules: Rule
) -> Callable[[Callable[P, tuple[float, str]]], Callable[P, Bound]]:
    """Make a function from inputs to (value, claim) check its inputs by their names, and return a `Bound`.

    The functions take keywords only. `plug_in` is no input of a theorem: it goes into the bound.
    """

    def decorate(function: Callable[P, tuple[float, str]]) -> Callable[P, Bound]:

        @wraps(function)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Bound:
            signature(function).bind(*args, **kwargs)  # an error where one is missing
            inputs: dict[str, float] = {}
            for key in [key for key in INPUTS if key in kwargs]:
                inputs[key] = _checked(key, kwargs[key], rules.get(key, INPUTS[key][0]), inputs)
            value, claim = function(*args, **{**kwargs, **inputs})  # type: ignore[arg-type]
            plug_in = bool(kwargs.get("plug_in", False))
            return Bound(value, function.__name__, source, formula, claim, inputs, assumptions, kind, plug_in)

        bound.__annotations__["return"] = Bound
        return bound

    return decorate


def _checked(name: str, value: Any, rule: Rule, given: Mapping[str, float]) -> float:
    """A number that meets the rule. As a count 10.0 is none, since a rounded sample size hides a mistake."""
    value = value.value if isinstance(value, Bound) else value
    try:
        is_real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        x = (operator.index(value) if rule is count else float(value)) if is_real else math.nan
    except (TypeError, OverflowError):
        x = math.nan
    if x != math.inf and rule.holds(x, given):
        return x
    raise InvalidInputError(f"{name} = {value!r} where {rule.wanted.format(**given)} is wanted. {INPUTS[name][1]}")


def smallest_sample(value: Callable[[int], float], epsilon: float, guess: float) -> int:
    """Smallest m ≥ 1 with value(m) ≤ ε, for a value that does not increase with m: exact, by bisection, O(log m)."""
    if not guess < 1e300:
        raise InvalidInputError(f"epsilon = {epsilon!r} would take more than 1e300 samples. Use a larger epsilon.")
    low, high = 0, max(1, math.ceil(guess))  # low fails, as nothing is known from no sample; high is raised until it holds
    while value(high) > epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if value(middle) <= epsilon else (middle, high)
    return high
