"""Past one machine: linear machines on Dask, with the same proof as on one (the extra ``dask``)."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from maxmargin.errors import MissingExtraError

if TYPE_CHECKING:
    from maxmargin.distributed.linear import LinearSVC

__all__ = ["LinearSVC"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'maxmargin.distributed' has no attribute {name!r}")
    if find_spec("dask") is None or find_spec("distributed") is None:
        raise MissingExtraError("maxmargin.distributed needs the packages dask and distributed: pip install 'maxmargin[dask]'.")
    from maxmargin.distributed.linear import LinearSVC

    globals()[name] = LinearSVC
    return LinearSVC
