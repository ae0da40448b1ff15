"""What was proved of each binary problem: certificate, status, solver and trace."""

import math
from typing import Any

import numpy as np

from maxmargin.core import Certificate, Status
from maxmargin.core.certificate.groups import Groups
from maxmargin.core.solution import TracePoint
from maxmargin.estimators.multiclass.per_problem import PerProblem, store_endings
from maxmargin.io._model.fields import Input, Output, floats_for_header, wrong
from maxmargin.io._model.values import decode_float

NUMBERS = ("primal", "dual", "gap", "relative_gap", "kkt_violation", "margin", "distance")
LATER = ("rounding", "tol")
"""Numbers that files of version 0.1 do not have; null where there is none."""
FLAGS = ("convex", "assumed_psd")


def write_proofs(model: Any, out: Output) -> None:
    """Write what was proved, if anything: a stream, or a model of another library, has no proof."""
    if not hasattr(model, "certificate_"):
        return
    certificates, traces = _each(model.certificate_), _each(model.trace_)
    out.values["certificate"] = [
        {
            **dict(zip(NUMBERS, floats_for_header(getattr(c, name) for name in NUMBERS), strict=True)),
            **{name: bool(getattr(c, name)) for name in FLAGS},
            **{name: _number_or_none(getattr(c, name)) for name in LATER},
            "groups": list(c.groups),
        }
        for c in certificates
    ]
    out.values["status"] = [status.name for status in _each(model.status_)]
    out.values["solver"] = list(_each(model.solver_))
    if isinstance(model.certificate_, PerProblem):
        out.values["worst"] = next(k for k, c in enumerate(certificates) if c is model.certificate_.worst)
    out.arrays["trace_lengths"] = np.array([len(trace) for trace in traces], dtype=np.int64)
    out.arrays["trace"] = np.array([list(point) for trace in traces for point in trace], dtype=np.float64).reshape(
        -1, 5
    )


def read_proofs(model: Any, fields: Input, n_problems: int) -> None:
    """Restore what was proved of so many problems; a single one stands for itself, several in a tuple."""
    if not fields.has("certificate"):
        return
    asked = None if model.tol is None else float(model.tol)
    certificates = [_certificate(said, asked) for said in fields.listed("certificate", n_problems)]
    statuses = [_status(said) for said in fields.listed("status", n_problems)]
    solvers = fields.listed("solver", n_problems)
    if not all(isinstance(solver, str) for solver in solvers):
        raise wrong("solver", "texts are wanted")
    lengths = fields.indices("trace_lengths", "i8", (n_problems,), 2**40).tolist()
    points = fields.array("trace", ("f8",), (sum(lengths), 5))
    if points.size and not (np.isfinite(points[:, 1]).all() and (points[:, 1] == np.rint(points[:, 1])).all()):
        raise wrong("trace", "an iteration is no whole number")
    ends = np.cumsum([0, *lengths]).tolist()
    traces = [tuple(_point(row) for row in points[ends[k] : ends[k + 1]].tolist()) for k in range(n_problems)]
    worst = fields.whole("worst", 0, n_problems - 1) if n_problems > 1 else 0
    store_endings(model, worst, certificate=certificates, status=statuses, solver=solvers, trace=traces)


def _number_or_none(value: float | None) -> Any:
    return None if value is None or math.isnan(value) else next(iter(floats_for_header([value])))


def _each(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, PerProblem) else (value,)


def _point(row: list[float]) -> TracePoint:
    return TracePoint(row[0], int(row[1]), row[2], row[3], row[4])


def _status(said: Any) -> Status:
    if not isinstance(said, str) or said not in Status.__members__:
        raise wrong("status", f"{said!r} is none of {', '.join(Status.__members__)}")
    return Status[said]


def _certificate(said: Any, asked: float | None) -> Certificate:
    """One certificate; where the file does not say which gap was asked for, it is the estimator's."""
    if not isinstance(said, dict) or set(said) - set(LATER) != {*NUMBERS, *FLAGS, "groups"}:
        raise wrong("certificate", f"its numbers are {', '.join((*NUMBERS, *FLAGS, 'groups', *LATER))}")
    later = {name: decode_float("certificate", said[name]) for name in LATER if said.get(name) is not None}
    numbers = {name: decode_float("certificate", said[name]) for name in NUMBERS}
    groups = said["groups"]
    if not isinstance(groups, list) or len(groups) != 3 or not all(type(n) is int and n >= 0 for n in groups):
        raise wrong("certificate", f"groups={groups!r} where three numbers of samples are wanted")
    if not all(isinstance(said[name], bool) for name in FLAGS):
        raise wrong("certificate", "convex and assumed_psd are true or false")
    may_be_nan = ("margin", "distance")
    if any(math.isnan(value) for name, value in numbers.items() if name not in may_be_nan):
        raise wrong("certificate", "a number of it is NaN")
    return Certificate(
        groups=Groups(*groups),
        convex=said["convex"],
        assumed_psd=said["assumed_psd"],
        data=None,
        rounding=later.get("rounding", math.nan),
        tol=later.get("tol") if "tol" in said else asked,
        **numbers,
    )
