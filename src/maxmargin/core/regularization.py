"""Every spelling of the trade-off between a large margin and small slacks, and the per-sample cost that it means.

    ½‖w‖² + Σ_j c_j ξ_j        c_j = cost × sample weight × class weight

The sources write this objective in five ways that differ by a factor. Dividing each by whatever stands before ½‖w‖²
leaves one number, the cost; with the cost at infinity no slack can be paid for, which is the hard margin.
"""

import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from maxmargin.errors import InvalidInputError

PenaltyName: TypeAlias = Literal["l2", "l1"]
"""The penalties that a trade-off can stand beside."""

Spelling: TypeAlias = Literal["sum", "mean", "tikhonov", "pegasos", "ridge", "hard"]
"""The names of the spellings, as the constructors of :class:`Regularization` have them."""


class _Form(NamedTuple):
    """How a spelling is written: the formula, the letter of its value, whether it has the mean of the slacks, λ‖w‖² or λ/2."""

    formula: str
    symbol: str
    is_mean: bool = False
    is_whole: bool = False


_FORMS: dict[str, _Form] = {
    "sum": _Form("½‖w‖² + C Σξ", "C"),
    "mean": _Form("½‖w‖² + (C/n) Σξ", "C", is_mean=True),
    "tikhonov": _Form("λ‖w‖² + (1/n) Σξ", "λ", is_mean=True, is_whole=True),
    "pegasos": _Form("(λ/2)‖w‖² + (1/n) Σξ", "λ", is_mean=True),
    "ridge": _Form("λ‖w‖² + Σξ", "λ", is_whole=True),
    "hard": _Form("½‖w‖² with every ξ = 0 (hard margin)", "C"),
}


@dataclass(frozen=True)
class Regularization:
    """How much a slack costs beside ½‖w‖², in the spelling of your choice.

    ===============  ========================  ==============
    constructor      minimises                 cost per sample
    ===============  ========================  ==============
    ``sum(C)``       ½‖w‖² + C Σξ              C
    ``mean(C)``      ½‖w‖² + (C/n) Σξ          C/n
    ``tikhonov(λ)``  λ‖w‖² + (1/n) Σξ          1/(2λn)
    ``pegasos(λ)``   (λ/2)‖w‖² + (1/n) Σξ      1/(λn)
    ``ridge(λ)``     λ‖w‖² + Σξ                1/(2λ)
    ``hard()``       ½‖w‖² s.t. every ξ = 0    ∞
    ===============  ========================  ==============

    n is the sum of the sample weights, so that a weight of k means k copies. C = ∞ and λ = 0 are the hard margin in
    every spelling, and all of them equal ``Regularization.hard()``.

    With the L1 penalty ‖w‖₁ stands where ½‖w‖² or ‖w‖² stood, and λ before it: ``sum`` ‖w‖₁ + C Σξ, ``mean``
    ‖w‖₁ + (C/n) Σξ, ``tikhonov`` and ``pegasos`` both λ‖w‖₁ + (1/n) Σξ with the cost 1/(λn), ``ridge`` λ‖w‖₁ + Σξ with
    the cost 1/λ.

    Parameters
    ----------
    spelling : {"sum", "mean", "tikhonov", "pegasos", "ridge", "hard"}
        Which of the formulas; the constructors above are the usual way to say it.
    value : float
        C > 0 (``sum``, ``mean``) or λ ≥ 0 (``tikhonov``, ``pegasos``, ``ridge``); ∞ for ``hard``.

    Examples
    --------
    >>> from maxmargin import Regularization
    >>> r = Regularization.pegasos(0.5)
    >>> r.cost(100)
    0.02
    >>> r.to("sum", 100)
    Regularization.sum(0.02)
    >>> print(r)
    (λ/2)‖w‖² + (1/n) Σξ with λ = 0.5
    >>> Regularization.tikhonov(0) == Regularization.sum(float("inf")) == Regularization.hard()
    True
    """

    spelling: Spelling
    value: float = math.inf

    def __post_init__(self) -> None:
        if self.spelling not in _FORMS:
            raise InvalidInputError(f"Unknown spelling {self.spelling!r} of the regularization. Use one of {', '.join(_FORMS)}.")
        symbol = _FORMS[self.spelling].symbol
        value = _real(self.value, symbol)
        if symbol == "C" and not value > 0:
            raise InvalidInputError(
                f"C = {self.value!r} where a number > 0 is wanted: C is what a slack costs. Use a small positive C for "
                "a wide margin, or inf for the hard margin."
            )
        if symbol == "λ" and not 0 <= value < math.inf:
            raise InvalidInputError(
                f"λ = {self.value!r} where a finite number ≥ 0 is wanted: λ is the weight of ‖w‖². Use a large λ for a "
                "wide margin, or 0 for the hard margin."
            )
        if self.spelling == "hard" and value != math.inf:
            raise InvalidInputError(
                f"The hard margin has no parameter, got {self.value!r}. Write Regularization.hard(), or "
                f"Regularization.sum({self.value!r}) if a soft margin is meant."
            )
        hard = value == (math.inf if symbol == "C" else 0.0)
        object.__setattr__(self, "spelling", "hard" if hard else str(self.spelling))
        object.__setattr__(self, "value", math.inf if hard else value)

    @classmethod
    def sum(cls, C: float) -> "Regularization":
        """½‖w‖² + C Σξ: the cost is C, scikit-learn's and LIBSVM's habit."""
        return cls("sum", C)

    @classmethod
    def mean(cls, C: float) -> "Regularization":
        """½‖w‖² + (C/n) Σξ: the cost is C/n, so that C keeps its meaning as the sample grows."""
        return cls("mean", C)

    @classmethod
    def tikhonov(cls, lam: float) -> "Regularization":
        """λ‖w‖² + (1/n) Σξ: the cost is 1/(2λn); the soft-SVM rule of the generalisation bounds."""
        return cls("tikhonov", lam)

    @classmethod
    def pegasos(cls, lam: float) -> "Regularization":
        """(λ/2)‖w‖² + (1/n) Σξ: the cost is 1/(λn); the form that stochastic gradients are written for."""
        return cls("pegasos", lam)

    @classmethod
    def ridge(cls, lam: float) -> "Regularization":
        """λ‖w‖² + Σξ: the cost is 1/(2λ), as in ridge regression."""
        return cls("ridge", lam)

    @classmethod
    def hard(cls) -> "Regularization":
        """½‖w‖² where no slack is allowed: the cost is infinite."""
        return cls("hard", math.inf)

    @classmethod
    def of(cls, value: "float | Regularization") -> "Regularization":
        """Read a float as C of the sum of slacks, and leave a :class:`Regularization` as it is.

        >>> from maxmargin import Regularization
        >>> Regularization.of(10)
        Regularization.sum(10.0)
        """
        return value if isinstance(value, cls) else cls("sum", value)  # type: ignore[arg-type]

    @property
    def is_hard(self) -> bool:
        """Whether this is the hard margin: no finite price buys a slack."""
        return self.spelling == "hard"

    @property
    def is_mean(self) -> bool:
        """Whether the losses are averaged, so that a sample's cost depends on how many there are."""
        return _FORMS[self.spelling].is_mean

    def cost(self, n: float, penalty: PenaltyName = "l2") -> float:
        """Cost of one unit of slack of one sample of weight 1, beside ½‖w‖², or beside ‖w‖₁ for the L1 penalty.

        Parameters
        ----------
        n : float
            Sum of the sample weights, > 0. Unused by ``sum``, ``ridge`` and ``hard``, whose cost is the same for any n.
        penalty : {"l2", "l1"}
            λ‖w‖² is 2λ times ½‖w‖²; λ‖w‖₁ is λ times ‖w‖₁.
        """
        n, form = _total_weight(n), _FORMS[self.spelling]
        factor = _factor(form, penalty)
        if self.is_hard:
            return math.inf
        cost = self.value if form.symbol == "C" else factor / self.value
        return self._representable(cost / n if form.is_mean else cost, "its cost", n)

    def to(self, spelling: Spelling, n: float, penalty: PenaltyName = "l2") -> "Regularization":
        """Say the same in another spelling, for a sample of total weight n and this penalty.

        The hard margin is the hard margin in every spelling. A soft margin has no equal among the hard ones, so that
        asking for ``"hard"`` is refused. Exact up to rounding.
        """
        if spelling not in _FORMS:
            return Regularization(spelling)  # refused there, in the same words
        cost, form = self.cost(n, penalty), _FORMS[spelling]
        if self.is_hard or spelling == self.spelling:
            return self
        if spelling == "hard":
            raise InvalidInputError(
                f"{self!r} is a soft margin and has no equal among the hard ones. Use Regularization.hard() to ask "
                "for the hard margin."
            )
        samples = float(n) if form.is_mean else 1.0
        value = cost * samples if form.symbol == "C" else _factor(form, penalty) / cost / samples
        return Regularization(spelling, self._representable(value, f"its {form.symbol}", n))

    def words(self, penalty: PenaltyName = "l2", slack: str = "ξ") -> str:
        """What is minimised, as a formula with this penalty and this loss of a sample.

        >>> from maxmargin import Regularization
        >>> Regularization.ridge(0.5).words("l1", "ξ²")
        'λ‖w‖₁ + Σξ² with λ = 0.5'
        """
        formula, symbol, *_ = _FORMS[self.spelling]
        if _is_l1(penalty):
            formula = formula.replace("½‖w‖²", "‖w‖₁").replace("(λ/2)‖w‖²", "λ‖w‖₁").replace("‖w‖²", "‖w‖₁")
        formula = formula.replace("Σξ", f"Σ{slack}")
        return formula if self.is_hard else f"{formula} with {symbol} = {self.value!r}"

    def _representable(self, number: float, what: str, n: float) -> float:
        """Refuse what over- or underflows: an infinite or zero cost would silently mean another problem."""
        if 0 < number < math.inf:
            return number
        raise InvalidInputError(
            f"{self!r} with n = {n!r}: {what} is {number!r} in float64, beyond the range of the numbers. Use a value "
            "nearer to 1, or Regularization.hard() if the hard margin is meant."
        )

    def __repr__(self) -> str:
        return f"Regularization.{self.spelling}({'' if self.is_hard else repr(self.value)})"

    def __str__(self) -> str:
        return self.words()


def _is_l1(penalty: str) -> bool:
    if penalty not in ("l2", "l1"):
        raise InvalidInputError(f'penalty must be "l2" or "l1", got {penalty!r}.')
    return penalty == "l1"


def _factor(form: _Form, penalty: str) -> float:
    """By what to multiply 1/λ for the cost: λ‖w‖² has 2λ before ½‖w‖², λ‖w‖₁ has λ before ‖w‖₁."""
    return 0.5 if not _is_l1(penalty) and form.is_whole else 1.0


def _real(value: Any, symbol: str) -> float:
    """A real number as a float; refuses bool, NaN and everything that is no number."""
    # numpy's bool is no numbers.Real, Python's is
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        try:
            number = float(value)
        except OverflowError:
            number = math.nan
        if not math.isnan(number):
            return number
    raise InvalidInputError(
        f"{symbol} = {value!r} ({type(value).__name__}) is no number that float64 holds. Use a positive number such as "
        "1.0, or one of the constructors Regularization.sum, mean, tikhonov, pegasos, ridge, hard."
    )


def _total_weight(n: Any) -> float:
    """The sum of the sample weights, checked."""
    total = _real(n, "n")
    if not 0 < total < math.inf:
        raise InvalidInputError(
            f"n = {n!r} where a finite number > 0 is wanted. Pass the sum of the sample weights, or len(y) if there are none."
        )
    return total
