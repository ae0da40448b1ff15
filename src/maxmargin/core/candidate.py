"""A point to be judged."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.typing import Floats


@dataclass(frozen=True)
class Candidate:
    """A point to be judged: w (a vector of the feature space), the bias b, and a dual point β that vouches for it.

    b is a number, or an array where the problem has groups.
    """

    w: Floats
    b: Any
    beta: Floats

    def __post_init__(self) -> None:
        for name in ("w", "beta"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
