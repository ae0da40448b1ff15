"""LinearSVC: its fitted attributes."""

from typing import Any

from maxmargin.io._model.fields import Input, Output, wrong
from maxmargin.io._model.proofs import read_proofs, write_proofs
from maxmargin.io._model.state_common import (
    read_balls,
    read_common,
    read_support,
    write_balls,
    write_common,
)
from maxmargin.io._model.state_ramp import read_ramp, write_ramp


def write_linear(model: Any, out: Output) -> None:
    """Everything but the memory of a warm start."""
    write_common(model, out)
    out.arrays["coef"] = model.coef_
    out.arrays["intercept"] = model.intercept_
    out.arrays["support"] = model.support_
    out.arrays["dual_coef"] = model.dual_coef_
    out.values["n_iter"] = int(model.n_iter_)
    write_balls(model._balls, out)
    write_ramp(model, out)
    write_proofs(model, out)


def read_linear(model: Any, fields: Input) -> None:
    """The same, each field checked against the others."""
    sizes = read_common(model, fields)
    if sizes.n is None:
        raise wrong("shape_fit", "it is missing")
    model.coef_ = fields.floats("coef", (sizes.n_rests, sizes.n_features))
    model.intercept_ = fields.floats("intercept", (sizes.n_rests,))
    model.support_ = read_support(fields, sizes.n)
    model.dual_coef_ = fields.floats("dual_coef", (sizes.n_rests, len(model.support_)))
    model.n_iter_ = fields.whole("n_iter", 1)
    model._last_fit = None
    model._balls = read_balls(fields, sizes.n_rests)
    read_ramp(model, fields, sizes.n_rests, sizes.n)
    read_proofs(model, fields, sizes.n_rests)
