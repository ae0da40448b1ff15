"""From what is typed to the values of parameters, and from labels to what is written."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from maxmargin.core import Regularization

WORDS: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None}
FORMS = ("sum", "mean", "tikhonov", "pegasos", "ridge")


def typed(text: str) -> Any:
    """A number, true, false or none where it is one, else the text.

    Examples
    --------
    >>> [typed(text) for text in ("3", "1e-4", "inf", "true", "none", "rbf")]
    [3, 0.0001, inf, True, None, 'rbf']
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    number = real(text)
    return text if "_" in text or math.isnan(number) else number


def real(text: str) -> float:
    """A float, NaN where it is none; a number beyond float64 is refused, where `float` would make it infinite.

    Examples
    --------
    >>> real("1e-4"), real("inf"), real("rbf")
    (0.0001, inf, nan)
    """
    try:
        number = float(text)
    except ValueError:
        return math.nan
    if math.isinf(number) and "inf" not in text.lower():
        raise typer.BadParameter(f"{text} is out of range: the largest float64 number is 1.8e308.")
    return number


def trade_off(text: str) -> "float | Regularization":
    """C as a number, or ``form:number`` in one of the spellings of `Regularization`.

    Examples
    --------
    >>> trade_off("10"), trade_off("inf"), trade_off("pegasos:1e-4")
    (10.0, inf, Regularization.pegasos(0.0001))
    """
    from maxmargin.core import Regularization
    from maxmargin.errors import InvalidInputError

    form, colon, number = text.rpartition(":")
    value = real(number)
    if math.isnan(value) or (colon and form not in FORMS):
        raise typer.BadParameter(
            f"C must be a number, or a spelling and a number ({', '.join(f'{f}:1' for f in FORMS)}), got {text!r}."
        )
    try:
        found = Regularization(form if colon else "sum", value)  # type: ignore[arg-type]
    except InvalidInputError as error:
        raise typer.BadParameter(str(error)) from error
    return found if colon else value


def class_weights(text: str, classes: Sequence[Any]) -> Any:
    """Balanced, none, or ``label=weight,label=weight`` for labels of the data.

    Examples
    --------
    >>> class_weights("spam=2,7=0.5", [7, 8, "spam"])
    {'spam': 2.0, 7: 0.5}
    """
    if text.lower() in ("balanced", "none"):
        return None if text.lower() == "none" else "balanced"
    known = {str(label): label for label in classes}
    weights = {}
    for pair in text.split(","):
        label, _, number = pair.rpartition("=")
        label, weight = label.strip(), real(number)
        if not label or not 0 < weight < math.inf:
            raise typer.BadParameter(f"class_weight must be balanced or label=weight,label=weight, got {pair!r}.")
        if label not in known:
            raise typer.BadParameter(f"class_weight names {label!r}; the labels are {', '.join(list(known)[:10])}.")
        weights[known[label]] = weight
    return weights


def written(label: Any) -> str:
    """A label as it stands in files: whole numbers without a fraction.

    Examples
    --------
    >>> written("bird"), written(1), written(1.0), written(1.5)
    ('bird', '1', '1', '1.5')
    """
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
