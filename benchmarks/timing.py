"""One way to time a fit."""

import time
import warnings
from typing import Any


def timed_fit(model: Any, X: Any, y: Any) -> tuple[Any, float]:
    """The fitted model and the seconds its fit took; warnings of peers are not shown."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return model, time.perf_counter() - started
