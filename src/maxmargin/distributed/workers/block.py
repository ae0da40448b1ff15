"""A block at work: its partitions, prepared once if they stay in memory, loaded in each round if not.

A **block** is the part of the samples that one thread of one worker looks after; it has one or more partitions. In a round each
block carries out the same commands, one for each binary problem, and the driver adds up what they answer, in the order of the
blocks, so that the bits do not depend on which was first. A `Crew` is all blocks, here in threads of this process.
"""

import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Bias, Loss
from maxmargin.core.products import squares
from maxmargin.distributed.inputs import Samples, Source, Survey, checked, survey, widened
from maxmargin.kernels.tiles import distinct
from maxmargin.solvers.auto import Auto
from maxmargin.solvers.linear.rows import Rows
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats, Indices, Matrix

Sums = dict[str, Any]
"""What a command found, by name: anything that can be added. `"lost"` counts the blocks whose dual variables were gone."""


@dataclass(frozen=True)
class Plan:
    """What all blocks must know before the first round."""

    classes: Any
    cost: Floats  # of a sample of weight 1, for each class
    positives: tuple[int, ...]  # the class that each binary problem tells from the rest
    n_features: int
    loss: Loss
    bias: Bias
    is_kept: bool
    n_blocks: int = 1
    seed: int = 0

    @property
    def is_wide(self) -> bool:
        """Whether there are too many features for a d × d matrix to travel."""
        return self.n_features > Auto.tuning.few_features


class Piece(NamedTuple):
    """A partition: X as it was given, and the same as the loops want it."""

    X: Matrix
    rows: Rows
    squares: Floats
    labels: Indices
    cost: Floats


@dataclass
class Memory:
    """What a block keeps of one partition for one binary problem, from round to round; all of it can be made again."""

    sweeps: Any = None  # of coordinate descent, with its dual variables
    centre: Floats | None = None  # θ⁰ of the proximal method
    newton: Any = None  # the smoothed problem, where the partition is kept


class Site(NamedTuple):
    """One partition as one binary problem sees it; `carried` goes on to the block's next one, and begins empty in each round.

    ``carried["lost"] = 1`` tells the driver that dual variables were gone.
    """

    piece: Piece
    y: Floats
    plan: Plan
    memory: Memory
    carried: dict[str, Any]
    number: int  # of the partition


Command = tuple[Callable[..., Sums], *tuple[Any, ...]]
"""What a block shall do with each partition: a function of a site and of these arguments. It travels as it is."""


class Block:
    """Some partitions and what is remembered of them."""

    def __init__(self, sources: Sequence[Source], first: int, keep: bool) -> None:
        self.sources, self.first, self.keep, self.n_pieces = sources, first, keep, len(sources)
        self.memories: dict[tuple[int, int], Memory] = {}
        self._kept: dict[int, Samples | Piece] = {}

    def survey(self) -> list[Survey]:
        """Load and check all partitions; they stay if they shall."""
        return [survey(self._stays(i, checked(source, self.first + i))) for i, source in enumerate(self.sources)]

    def prepare(self, plan: Plan) -> None:
        """Take over the classes and costs; wide partitions that stay become one, so that sweeps can mix their samples."""
        self.plan = plan
        if plan.is_kept and plan.is_wide:
            X, _, *others = zip(*(self.piece(i) for i in range(self.n_pieces)), strict=True)
            whole = stacked(X)
            self._kept = {0: Piece(whole, Rows.of_matrix(whole), *map(np.concatenate, others))}
            self.n_pieces = 1

    def answer(self, commands: dict[int, Command]) -> dict[int, Sums]:
        """One round: the command of each binary problem on each partition."""
        sums: dict[int, Sums] = {k: {} for k in commands}
        carried: dict[int, dict[str, Any]] = {k: {} for k in commands}
        with one_blas_thread():
            for i in range(self.n_pieces):
                piece = self.piece(i)
                for k, (function, *arguments) in commands.items():
                    sums[k] = added([sums[k], function(self.site(k, i, piece, carried[k]), *arguments)])
                del piece  # before the next one is loaded
        return {k: sums[k] | {"lost": carried[k].get("lost", 0)} for k in commands}

    def site(self, k: int, i: int, piece: Piece, carried: dict[str, Any]) -> Site:
        """A partition as binary problem k sees it."""
        y = np.where(piece.labels == self.plan.positives[k], 1.0, -1.0)
        return Site(piece, y, self.plan, self.memories.setdefault((k, i), Memory()), carried, self.first + i)

    def piece(self, i: int) -> Piece:
        """A partition, ready for the loops."""
        found = self._kept.get(i)
        if isinstance(found, Piece):
            return found
        X, y, weights, _ = checked(self.sources[i], self.first + i) if found is None else found
        labels = np.searchsorted(self.plan.classes, y).astype(np.intp)
        X = widened(X, self.plan.n_features)
        X = distinct(X) if sp.issparse(X) else X  # entries of one place are one number, as in `Problem`
        piece = Piece(X, Rows.of_matrix(X), squares(X), labels, weights * self.plan.cost[labels])
        return self._stays(i, piece)  # type: ignore[no-any-return]

    def _stays(self, i: int, form: Any) -> Any:
        """A partition, which is remembered in this form if it shall stay."""
        if self.keep:
            self._kept[i] = form
        return form


class Crew:
    """All blocks of one fit, each with a thread of this process that does its work. Counts the bytes of commands and answers."""

    def __init__(self, groups: list[list[Any]], keep: bool, n_threads: int) -> None:
        self.groups, self.keep, self.n_blocks = groups, keep, len(groups)
        self.first = [0, *accumulate(map(len, groups))][:-1]  # the number of each group's first partition
        self.plan: Plan | None = None
        self.n_bytes = 0
        self.n_moved = 0  # blocks that had to be set up again on another worker
        self.pool = ThreadPoolExecutor(n_threads, thread_name_prefix="maxmargin-block")

    def set_up(self) -> None:
        """Make the blocks."""
        self._blocks = [Block(group, first, self.keep) for group, first in zip(self.groups, self.first, strict=True)]

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block gives, in the order of the blocks."""
        return list(self.pool.map(lambda block: getattr(block, method)(*arguments), self._blocks))

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown(wait=False, cancel_futures=True)

    def survey(self) -> list[Survey]:
        """What is known of each partition, in their order."""
        self.set_up()
        return [one for found in self.call("survey") for one in found]

    def prepare(self, plan: Plan) -> None:
        """Tell all blocks, and those that are set up later too."""
        self.plan = plan
        self.call("prepare", plan)

    def ask(self, commands: dict[int, Command]) -> dict[int, Sums]:
        """One round."""
        answers = self.call("answer", commands)
        self.n_bytes += self.n_blocks * n_bytes(commands) + n_bytes(answers)
        return {k: added(answer[k] for answer in answers) for k in commands}


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


def stacked(matrices: Sequence[Matrix]) -> Matrix:
    """Several matrices as one, sparse if one of them is."""
    if any(sp.issparse(X) for X in matrices):
        return sp.csr_array(sp.vstack([sp.csr_array(X) for X in matrices], format="csr"))
    return np.concatenate(matrices)


def n_bytes(thing: Any) -> int:
    """The bytes of a command or an answer on its way: pickled, and arrays beside that as they are.

    Examples
    --------
    >>> 8000 < n_bytes({"v": np.zeros(1000), "n": 3}) < 8200
    True
    """
    arrays: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
    return len(pickled) + sum(array.raw().nbytes for array in arrays)
