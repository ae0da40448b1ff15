"""Who does the work: the threads of this process, or (see `dask_cluster`) the workers of a Dask cluster."""

import pickle
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import accumulate
from typing import Any

from maxmargin.distributed.partition import Samples, Survey
from maxmargin.distributed.workers.block import Block, Command, Plan, Sums, added, joined


class Crew(ABC):
    """The blocks of one fit, wherever they are. Counts the bytes that it sends and receives."""

    def __init__(self, groups: list[list[Any]], keep: bool) -> None:
        self.groups, self.keep, self.n_blocks = groups, keep, len(groups)
        self.first = [0, *accumulate(map(len, groups))]  # the number of each group's first partition
        self.plan: Plan | None = None
        self.n_bytes = 0
        self.n_moved = 0  # blocks that had to be set up again on another worker

    @abstractmethod
    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block gives, in the order of the blocks."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""

    def survey(self) -> list[Survey]:
        """What is known of each partition, in their order."""
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

    def part(self, share: float) -> Samples:
        """A random part of the samples."""
        part = joined(self.call("part", share))
        self.n_bytes += n_bytes(part)
        return part


class Threads(Crew):
    """The threads of this process, one a block."""

    def __init__(self, groups: list[list[Any]], keep: bool, n_threads: int) -> None:
        super().__init__(groups, keep)
        self._blocks = [Block(group, first, keep) for group, first in zip(groups, self.first, strict=False)]
        self._pool = ThreadPoolExecutor(min(n_threads, self.n_blocks), thread_name_prefix="maxmargin-block")

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block gives, in the order of the blocks."""
        futures = [self._pool.submit(getattr(block, method), *arguments) for block in self._blocks]
        try:
            return [future.result() for future in futures]
        finally:
            wait(futures)  # after an error or Ctrl-C too: a block does one thing at a time

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def n_bytes(thing: Any) -> int:
    """The bytes of a command or an answer on its way: pickled, and arrays beside that as they are.

    Examples
    --------
    >>> import numpy as np
    >>> 8000 < n_bytes({"v": np.zeros(1000), "n": 3}) < 8200
    True
    """
    arrays: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
    return len(pickled) + sum(array.raw().nbytes for array in arrays)
