"""Who does the work: the threads of this process, or (see `cluster`) the workers of a Dask cluster."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from maxmargin.distributed.partition import Source, Survey
from maxmargin.distributed.workers.block import Block, Part, Plan, stacked
from maxmargin.distributed.workers.messages import Commands, Sums, n_bytes


class Crew(ABC):
    """The blocks of one fit, wherever they are. Counts the bytes that it sends and receives."""

    def __init__(self) -> None:
        self.n_bytes = 0
        self.n_moved = 0  # blocks that had to be set up again on another worker

    @property
    @abstractmethod
    def n_blocks(self) -> int:
        """How many blocks there are."""

    @abstractmethod
    def survey(self) -> list[Survey]:
        """What is known of each partition, in their order."""

    @abstractmethod
    def prepare(self, plan: Plan) -> None:
        """Tell all blocks."""

    @abstractmethod
    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block gives, in the order of the blocks."""

    def ask(self, commands: Commands) -> dict[int, Sums]:
        """One round."""
        answers = self.call("answer", commands)
        self.n_bytes += self.n_blocks * n_bytes(commands) + sum(n_bytes(answer) for answer in answers)
        return {k: Sums.merged([answer[k] for answer in answers]) for k in commands}

    def part(self, share: float, seed: int, d: int) -> Part:
        """A random part of the samples."""
        parts = self.call("part", share, seed)
        return stacked([part for part in parts if len(part.labels)], d)

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""


class Threads(Crew):
    """The threads of this process, one a block."""

    def __init__(self, groups: Sequence[Sequence[Source]], keep: bool, n_threads: int) -> None:
        super().__init__()
        self._blocks, first = [], 0
        for sources in groups:
            self._blocks.append(Block(sources, first, keep))
            first += len(sources)
        self._pool = ThreadPoolExecutor(min(n_threads, len(self._blocks)), thread_name_prefix="maxmargin-block")

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self._blocks)

    def survey(self) -> list[Survey]:
        """What is known of each partition, in their order."""
        return [one for found in self.call("survey") for one in found]

    def prepare(self, plan: Plan) -> None:
        """Tell all blocks."""
        self.call("prepare", plan)

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
