"""What a fit with the ramp loss leaves besides: outliers, its objective and the bound of it, for each problem."""

from typing import Any

import numpy as np

from maxmargin.io._model.fields import Input, Output, floats_for_header, wrong
from maxmargin.io._model.values import decode_float


def write_ramp(model: Any, out: Output) -> None:
    """Nothing for other losses."""
    if not hasattr(model, "outliers_"):
        return
    outliers = _each(model.outliers_)
    out.arrays["outlier_lengths"] = np.array([len(rows) for rows in outliers], dtype=np.int64)
    out.arrays["outliers"] = np.concatenate(outliers).astype(np.int64)
    out.values["objective"] = floats_for_header(_each(model.objective_))
    out.values["objective_bound"] = floats_for_header(_each(model.objective_bound_))


def read_ramp(model: Any, fields: Input, n_problems: int, n: int) -> None:
    """The same, if it is there; outliers are training samples."""
    if not fields.has("outliers"):
        return
    lengths = fields.indices("outlier_lengths", "i8", (n_problems,), n + 1)
    rows = fields.indices("outliers", "i8", (int(lengths.sum()),), n).astype(np.intp, copy=False)
    outliers = np.split(rows, np.cumsum(lengths)[:-1])
    if any((np.diff(each) <= 0).any() for each in outliers):
        raise wrong("outliers", "the samples of a problem do not rise")
    model.outliers_ = _alone(outliers)
    for name in ("objective", "objective_bound"):
        values = [decode_float(name, said) for said in fields.listed(name, n_problems)]
        if any(np.isnan(values)):
            raise wrong(name, "a value is NaN")
        setattr(model, f"{name}_", _alone(values))


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _alone(items: list[Any]) -> Any:
    """One problem stands for itself, several in a tuple."""
    return items[0] if len(items) == 1 else tuple(items)
