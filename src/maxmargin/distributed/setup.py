"""From what was passed to `fit` to a crew that is ready, and what is known of the data without pulling them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.distributed.inputs import Partitions
from maxmargin.distributed.partition import Held, Samples, Survey, size_of
from maxmargin.distributed.workers.dask_cluster import Cluster, seats
from maxmargin.distributed.workers.steps import MOST_FACTORED
from maxmargin.distributed.workers.threads import Crew, Threads
from maxmargin.errors import InvalidInputError
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats

KEPT_SHARE = 0.3
"""The partitions stay in memory if they take at most this share of it."""

WORTH_A_BLOCK = 64 * 2**20
"""Bytes of wide data for each block, at least: of less, one thread alone makes more than the rounds cost."""


class Facts(NamedTuple):
    """What the surveys of all partitions say together."""

    n: int
    n_present: int
    n_features: int
    classes: Any
    totals: Floats  # the weight of each class
    mean_square: float
    n_values: int  # stored
    names: tuple[str, ...] | None


def crew_for(partitions: Partitions, keep: bool | None, n_blocks: int | None, n_jobs: int | None) -> tuple[Crew, bool]:
    """(The crew, whether the partitions stay in memory): the current client's workers, else this process's threads."""
    client = current_client()
    if client is None:
        threads = usable_threads(n_jobs)
        memory = _memory_here()
    else:
        info = client.scheduler_info()["workers"].values()
        threads = max(1, len(seats(client)))
        memory = float(sum(worker["memory_limit"] or 0 for worker in info)) or _memory_here()
    size = _size(partitions) if keep is None or n_blocks is None else None
    if keep is None:
        keep = size is None or size <= KEPT_SHARE * memory
    keep = keep or partitions.is_persisted
    if n_blocks is None:
        is_wide = partitions.n_features is None or partitions.n_features > MOST_FACTORED
        n_blocks = threads if not is_wide or size is None else min(threads, max(1, int(size // WORTH_A_BLOCK)))
    groups = np.array_split(np.arange(partitions.count), min(partitions.count, n_blocks))
    if client is None:
        if keep and partitions.delayed:
            return Threads(_computed(partitions, groups), keep, threads), keep
        sources = partitions.lazy_sources()
        return Threads([[sources[i] for i in group] for group in groups], keep, threads), keep
    if keep and partitions.delayed:
        places = seats(client, len(groups))
        futures: list[Sequence[Any]] = []
        for group, seat in zip(groups, places, strict=True):
            futures.append(
                [
                    tuple(client.compute(list(partitions.delayed[i]), workers=[seat], allow_other_workers=True))
                    for i in group
                ]
            )
        return Cluster(client, futures, keep), keep
    sources = partitions.lazy_sources()
    return Cluster(client, [[sources[i] for i in group] for group in groups], keep), keep


def current_client() -> Any:
    """The Dask client that is in use here, or None."""
    from distributed import Client

    try:
        return Client.current()
    except ValueError:
        return None


def facts_of(surveys: Sequence[Survey]) -> Facts:
    """Put the surveys together, and refuse what does not fit together."""
    filled = [one for one in surveys if one.n]
    if not filled:
        raise InvalidInputError("Found array with 0 samples: all partitions are empty, a minimum of 1 is required.")
    widths = {one.n_features for one in filled if not one.is_sparse}
    d = max(one.n_features for one in filled)
    if len(widths) > 1 or (widths and widths != {d}):
        numbers = [one.n_features for one in surveys]
        raise InvalidInputError(f"The partitions have different numbers of features: {sorted(set(numbers))}.")
    names = {one.names for one in surveys if one.names is not None}
    if len(names) > 1:
        first, second = sorted(names)[:2]
        raise InvalidInputError(f"The partitions have different columns: {first[:5]} and {second[:5]}, for instance.")
    kinds = {np.asarray(one.labels).dtype.kind in "OSU" for one in filled}
    if len(kinds) > 1:
        raise InvalidInputError("Some partitions have texts as labels, others numbers. Make them alike.")
    classes = np.unique(np.concatenate([one.labels for one in filled]))
    if len(classes) < 2:
        raise InvalidInputError(
            f"A classifier needs samples of at least two classes, got 1 class: {classes.tolist()[0]!r}."
        )
    totals = np.zeros(len(classes))
    for one in filled:
        totals[np.searchsorted(classes, one.labels)] += one.totals
    if not totals.any():
        raise InvalidInputError("Sample weights must contain at least one non-zero number.")
    if (totals <= 0).any():
        name = classes.tolist()[int(np.argmin(totals))]
        raise InvalidInputError(
            f"No sample of class {name!r} has a positive sample_weight; remove the class or weigh it."
        )
    n_present = sum(one.n_present for one in filled)
    mean_square = sum(one.squares for one in filled) / n_present
    return Facts(
        sum(one.n for one in filled),
        n_present,
        d,
        classes,
        totals,
        mean_square,
        sum(one.n_values for one in filled),
        next(iter(names), None),
    )


def _size(partitions: Partitions) -> float | None:
    """About the bytes of all partitions; where that cannot be told from their shapes, Dask measures it."""
    if partitions.n_bytes is not None or not partitions.delayed:
        return partitions.n_bytes
    import dask

    return float(sum(dask.compute(*(dask.delayed(size_of)(*parts) for parts in partitions.delayed))))


def _computed(partitions: Partitions, groups: Sequence[Any]) -> list[list[Any]]:
    """All partitions, computed in threads."""
    import dask

    try:
        found = dask.compute(*partitions.delayed, scheduler="threads")
        sources: list[Any] = [Held(Samples(*parts)) for parts in found]
    except Exception:  # which of them was it?
        sources = list(partitions.lazy_sources())
    return [[sources[i] for i in group] for group in groups]


def _memory_here() -> float:
    from distributed.system import MEMORY_LIMIT

    return float(MEMORY_LIMIT)
