"""The workers of a Dask cluster, one block for each of their threads.

Setting a block up is a task of Dask's: it brings the partitions to a worker (and makes them again where one has died). The
rounds are calls of that worker, straight from the client where it can reach the worker (a third of the time that the way over
the scheduler takes with a vector of 1 MB). A worker that dies, or that takes many times as long as the others, loses its blocks
to others; a block that is set up again knows nothing of its dual variables and says so.
"""

import asyncio
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from statistics import median
from typing import Any

from maxmargin.distributed.partition import Held, Samples, Source, Survey
from maxmargin.distributed.workers.block import Block, Plan
from maxmargin.distributed.workers.threads import Crew
from maxmargin.errors import InvalidInputError, MaxMarginError

LATE, SOONEST = 8.0, 3.0
"""A block is given to another worker when it takes so many times the median of the others, and so many seconds at least."""

ATTEMPTS = 6
"""Times that a block is set up in one round before the fit gives up."""

REACHED_WITHIN = 2.0
"""Seconds in which a worker must answer the client, to be asked directly from then on."""

_blocks: dict[tuple[str, int], Block] = {}
"""The blocks of this process, if it is a worker."""


class Cluster(Crew):
    """Blocks on the workers of a client."""

    def __init__(self, client: Any, groups: Sequence[Sequence[Any]], keep: bool) -> None:
        super().__init__()
        self._client, self._keep = client, keep
        self._groups = [list(group) for group in groups]  # sources, or tuples of futures
        self._first = [sum(len(group) for group in self._groups[:k]) for k in range(len(self._groups))]
        self._id = uuid.uuid4().hex
        self._home: list[str | None] = [None] * len(self._groups)
        self._near: set[str] = set()  # the workers that the client reaches without the scheduler
        self._plan: Plan | None = None
        self._surveys: list[list[Survey]] = []
        self._pool = ThreadPoolExecutor(2 * len(self._groups), thread_name_prefix="maxmargin-call")

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self._groups)

    def survey(self) -> list[Survey]:
        """What is known of each partition, in their order."""
        homes = seats(self._client, len(self._groups))
        tasks = [self._submit(k, homes[k]) for k in range(len(self._groups))]
        self._surveys = [self._settled(k, task) for k, task in enumerate(tasks)]
        return [one for found in self._surveys for one in found]

    def prepare(self, plan: Plan) -> None:
        """Tell all blocks, and those that are set up later too."""
        self._plan, self._keep = plan, plan.keep
        self.call("prepare", plan)

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """What a method of each block gives; a block whose worker is gone or late is set up elsewhere."""
        started = time.perf_counter()
        running: dict[Future[Any], int] = {self._call(k, method, arguments): k for k in range(self.n_blocks)}
        attempts = [1] * self.n_blocks
        results: dict[int, Any] = {}
        seconds: list[float] = []
        try:
            while len(results) < self.n_blocks:
                done, _ = wait(running, timeout=self._patience(seconds, started), return_when=FIRST_COMPLETED)
                for future in done:
                    k = running.pop(future)
                    error = future.exception()
                    if error is None and k not in results:
                        results[k] = future.result()
                        seconds.append(time.perf_counter() - started)
                    elif error is not None and k not in results and k not in running.values():
                        self._give_up_on(error, attempts[k])
                        attempts[k] += 1
                        running[self._again(k, None, method, arguments)] = k
                late = [k for k in set(running.values()) if k not in results and attempts[k] == 1]
                if not done and late:
                    seconds.append(time.perf_counter() - started)
                    for k in late:
                        attempts[k] += 1
                        running[self._again(k, self._home[k], method, arguments)] = k
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
        if 2 * len(seconds) < self.n_blocks or len(seconds) == self.n_blocks:
            return None
        limit = max(LATE * median(seconds), SOONEST)
        return max(limit - (time.perf_counter() - started), 0.05)

    def _give_up_on(self, error: BaseException, attempts: int) -> None:
        if isinstance(error, MaxMarginError) or attempts >= ATTEMPTS or not isinstance(error, Exception):
            raise error
        if not isinstance(error, OSError | KeyError | _Unknown) and not _is_lost(error):
            raise error

    def _call(self, k: int, method: str, arguments: tuple[Any, ...]) -> "Future[Any]":
        return self._pool.submit(self._run, k, method, arguments)

    def _run(self, k: int, method: str, arguments: tuple[Any, ...]) -> Any:
        home = self._home[k]
        call = (self._id, k, method, arguments)
        if home in self._near:
            answer = self._client.sync(_ask, self._client, home, call)
        else:
            found = self._client.run(_serve, *call, workers=[home], nanny=False)
            if home not in found:
                raise OSError(f"worker {home} is gone")
            answer = found[home]
        if isinstance(answer, _Unknown):
            raise answer
        return answer

    def _again(self, k: int, avoid: str | None, method: str, arguments: tuple[Any, ...]) -> "Future[Any]":
        """Set a block up on a worker that is there, and ask it."""

        def work() -> Any:
            self.n_moved += 1
            others = [seat for seat in seats(self._client) if seat != avoid]
            if not others:
                raise OSError("no worker is left")
            self._settled(k, self._submit(k, others[k % len(others)]))
            if self._plan is not None and method != "prepare":
                self._run(k, "prepare", (self._plan,))
            return self._run(k, method, arguments)

        return self._pool.submit(work)

    def _submit(self, k: int, seat: str) -> Any:
        """A task of Dask's that sets block k up; its futures, if it has any, are brought along."""
        return self._client.submit(
            _build, self._id, k, self._groups[k], self._first[k], self._keep,
            workers=[seat], allow_other_workers=True, pure=False,
        )  # fmt: skip

    def _settled(self, k: int, task: Any) -> list[Survey]:
        try:
            home, surveys = task.result()
        except MaxMarginError:
            raise
        except Exception as error:
            raise self._named(k, error) from error
        self._home[k] = home
        if home not in self._near and self._client.sync(_is_near, self._client, home):
            self._near.add(home)
        return surveys  # type: ignore[no-any-return]

    def _named(self, k: int, error: Exception) -> Exception:
        """An error of Dask's with the number of the partition that it came from, if it came from one."""
        for i, parts in enumerate(self._groups[k]):
            futures = parts if isinstance(parts, tuple) else ()
            if any(future.status == "error" for future in futures):
                return InvalidInputError(
                    f"Partition {self._first[k] + i} cannot be used: {type(error).__name__}: {error}"
                )
        return error


class _Unknown(Exception):  # noqa: N818
    """A worker that does not know the block that it is asked for."""


def _is_lost(error: BaseException) -> bool:
    """Whether Dask says that a worker, or what it held, is gone."""
    return type(error).__module__.startswith("distributed")


def seats(client: Any, count: int | None = None) -> list[str]:
    """A worker for each block, by turns and in proportion to their threads; by default one entry a thread."""
    client.wait_for_workers(1, timeout=60)
    threads = sorted((turn, address) for address, n in client.nthreads().items() for turn in range(n))
    return [threads[k % len(threads)][1] for k in range(len(threads) if count is None else count)]


def _build(fit: str, k: int, group: list[Any], first: int, keep: bool) -> tuple[str, list[Survey]]:
    """On a worker: set a block up, and say where."""
    from distributed import get_worker

    sources: list[Source] = [part if isinstance(part, Source) else Held(Samples(*part)) for part in group]
    block = Block(sources, first, keep)
    surveys = block.survey()
    _blocks[fit, k] = block
    return get_worker().address, surveys


async def _is_near(client: Any, home: str) -> bool:
    """Whether the client can talk to a worker itself: it may stand behind a gateway."""
    try:
        await asyncio.wait_for(client.rpc(home).identity(), REACHED_WITHIN)
    except OSError:  # a timeout is one
        return False
    return True


async def _ask(client: Any, home: str, call: tuple[Any, ...]) -> Any:
    """`Client.run` for one worker, without the way over the scheduler; arrays are not copied into the message."""
    from distributed.core import clean_exception
    from distributed.protocol import to_serialize
    from distributed.protocol.pickle import dumps

    response = await client.rpc(home).run(function=dumps(_serve), args=to_serialize(dumps(call)))
    if response["status"] == "error":
        _, error, trace = clean_exception(**response)
        assert error is not None
        raise error.with_traceback(trace)
    return response["result"]


async def _serve(fit: str, k: int, method: str, arguments: tuple[Any, ...], dask_worker: Any) -> Any:
    """On a worker: have a block do something, in a thread of the worker's own."""
    block = _blocks.get((fit, k))
    if block is None:
        return _Unknown(f"block {k}")
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(dask_worker.executors["default"], getattr(block, method), *arguments)


def _forget(fit: str) -> None:
    """On a worker: let go of the blocks of a fit."""
    for key in [key for key in _blocks if key[0] == fit]:
        del _blocks[key]
