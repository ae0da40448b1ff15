"""min max against max min of a function of two variables, on finite sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats


@dataclass(frozen=True, eq=False)
class MinMax:
    """Both values and where they are taken.

    With x₁ the row of the min max and y₂ the column of the max min,  upper = max_y f(x₁, y) ≥ f(x₁, y₂) ≥ min_x f(x, y₂) = lower:
    the value `between` them is the whole proof of weak duality.

    Attributes
    ----------
    upper, lower : float
        min_x max_y f and max_y min_x f.
    row, column : int
        The places of x₁ and y₂ in xs and ys.
    table : array
        f(x, y), a row for each x.

    Examples
    --------
    >>> from maxmargin import theory
    >>> found = theory.min_max(lambda x, y: (x - y) ** 2, [0, 1, 2], [0, 1, 2])
    >>> found.upper, found.between, found.lower, found.is_saddle
    (1.0, 1.0, 0.0, False)
    """

    upper: float
    lower: float
    row: int
    column: int
    table: Floats

    @property
    def between(self) -> float:
        """f(x₁, y₂)."""
        return float(self.table[self.row, self.column])

    @property
    def is_saddle(self) -> bool:
        """Whether both values are equal: (x₁, y₂) is then a saddle point."""
        return self.upper == self.lower

    def __str__(self) -> str:
        return f"min max f = {self.upper:.6g} ≥ {self.between:.6g} ≥ {self.lower:.6g} = max min f"


def min_max(f: Callable[[Any, Any], float], xs: Sequence[Any], ys: Sequence[Any]) -> MinMax:
    """Compute min_x max_y f(x, y) and max_y min_x f(x, y) over two finite sets, which show weak duality. |xs|·|ys| calls of f.

    Parameters
    ----------
    f : function of two arguments
        Its values may be infinite, as those of a Lagrangian's extremes are.
    xs, ys : sequences
        What is minimised over, and what is maximised over.

    Examples
    --------
    >>> from maxmargin import theory
    >>> pennies = theory.min_max(lambda x, y: 1 if x == y else -1, ["head", "tail"], ["head", "tail"])
    >>> print(pennies)
    min max f = 1 ≥ 1 ≥ -1 = max min f
    >>> theory.min_max(lambda x, y: x * x - y * y, [-1, 0, 1], [-1, 0, 1]).is_saddle
    True
    """
    table = np.array([[float(f(x, y)) for y in ys] for x in xs], dtype=np.float64)
    if table.size == 0 or np.isnan(table).any():
        what = "has no value" if table.size == 0 else "is NaN somewhere"
        raise InvalidInputError(f"f {what} on these sets. Use sets with at least one element on which f is a number.")
    row, column = int(table.max(axis=1).argmin()), int(table.min(axis=0).argmax())
    return MinMax(float(table[row].max()), float(table[:, column].min()), row, column, table)
