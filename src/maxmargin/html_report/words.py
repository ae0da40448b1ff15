"""How values are written."""

from numbers import Integral
from typing import Any


def number(value: Any, digits: int = 4) -> str:
    """A number as people write it: few digits, thousands apart, a real minus.

    Examples
    --------
    >>> number(-0.12345), number(20000)
    ('−0.1235', '20\u202f000')
    """
    words = f"{int(value):,}".replace(",", "\u202f") if isinstance(value, Integral) else f"{value:.{digits}g}"
    return words.replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """A share in percent."""
    return f"{share:.{digits}%}"
