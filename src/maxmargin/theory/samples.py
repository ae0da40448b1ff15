"""Samples as the algorithms of this package take them: dense rows of floats and labels ±1."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats


def rows_and_signs(X: Any, y: Any) -> tuple[Floats, Floats]:
    """X as a dense float64 matrix (n, d) of finite numbers, and y as n labels ±1 of both signs or one."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    labels = np.asarray(y)
    if X.ndim != 2 or X.shape[0] == 0 or not np.isfinite(X).all():
        raise InvalidInputError(f"X has shape {X.shape} where finite numbers of shape (n, d), n ≥ 1, are wanted.")
    if labels.shape != (len(X),) or labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 1)).all():
        raise InvalidInputError(
            f"y has shape {labels.shape} where {len(X)} labels -1 or +1 are wanted. Encode them first, for example "
            "np.where(y == positive, 1, -1)."
        )
    return X, labels.astype(np.float64)
