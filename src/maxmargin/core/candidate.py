"""A point to be judged."""

from dataclasses import dataclass

from maxmargin.typing import Floats


@dataclass(frozen=True)
class Candidate:
    """A point to be judged: w (a vector of the feature space), the bias b, and a dual point β that vouches for it."""

    w: Floats
    b: float
    beta: Floats
