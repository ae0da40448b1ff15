"""One answer of a theorem, with everything that it rests on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

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
        return {
            "value": self.value,
            "name": self.name,
            "theorem": self.theorem,
            "formula": self.formula,
            "claim": self.claim,
            "inputs": dict(self.inputs),
            "assumptions": list(self.assumptions),
            "kind": self.kind,
            "plug_in": self.plug_in,
            "vacuous": self.vacuous,
        }

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
        args = (self.value, self.name, self.theorem, self.formula, self.claim, dict(self.inputs), self.assumptions)
        return Bound, (*args, self.kind, self.plug_in)
