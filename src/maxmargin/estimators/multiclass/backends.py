"""joblib's backends: where the user has chosen one that shares no memory (Dask, loky, Ray), independent work is sent there.

    with joblib.parallel_config("dask"):
        leave_one_out(LinearSVC(), X, y)

Without such a choice all of it runs in threads of this process, which copy nothing.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


class Elsewhere:
    """A backend of joblib's, and how many things it does at a time."""

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    def map(self, function: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> list[T]:
        """What the function gives for each tuple of arguments, in their order."""
        from joblib import Parallel, delayed

        found: list[T] = Parallel(n_jobs=self.n_jobs)(delayed(function)(*those) for those in arguments)
        return found


def elsewhere() -> Elsewhere | None:
    """The chosen backend, if it shares no memory with this process and this is not its own work already.

    Examples
    --------
    >>> elsewhere() is None
    True
    """
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    shares_memory = getattr(backend, "supports_sharedmem", False)
    if n_jobs in (None, 1) or shares_memory or (backend.nesting_level or 0) != 0:
        return None
    return Elsewhere(backend.effective_n_jobs(n_jobs))
