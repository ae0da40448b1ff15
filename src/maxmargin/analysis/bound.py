"""One answer of a theorem, with everything that it rests on; and the numbers that go into a theorem, checked."""

import math
import numbers
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from maxmargin.errors import InvalidInputError

Kind: TypeAlias = Literal["error", "rate", "count", "samples", "margin", "confidence", "parameter"]
"""What the number is: an upper bound on an error probability, a rate, a number of updates or of samples, and so on."""


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
    >>> from maxmargin.analysis import bounds
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
        known = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        known |= {"inputs": dict(self.inputs), "assumptions": list(self.assumptions)}
        return known | {"vacuous": self.vacuous}

    def __float__(self) -> float:
        try:
            return float(self.value)
        except OverflowError:  # a count beyond float64
            return math.inf

    def __index__(self) -> int:
        if isinstance(self.value, int):
            return self.value
        raise TypeError(f"{self.name} is {self.value!r}, no count. Use float() of it.")

    def __str__(self) -> str:
        words = [self.claim]
        if self.vacuous:
            words.append("This is vacuous: no error probability exceeds 1, so nothing is learned from it.")
        if self.plug_in:
            words.append(
                "This is a plug-in figure: it uses values measured on the sample where the theorem speaks of the "
                "distribution, so it is an indication and no guarantee."
            )
        if self.assumptions:
            words.append(f"Assumed: {'; '.join(self.assumptions)}.")
        return " ".join(words)

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy cannot be pickled: go through the constructor
        return Bound, tuple(
            dict(self.inputs) if entry.name == "inputs" else getattr(self, entry.name) for entry in fields(self)
        )


class Theorem(NamedTuple):
    """Where a number comes from: the source, its formula, what is assumed, and what it is."""

    theorem: str
    formula: str
    assumptions: tuple[str, ...]
    kind: Kind = "error"


_HARD = "Shalev-Shwartz & Ben-David, Theorem 15.4"
_SOFT = "Shalev-Shwartz & Ben-David, Corollary 15.7"
_PERCEPTRON = "Shalev-Shwartz & Ben-David, Remark 15.1"
_MARGIN_ASSUMED = (
    "the m samples are drawn independently from one distribution",
    "with probability 1 its samples have ‖x‖ ≤ ρ and are separated with margin γ by a hyperplane through the origin",
    "the model is the hard-margin SVM without a bias",
)
_HINGE_ASSUMED = (
    "the m samples are drawn independently from one distribution whose samples have ‖x‖ ≤ ρ",
    "the model minimises λ‖w‖² + mean hinge without a bias",
    "hinge losses are means over the distribution, and the error is a mean over training sets",
)
_BEST_ASSUMED = (*_HINGE_ASSUMED, "λ = √(2ρ²/(B²m))")
_RADIUS = "every sample has ‖x‖ ≤ ρ"
_SEPARATED = (
    _RADIUS,
    "some unit vector u has y⟨u, x⟩ ≥ γ on every sample (with a bias: of the samples with the constant feature added)",
)
_SUPPORT_ASSUMED = (
    "the m samples are drawn independently from one distribution",
    "n_support is the mean over training sets of the number of support vectors of the exact optimum",
    "a sample on the right side of its margin stays right when it is left out",
)
_HALFSPACES = ("the halfspaces pass through the origin, so that their VC dimension is d",)
_VAPNIK = "Vapnik, The Nature of Statistical Learning Theory (1995)"

THEOREMS = {
    "hard_margin": Theorem(_HARD, "√(4(ρ/γ)²/m) + √(2 ln(2/δ)/m)", _MARGIN_ASSUMED),
    "hard_margin_samples": Theorem(
        _HARD, "smallest m with √(4(ρ/γ)²/m) + √(2 ln(2/δ)/m) ≤ ε", _MARGIN_ASSUMED, "samples"
    ),
    "hard_margin_gamma": Theorem(_HARD, "2ρ/(ε√m − √(2 ln(2/δ)))", _MARGIN_ASSUMED, "margin"),
    "hard_margin_delta": Theorem(_HARD, "2 exp(−(ε√m − 2ρ/γ)²/2)", _MARGIN_ASSUMED, "confidence"),
    "soft_margin": Theorem(_SOFT, "L(u) + λ‖u‖² + 2ρ²/(λm)", _HINGE_ASSUMED),
    "soft_margin_lambda": Theorem(_SOFT, "√(2ρ²/(B²m))", _HINGE_ASSUMED, "parameter"),
    "soft_margin_best": Theorem(_SOFT, "min_{‖w‖≤B} L(w) + √(8ρ²B²/m)", _BEST_ASSUMED),
    "soft_margin_samples": Theorem(_SOFT, "smallest m with √(8ρ²B²/m) ≤ ε", _BEST_ASSUMED, "samples"),
    "perceptron_updates": Theorem(_PERCEPTRON, "⌊(ρ/γ)²⌋", _SEPARATED, "count"),
    "perceptron_margin": Theorem(_PERCEPTRON, "ρ/√updates", (_RADIUS,), "margin"),
    "leave_one_out_support": Theorem(_VAPNIK, "E[#SV]/m", _SUPPORT_ASSUMED),
    "vc_rate": Theorem("Shalev-Shwartz & Ben-David, section 15.2.2", "√(d/m)", _HALFSPACES, "rate"),
}
"""By the function that gives the number."""


def answer(function: Callable[..., Bound], value: float, claim: str, plug_in: bool = False, **inputs: float) -> Bound:
    """What the theorem of a function says of these inputs."""
    name = function.__name__
    return Bound(value=value, name=name, claim=claim, inputs=inputs, plug_in=plug_in, **THEOREMS[name]._asdict())


COMPUTED_EQUAL = 1e-9
"""Relative difference of a γ and a ρ that are equal, when both were computed."""


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
    if gamma > rho * (1 + COMPUTED_EQUAL):
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
