"""How values are written."""

from numbers import Integral
from typing import Any

from maxmargin.rounding import shown_above


def number(value: Any, digits: int = 4) -> str:
    """A number as people write it: few digits, thousands apart, a real minus.

    Examples
    --------
    >>> number(-0.12345), number(20000)
    ('−0.1235', '20\u202f000')
    """
    words = f"{int(value):,}".replace(",", "\u202f") if isinstance(value, Integral) else f"{value:.{digits}g}"
    return words.replace("-", "−")


def above(value: float, digits: int = 2) -> str:
    """A number that something is proved to be below: it is rounded up, as in the certificate's sentence."""
    return shown_above(value, digits).replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """A share in percent."""
    return f"{share:.{digits}%}"
