"""What was proved of each binary problem: certificate, status, solver and trace."""

import math
from typing import Any

import numpy as np

from maxmargin.core import Certificate, Status
from maxmargin.core.certificate.parts import Groups
from maxmargin.core.solution import TracePoint
from maxmargin.estimators.multiclass.per_problem import store_endings
from maxmargin.io._model.archive import require
from maxmargin.io._model.fields import Fields, of_each
from maxmargin.io._model.parameters import decode_float, decode_number, encode_float

NUMBERS = ("primal", "dual", "gap", "relative_gap", "kkt_violation")
MAYBE_NAN = ("margin", "distance")
FLAGS = ("convex", "assumed_psd")
LATER = ("rounding", "tol")
"""Numbers that files of version 0.1 do not have; null where there is none."""

TRACE = np.empty((0, len(TracePoint._fields)))


def describe_proofs(f: Fields, count: int) -> None:
    """What was proved of so many problems, if anything: a stream, or a model of another library, has no proof."""
    if not f.has("certificate"):
        return
    tol = f.model.tol
    certificates = f.each(
        "certificate", count, lambda _, said: _decode(said, tol), _encode, of_each("certificate_", count)
    )
    statuses = f.each("status", count, _decode_status, lambda status: status.name, of_each("status_", count))
    solvers = f.each("solver", count, _decode_text, source=of_each("solver_", count))
    traces = f.ragged("trace", "trace_lengths", count, TRACE, of_each("trace_", count))
    are_whole = all((np.isfinite(points[:, 1]) & (points[:, 1] == np.rint(points[:, 1]))).all() for points in traces)
    require(are_whole, "trace", "an iteration is not a whole number")
    worst = f.whole("worst", 0, count - 1, _worst) if count > 1 else 0
    if f.is_reading:
        moments = [tuple(_point(*row) for row in points.tolist()) for points in traces]
        store_endings(f.model, worst, certificate=certificates, status=statuses, solver=solvers, trace=moments)


def _worst(model: Any) -> int:
    return next(k for k, certificate in enumerate(model.certificate_) if certificate is model.certificate_.worst)


def _point(seconds: float, iteration: float, *values: float) -> TracePoint:
    return TracePoint(seconds, int(iteration), *values)


def _decode_text(name: str, said: Any) -> str:
    require(isinstance(said, str), name, "texts are wanted")
    return str(said)


def _decode_status(name: str, said: Any) -> Status:
    is_right = _decode_text(name, said) in Status.__members__
    require(is_right, name, f"{said!r} is none of {', '.join(Status.__members__)}")
    return Status[said]


def _encode(certificate: Certificate) -> dict[str, Any]:
    numbers = {name: encode_float(getattr(certificate, name)) for name in (*NUMBERS, *MAYBE_NAN)}
    flags = {name: bool(getattr(certificate, name)) for name in FLAGS}
    later = {name: getattr(certificate, name) for name in LATER}
    later = {name: None if value is None or math.isnan(value) else encode_float(value) for name, value in later.items()}
    return {**numbers, **flags, **later, "groups": list(certificate.groups)}


def _decode(said: Any, tol: float | None) -> Certificate:
    """One certificate; where the file does not say which gap was asked for, it is the estimator's."""
    name = "certificate"
    needed = (*NUMBERS, *MAYBE_NAN, *FLAGS, "groups")
    is_right = isinstance(said, dict) and set(said) - set(LATER) == set(needed)
    require(is_right, name, f"its fields are {', '.join((*needed, *LATER))}")
    groups = said["groups"]
    is_right = isinstance(groups, list) and len(groups) == 3 and all(type(n) is int and n >= 0 for n in groups)
    require(is_right, name, f"groups={groups!r} where three numbers of samples are wanted")
    require(all(isinstance(said[flag], bool) for flag in FLAGS), name, f"{' and '.join(FLAGS)} are true or false")
    later = {key: None if said.get(key) is None else decode_float(name, said[key]) for key in LATER}
    if "tol" not in said and tol is not None:
        later["tol"] = float(tol)
    values: dict[str, Any] = {key: decode_number(name, said[key]) for key in NUMBERS}
    values |= {key: decode_float(name, said[key]) for key in MAYBE_NAN} | {key: said[key] for key in FLAGS}
    rounding = math.nan if later["rounding"] is None else later["rounding"]
    return Certificate(groups=Groups(*groups), rounding=rounding, tol=later["tol"], **values)
