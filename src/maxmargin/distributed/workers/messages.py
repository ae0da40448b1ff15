"""What travels between the driver and the blocks: a command for each binary problem down, sums up.

A **block** is the part of the samples that one thread of one worker looks after; it has one or more partitions. A round sends
the same commands to every block and adds up what they answer, in the order of the blocks, so that the bits do not depend on who
was first.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from maxmargin.core import Bias
from maxmargin.core.losses import Loss
from maxmargin.solvers.linear.rows import Rows
from maxmargin.solvers.linear.smoothed_hinge import Smoothed
from maxmargin.typing import Floats, Indices, Matrix


@dataclass
class Sums:
    """What a command found: numbers and arrays to be added, and the smallest and the largest of some.

    `is_fresh` says that the block knew nothing of its dual variables and began again from zero: its worker has died, or was left
    behind.
    """

    totals: dict[str, Any] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    is_fresh: bool = False

    def __getitem__(self, name: str) -> Any:
        return self.totals[name]

    @classmethod
    def merged(cls, parts: Sequence["Sums"]) -> "Sums":
        """The sums of all parts.

        Examples
        --------
        >>> Sums.merged([Sums({"n": 1}, most={"kkt": 0.5}), Sums({"n": 2}, most={"kkt": 0.1})])
        Sums(totals={'n': 3}, least={}, most={'kkt': 0.5}, is_fresh=False)
        """
        out = cls()
        for part in parts:
            for name, value in part.totals.items():
                out.totals[name] = out.totals[name] + value if name in out.totals else value
            for name, value in part.least.items():
                out.least[name] = min(out.least.get(name, value), value)
            for name, value in part.most.items():
                out.most[name] = max(out.most.get(name, value), value)
            out.is_fresh |= part.is_fresh
        return out


class Scratch:
    """Arrays that are used again in each round.

    A worker of Dask's gives freed memory back at once, and each of its pages that is touched anew costs microseconds.

    Examples
    --------
    >>> scratch = Scratch()
    >>> scratch.array("w", 5).shape, np.shares_memory(scratch.array("w", 5), scratch.array("w", 3))
    ((5,), True)
    """

    def __init__(self) -> None:
        self._arrays: dict[str, Any] = {}

    def array(self, name: str, size: int, dtype: Any = np.float64) -> Any:
        """So many entries, whatever they hold, until the next call with this name."""
        found = self._arrays.get(name)
        if found is None or len(found) < size:
            found = self._arrays[name] = np.empty(size, dtype)
        return found[:size]


@dataclass
class Memory:
    """What a block keeps of one partition for one binary problem, from round to round; all of it can be made again."""

    scratch: Scratch = field(default_factory=Scratch)
    signs: Floats | None = None  # y, where the partition is kept
    alpha: Floats | None = None  # the dual variables of coordinate descent
    moved: Any = None  # which of them the last turn has moved, and from where; the driver says how far to follow
    stamp: int = -1  # the round of the last sweeps
    centre: Floats | None = None  # θ⁰ of the proximal method
    smooth: Smoothed | None = None
    version: int = -1  # which weights `smooth` is at
    bent: tuple[Indices, Rows] | None = None  # the rows of the bent samples, gathered
    visits: Any = None  # the samples in their visiting order
    turns: int = 0  # visits in this round
    upper: Any = None  # what the sweeps need of each sample
    delta: Any = None
    square: Any = None
    boost: float = 0.0  # for which `square` was made


@dataclass
class Site:
    """One partition as one binary problem sees it: X as it was given, and `rows` as the loops want it."""

    X: Matrix
    rows: Rows
    squares: Floats
    y: Floats
    cost: Floats
    loss: Loss
    bias: Bias
    memory: Memory
    is_kept: bool

    @property
    def present(self) -> Indices:
        """The samples that count."""
        return np.flatnonzero(self.cost > 0)


class Command(ABC):
    """What a block shall do for one binary problem, partition by partition."""

    @property
    def n_passes(self) -> int:
        """How often each partition is visited."""
        return 1

    @abstractmethod
    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """Work on one partition; `shared` is the block's own, empty at the beginning of the round."""

    def leave(self, site: Site, shared: dict[str, Any]) -> Sums:
        """What one partition has to say after the last pass."""
        return Sums()

    def close(self, shared: dict[str, Any]) -> Sums:
        """What the block as a whole has to say, when all partitions were visited."""
        return Sums()


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
