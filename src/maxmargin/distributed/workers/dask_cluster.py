"""Who does the work: the workers of a Dask cluster, one block for each of their threads, or threads of this process.

Setting a block up is a task of Dask's: it brings the partitions to a worker (and makes them again where one has died). The
rounds are calls of that worker, straight from the client where it can reach the worker (a third of the time that the way over
the scheduler takes with a vector of 1 MB). A worker that dies, or that takes many times as long as the others, loses its blocks
to others; a block that is set up again knows nothing of its dual variables and says so.
"""

import asyncio
import time
import uuid
from concurrent.futures import as_completed, wait
from itertools import cycle
from typing import Any

import dask
import numpy as np
from distributed.actor import ProxyRPC
from distributed.core import clean_exception
from distributed.protocol import to_serialize
from distributed.protocol.pickle import dumps
from distributed.system import MEMORY_LIMIT

import distributed
from maxmargin.distributed.inputs import Partitions
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.block import Block, Crew, Plan
from maxmargin.errors import InvalidInputError
from maxmargin.solvers.auto import Auto
from maxmargin.threads import usable_threads

_blocks: dict[tuple[str, int], Block] = {}
"""The blocks of this process, if it is a worker."""


def crew_for(partitions: Partitions, keep: bool | None, n_blocks: int | None, n_jobs: int | None) -> Crew:
    """The current client's workers, else this process's threads."""
    try:
        client: Any = distributed.Client.current()
    except ValueError:
        client = None
    threads = usable_threads(n_jobs) if client is None else max(1, len(seats(client)))
    size = partitions.size() if keep is None or n_blocks is None else np.nan
    if keep is None:
        workers = [] if client is None else client.scheduler_info()["workers"].values()
        memory = sum(worker["memory_limit"] or 0 for worker in workers) or MEMORY_LIMIT
        spills_from = dask.config.get("distributed.worker.memory.target") or 1.0  # share of a worker's memory
        keep = not size > 0.5 * spills_from * memory  # loops copy some
    keep = keep or partitions.are_persisted
    if n_blocks is None:
        is_wide = partitions.n_features is None or partitions.n_features > Auto.tuning.few_features
        n_blocks = threads if not is_wide or np.isnan(size) else min(threads, max(1, int(size // TUNING.alone_bytes)))
    if not keep:
        parts: list[Any] = partitions.sources()
    else:
        parts = partitions.computed() if client is None else partitions.parts
    at = np.array_split(np.arange(len(parts)), min(len(parts), n_blocks))
    groups = [[parts[i] for i in group] for group in at]
    return Crew(groups, keep, min(threads, len(groups))) if client is None else Cluster(client, groups, keep)


class Cluster(Crew):
    """Blocks on the workers of a client, with threads of this process that wait for them."""

    def __init__(self, client: Any, groups: list[list[Any]], keep: bool) -> None:
        super().__init__(groups, keep, 2 * len(groups))  # of sources, or of Dask's delayed objects
        self._client = client
        self._id = uuid.uuid4().hex
        self._home: dict[int, str] = {}  # the worker of each block, unless it is being set up

    def set_up(self) -> None:
        """Make the blocks, on the workers by turns."""
        everywhere = seats(self._client)
        self._is_near = self._client.sync(_is_near, self._client, everywhere[0])
        list(self.pool.map(self._settle, range(self.n_blocks), cycle(everywhere)))

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block gives; a block whose worker is gone or late is set up elsewhere."""
        started = time.perf_counter()
        answers = [self.pool.submit(self._answer, k, method, arguments) for k in range(self.n_blocks)]
        done = as_completed(answers)
        for _ in range((self.n_blocks + 1) // 2):
            next(done)
        usual = time.perf_counter() - started  # the median time of a block
        wait(answers, timeout=max(TUNING.late * usual, TUNING.grace) - usual)
        for k, answer in enumerate(answers):
            late = None if answer.done() else self._home.get(k)
            others = [] if late is None else [seat for seat in seats(self._client) if seat != late]
            if others:
                self._home.pop(k)
                answers[k] = self.pool.submit(self._answer, k, method, arguments, others[k % len(others)])
        return [answer.result() for answer in answers]

    def close(self) -> None:
        """Let the workers forget the blocks."""
        super().close()
        if self._client.status == "running":
            self._client.run(_forget, self._id, on_error="ignore")

    def _answer(self, k: int, method: str, arguments: tuple[Any, ...], seat: str | None = None) -> Any:
        """What a method of a block gives; it is set up elsewhere first where a seat is given, and where its worker is gone."""
        failures = dask.config.get("distributed.scheduler.allowed-failures")
        while True:
            home = None
            try:
                if seat is not None:
                    self.n_moved += 1
                    self._settle(k, seat)
                home = self._home[k]
                return self._client.sync(_ask, self._client, home, self._is_near, (self._id, k, method, arguments))
            except Exception as error:
                is_gone = isinstance(error, OSError | KeyError) or type(error).__module__.startswith("distributed")
                if not is_gone or failures == 0 or self._home.get(k) != home:  # or another thread has moved it
                    raise
            self._home.pop(k, None)
            failures, present = failures - 1, seats(self._client)
            seat = present[k % len(present)]

    def _settle(self, k: int, seat: str) -> None:
        """Have Dask bring the partitions of a block to a worker, this one if it can."""
        block = dask.delayed(_build, pure=False)(self._id, k, self.groups[k], self.first[k], self.keep, self.plan)
        try:
            self._home[k] = self._client.compute(block, workers=[seat], allow_other_workers=True).result()
        except Exception as error:
            parts = self._client.compute([part for part in self.groups[k] if dask.is_dask_collection(part)])
            distributed.wait(parts)
            for i, part in enumerate(parts, start=self.first[k]):
                if part.status == "error":
                    raise InvalidInputError(f"Partition {i} cannot be used: {type(error).__name__}: {error}") from error
            raise


def seats(client: Any) -> list[str]:
    """A worker for each thread that there is, by turns."""
    client.wait_for_workers(1, timeout=60)
    return [address for _, address in sorted((turn, address) for address, n in client.nthreads().items() for turn in range(n))]


def _build(fit: str, k: int, group: list[Any], first: int, keep: bool, plan: Plan | None) -> str:
    """On a worker: set a block up, and say where."""
    block = _blocks[fit, k] = Block(group, first, keep)
    if plan is not None:
        block.prepare(plan)
    return str(distributed.get_worker().address)


async def _is_near(client: Any, home: str) -> bool:
    """Whether the client can talk to a worker itself: it may stand behind a gateway."""
    try:
        await asyncio.wait_for(client.rpc(home).identity(), TUNING.grace)
    except OSError:  # a timeout is one
        return False
    return True


async def _ask(client: Any, home: str, is_near: bool, call: tuple[Any, ...]) -> Any:
    """`Client.run` for one worker, without the way over the scheduler if it is near; arrays are not copied into the message."""
    worker = client.rpc(home) if is_near else ProxyRPC(client.scheduler, home)
    response = await worker.run(function=dumps(_serve), args=to_serialize(dumps(call)), kwargs={})
    if response["status"] == "error":
        _, error, trace = clean_exception(**response)
        assert error is not None
        raise error.with_traceback(trace)
    return response["result"]


async def _serve(fit: str, k: int, method: str, arguments: tuple[Any, ...], dask_worker: Any) -> Any:
    """On a worker: have a block do something, in a thread of the worker's own."""
    block = _blocks[fit, k]
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(dask_worker.executors["default"], getattr(block, method), *arguments)


def _forget(fit: str) -> None:
    """On a worker: let go of the blocks of a fit."""
    for key in [key for key in _blocks if key[0] == fit]:
        del _blocks[key]
