"""Past one machine: linear machines on Dask, with the same proof as on one (the extra ``dask``)."""

from importlib.util import find_spec

from maxmargin.errors import MissingExtraError

if find_spec("dask") is None or find_spec("distributed") is None:
    raise MissingExtraError(
        "maxmargin.distributed needs the packages dask and distributed: pip install 'maxmargin[dask]'."
    )

from maxmargin.distributed.linear import LinearSVC

__all__ = ["LinearSVC"]
