"""What travels between the driver and the blocks: a command for each binary problem down, sums up.

A **block** is the part of the samples that one thread of one worker looks after; it has one or more partitions. A round sends
the same commands to every block and adds up what they answer, in the order of the blocks, so that the bits do not depend on which
was first.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from maxmargin.core import Bias
from maxmargin.core.losses import Loss
from maxmargin.solvers.auto import FEW_FEATURES
from maxmargin.solvers.linear.rows import Rows
from maxmargin.typing import Floats, Indices, Matrix

Sums = dict[str, Any]
"""What a command found, by name: anything that can be added. `"lost"` counts the partitions whose dual variables were gone."""


def added(parts: Iterable[Sums]) -> Sums:
    """The sums of all parts.

    Examples
    --------
    >>> added([{"n": 1}, {"n": 2, "w": np.ones(2)}])
    {'n': 3, 'w': array([1., 1.])}
    """
    out: Sums = {}
    for part in parts:
        for name, value in part.items():
            out[name] = out[name] + value if name in out else value
    return out


@dataclass(frozen=True)
class Plan:
    """What all blocks must know before the first round."""

    classes: Any
    cost: float  # of a sample of weight 1, but for the factor of its class
    factors: Floats
    positives: tuple[int, ...]  # the class that each binary problem tells from the rest
    n_features: int
    loss: Loss
    bias: Bias
    is_kept: bool
    seed: int = 0

    @property
    def is_wide(self) -> bool:
        """Whether there are too many features for a d × d matrix to travel."""
        return self.n_features > FEW_FEATURES


@dataclass
class Memory:
    """What a block keeps of one partition for one binary problem, from round to round; all of it can be made again."""

    y: Floats | None = None  # where the partition is kept
    sweeps: Any = None  # of coordinate descent, with its dual variables
    centre: Floats | None = None  # θ⁰ of the proximal method
    newton: Any = None  # the smoothed problem, where the partition is kept


@dataclass
class Site:
    """One partition as one binary problem sees it: X as it was given, and `rows` as the loops want it."""

    X: Matrix
    rows: Rows
    squares: Floats
    y: Floats
    cost: Floats
    plan: Plan
    memory: Memory

    @property
    def present(self) -> Indices:
        """The samples that count."""
        return np.flatnonzero(self.cost > 0)


class Command(ABC):
    """What a block shall do for one binary problem, partition by partition."""

    @abstractmethod
    def visit(self, site: Site, carried: dict[str, Any]) -> Sums:
        """Work on one partition; `carried` goes on to the block's next one, and is empty at the beginning of a round."""

    def close(self, carried: dict[str, Any]) -> Sums:
        """What the block as a whole adds, when all partitions were visited."""
        return {}


Commands = dict[int, Command]
"""A command for each binary problem that is still being solved."""


def n_bytes(thing: Any) -> int:
    """The bytes of all arrays in a command or an answer: what travels, but for headers.

    Examples
    --------
    >>> n_bytes({"v": np.zeros(10), "n": 3})
    88
    """
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if isinstance(thing, dict):
        return n_bytes(thing.values())
    if is_dataclass(thing):
        return n_bytes([getattr(thing, f.name) for f in fields(thing)])
    if isinstance(thing, Iterable) and not isinstance(thing, str | bytes):
        return sum(n_bytes(part) for part in thing)
    return 8
