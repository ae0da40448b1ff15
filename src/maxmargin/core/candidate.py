"""A point to be judged."""

from dataclasses import dataclass

import numpy as np

from maxmargin.typing import Floats


@dataclass(frozen=True)
class Candidate:
    """A point to be judged: w (a vector of the feature space), the bias b, and a dual point β that vouches for it."""

    w: Floats
    b: float
    beta: Floats

    def __post_init__(self) -> None:
        for name in ("w", "beta"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
