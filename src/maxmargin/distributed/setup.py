"""From what was passed to `fit` to the crew that does the work."""

from functools import partial
from typing import Any

import dask
import numpy as np
import scipy.sparse as sp
from distributed.system import MEMORY_LIMIT

from distributed import Client
from maxmargin.distributed.inputs import Partitions
from maxmargin.distributed.partition import Samples
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.dask_cluster import Cluster, seats
from maxmargin.distributed.workers.threads import Crew, Threads
from maxmargin.solvers.auto import Auto
from maxmargin.threads import usable_threads


def crew_for(partitions: Partitions, keep: bool | None, n_blocks: int | None, n_jobs: int | None) -> Crew:
    """The current client's workers, else this process's threads."""
    client = current_client()
    threads = usable_threads(n_jobs) if client is None else max(1, len(seats(client)))
    size = _size(partitions) if keep is None or n_blocks is None else None
    if keep is None:
        workers = [] if client is None else client.scheduler_info()["workers"].values()
        memory = sum(worker["memory_limit"] or 0 for worker in workers) or MEMORY_LIMIT
        keep = size is None or size <= TUNING.kept_share * memory
    keep = keep or partitions.are_persisted
    if n_blocks is None:
        is_wide = partitions.n_features is None or partitions.n_features > Auto.tuning.few_features
        n_blocks = threads if not is_wide or size is None else min(threads, max(1, int(size // TUNING.alone_bytes)))
    if not keep:
        parts: list[Any] = partitions.sources()
    else:
        parts = _computed(partitions) if client is None else partitions.parts
    at = np.array_split(np.arange(len(parts)), min(len(parts), n_blocks))
    groups = [[parts[i] for i in group] for group in at]
    return Threads(groups, keep, threads) if client is None else Cluster(client, groups, keep)


def current_client() -> Any:
    """The Dask client that is in use here, or None."""
    try:
        return Client.current()
    except ValueError:
        return None


def _size(partitions: Partitions) -> float | None:
    """About the bytes of all partitions; where that cannot be told from their shapes, Dask measures it."""
    if partitions.n_bytes is not None or not partitions.are_delayed:
        return partitions.n_bytes
    return float(sum(dask.compute(*(dask.delayed(_bytes_of)(X) for X, *_ in partitions.parts))))


def _bytes_of(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes if sp.issparse(X) else 8 * np.prod(X.shape))


def _computed(partitions: Partitions) -> list[Any]:
    """All partitions, computed in threads."""
    if not partitions.are_delayed:
        return partitions.parts
    try:
        return [partial(Samples, *parts) for parts in dask.compute(*partitions.parts, scheduler="threads")]
    except Exception:  # which of them was it?
        return partitions.sources()
