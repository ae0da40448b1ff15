"""A point to be judged."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.typing import Floats


@dataclass(frozen=True)
class Candidate:
    """A point to be judged: w (a vector of the feature space), the bias b, and a dual point β that vouches for it.

    b is a number, or an array where the problem has groups. A solver that has computed its scores may pass them on.
    """

    w: Floats
    b: Any
    beta: Floats
    scores: Any = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("w", "beta"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
