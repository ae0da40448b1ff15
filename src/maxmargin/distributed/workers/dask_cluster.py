"""Who does the work: the workers of a Dask cluster, one block for each of their threads, or threads of this process.

Setting a block up is a task of Dask's: it brings the partitions to a worker (and makes them again where one has died). The
rounds are calls of that worker, straight from the client where it can reach the worker (a third of the time that the way over
the scheduler takes with a vector of 1 MB). A worker that dies, or that takes many times as long as the others, loses its blocks
to others; a block that is set up again knows nothing of its dual variables and says so.
"""

import asyncio
import time
import uuid
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from statistics import median
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
from maxmargin.distributed.partition import Survey
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.block import Block
from maxmargin.distributed.workers.threads import Crew, Threads
from maxmargin.errors import InvalidInputError, MaxMarginError
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
    return Threads(groups, keep, threads) if client is None else Cluster(client, groups, keep)


class Cluster(Crew):
    """Blocks on the workers of a client."""

    def __init__(self, client: Any, groups: list[list[Any]], keep: bool) -> None:
        super().__init__(groups, keep)  # of sources, or of Dask's delayed objects
        self._client = client
        self._id = uuid.uuid4().hex
        self._home: dict[int, str] = {}
        self._is_near: dict[str, bool] = {}  # whether the client reaches a worker without the scheduler
        self._pool = ThreadPoolExecutor(2 * self.n_blocks, thread_name_prefix="maxmargin-call")

    def survey(self) -> list[Survey]:
        """What is known of each partition, in their order."""
        found = self._pool.map(self._set_up, range(self.n_blocks), seats(self._client, self.n_blocks))
        return [one for surveys in found for one in surveys]

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block gives; a block whose worker is gone or late is set up elsewhere."""
        started, submit = time.perf_counter(), self._pool.submit
        running: dict[Future[Any], int] = {submit(self._run, k, method, arguments): k for k in range(self.n_blocks)}
        attempts, seconds = [1] * self.n_blocks, list[float]()
        results: dict[int, Any] = {}
        try:
            while len(results) < self.n_blocks:
                patient = [k for k in set(running.values()) - set(results) if attempts[k] == 1]
                timeout = self._patience(seconds, started) if patient else None
                done, _ = wait(running, timeout=timeout, return_when=FIRST_COMPLETED)
                again: list[tuple[int, str | None]] = [] if done else [(k, self._home[k]) for k in patient]  # late ones
                for future in done:
                    k, error = running.pop(future), future.exception()
                    if error is None and k not in results:
                        results[k] = future.result()
                        seconds.append(time.perf_counter() - started)
                    elif error is not None and k not in results and k not in running.values():
                        _check_is_lost(error, attempts[k])
                        again.append((k, None))
                for k, avoid in again:
                    attempts[k] += 1
                    running[submit(self._run_elsewhere, k, avoid, method, arguments)] = k
        except KeyboardInterrupt:
            wait(running)
            raise
        return [results[k] for k in range(self.n_blocks)]

    def close(self) -> None:
        """Let the workers forget the blocks."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._client.status == "running":
            self._client.run(_forget, self._id, on_error="ignore")

    def _patience(self, seconds: list[float], started: float) -> float | None:
        """How long to wait for the blocks that are still at work; for ever as long as most of them are."""
        if 2 * len(seconds) < self.n_blocks:
            return None
        limit = max(TUNING.late * median(seconds), TUNING.grace)
        return max(limit - (time.perf_counter() - started), 0.0)

    def _run(self, k: int, method: str, arguments: tuple[Any, ...]) -> Any:
        home = self._home[k]
        return self._client.sync(_ask, self._client, home, self._is_near[home], (self._id, k, method, arguments))

    def _run_elsewhere(self, k: int, avoid: str | None, method: str, arguments: tuple[Any, ...]) -> Any:
        """Set a block up on a worker that is there, and ask it."""
        self.n_moved += 1
        others = [seat for seat in seats(self._client) if seat != avoid]
        if not others:
            raise OSError("no worker is left")
        self._set_up(k, others[k % len(others)])
        return self._run(k, method, arguments)

    def _set_up(self, k: int, seat: str) -> list[Survey]:
        """Have Dask bring the partitions of a block to a worker, this one if it can, and survey them there."""
        block = dask.delayed(_build, pure=False)(self._id, k, self.groups[k], self.first[k], self.keep)
        try:
            home, surveys = self._client.compute(block, workers=[seat], allow_other_workers=True).result()
        except MaxMarginError:
            raise
        except Exception as error:
            raise self._named(k, error) from error
        if home not in self._is_near:
            self._is_near[home] = self._client.sync(_is_near, self._client, home)
        self._home[k] = home
        if self.plan is not None:
            self._run(k, "prepare", (self.plan,))
        return surveys  # type: ignore[no-any-return]

    def _named(self, k: int, error: Exception) -> Exception:
        """An error of Dask's with the number of the partition that it came from, if it came from one."""
        futures = self._client.compute([part for part in self.groups[k] if dask.is_dask_collection(part)])
        distributed.wait(futures)
        for i, future in enumerate(futures):
            if future.status == "error":
                return InvalidInputError(f"Partition {self.first[k] + i} cannot be used: {type(error).__name__}: {error}")
        return error


def _check_is_lost(error: BaseException, attempts: int) -> None:
    """Raise an error, unless it says that a worker is gone, and that has not happened more often than Dask allows."""
    is_gone = isinstance(error, OSError | KeyError) or type(error).__module__.startswith("distributed")
    allowed = dask.config.get("distributed.scheduler.allowed-failures")
    if not is_gone or isinstance(error, MaxMarginError) or attempts > allowed:
        raise error


def seats(client: Any, count: int | None = None) -> list[str]:
    """A worker for each block, by turns and in proportion to their threads; by default one entry a thread."""
    client.wait_for_workers(1, timeout=60)
    threads = sorted((turn, address) for address, n in client.nthreads().items() for turn in range(n))
    return [threads[k % len(threads)][1] for k in range(len(threads) if count is None else count)]


def _build(fit: str, k: int, group: list[Any], first: int, keep: bool) -> tuple[str, list[Survey]]:
    """On a worker: set a block up, and say where."""
    block = Block(group, first, keep)
    surveys = block.survey()
    _blocks[fit, k] = block
    return distributed.get_worker().address, surveys


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
