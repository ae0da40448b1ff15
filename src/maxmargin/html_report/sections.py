"""What each section of a report says: the facts that its template writes, or None where the model has no such section."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from maxmargin.bounds import of_model
from maxmargin.core import Regularization
from maxmargin.html_report.charts import features_chart, gap_chart, margins_chart, verdicts_chart
from maxmargin.html_report.plane import boundary
from maxmargin.html_report.subject import Subject
from maxmargin.html_report.words import number
from maxmargin.typing import Floats, Indices

MOST_PROBLEMS, MOST_HISTOGRAMS, MOST_CLASSES, MOST_CONFUSED = 60, 3, 30, 12
N_FEATURES, N_FEATURES_EACH, N_SUPPORT, MOST_LISTED = 20, 5, 12, 30
PACKAGES = ("maxmargin", "numpy", "scipy", "scikit-learn", "numba", "clarabel")


def asked(subject: Subject) -> dict[str, Any]:
    """Data, parameters, objective."""
    X, estimator = subject.X, subject.estimator
    count = np.bincount(subject.labels, minlength=len(subject.classes))
    order = np.argsort(-count, kind="stable")[:MOST_CLASSES] if len(count) > MOST_CLASSES else np.arange(len(count))
    defaults = type(estimator)().get_params(deep=False)
    return {
        "density": X.nnz / max(X.shape[0] * X.shape[1], 1) if sp.issparse(X) else None,
        "objective": _objective(subject),
        "classes": [(subject.classes[k], count[k]) for k in order],
        "parameters": [
            (name, repr(value), repr(value) != repr(defaults[name]))
            for name, value in estimator.get_params(deep=False).items()
        ],
    }


def _objective(subject: Subject) -> dict[str, Any] | None:
    """The pieces of its formula; a perceptron has none."""
    estimator, problem = subject.estimator, subject.parts[0].problem
    if not hasattr(estimator, "C") and not subject.has_certificate:
        return None
    C = getattr(estimator, "C", np.inf)
    trade_off = estimator._trade_off() if C is None else Regularization.of(C)
    penalty: Any = getattr(estimator, "penalty", "l2")
    loss = str(getattr(estimator, "loss", "hinge"))
    slack = {"hinge": "ξ", "squared_hinge": "ξ²", "ramp": " min(1, ξ)"}.get(loss, "ℓ(z)")
    return {
        "norm": "‖w‖₁" if penalty == "l1" else "½‖w‖²",
        "loss": loss.replace("_", " "),
        "space": "the features themselves" if problem is None or problem.is_linear else repr(problem.kernel),
        "trade_off": trade_off.words(penalty, slack),
    }


def certificate(subject: Subject) -> dict[str, Any]:
    """What is proved, in words and in numbers."""
    estimator, parts = subject.estimator, subject.worst_first
    if not subject.has_certificate:
        witness = getattr(estimator, "witness_", None)
        of_each = witness if isinstance(witness, tuple) else (witness,) * len(parts)
        names = [part.name for part in subject.parts]
        return {"witnesses": list(zip(names, of_each, strict=True))[:MOST_PROBLEMS]}
    return {
        "worst": parts[0],
        "rows": [(part.name, part.certificate) for part in parts[:MOST_PROBLEMS]],
        "n_outliers": sum(len(part.outliers) for part in parts) if hasattr(estimator, "outliers_") else None,
        "status": estimator.status_ if subject.is_binary else estimator.status_.worst,
        "solver": estimator.solver_ if subject.is_binary else estimator.solver_.worst,
    }


def samples(subject: Subject) -> dict[str, Any]:
    """Training errors, KKT groups as the certificate counts them, margins."""
    parts, k, n_wrong = subject.worst_first, len(subject.classes), int(subject.is_wrong.sum())
    is_confused = k <= MOST_CONFUSED and (not subject.is_binary or n_wrong)
    counts = np.bincount(subject.labels * k + subject.predicted, minlength=k * k).reshape(k, k) if is_confused else ()
    return {
        "n_wrong": n_wrong,
        "groups": [
            (part.name, part.certificate.groups, len(part.present))
            for part in parts[:MOST_PROBLEMS]
            if part.certificate
        ],
        "confusion": list(zip(subject.classes, counts, strict=False)),
        "margins": [(part.name, *margins_chart(part)) for part in parts[:MOST_HISTOGRAMS]],
    }


def proof(subject: Subject) -> dict[str, Any] | None:
    """The gap against time."""
    if not hasattr(subject.estimator, "trace_"):
        return None
    traces = (subject.estimator.trace_,) if subject.is_binary else tuple(subject.estimator.trace_)
    gaps = [min((point.relative_gap for point in trace), default=np.inf) for trace in traces]
    seconds = max((point.seconds for trace in traces for point in trace), default=0.0)
    names, tol = [part.name for part in subject.parts], getattr(subject.estimator, "tol", None)
    return {"chart": gap_chart(traces, names, int(np.argmax(gaps)), tol), "gap": max(gaps), "seconds": seconds}


def features(subject: Subject) -> dict[str, Any] | None:
    """The strongest features of a linear model."""
    coef = getattr(subject.estimator, "coef_", None)
    if coef is None or subject.is_precomputed:
        return None
    coef, spread = np.atleast_2d(coef), np.sqrt(StandardScaler(with_mean=False).fit(subject.X).var_)
    effects, n_used = coef * spread, np.count_nonzero(coef.any(axis=0))
    if subject.is_binary:
        top = _largest(effects[0], N_FEATURES)
        names = [subject.feature_name(j) for j in top]
        rows: Any = list(zip(names, coef[0, top], spread[top], effects[0, top], strict=True))
        return {"n_used": n_used, "chart": features_chart(names, effects[0, top]), "rows": rows}
    rows = [
        (part.name, [(subject.feature_name(j), effect[j]) for j in _largest(effect, N_FEATURES_EACH)])
        for part, effect in list(zip(subject.parts, effects, strict=True))[:MOST_LISTED]
    ]
    return {"n_used": n_used, "chart": None, "rows": rows}


def _largest(effects: Floats, count: int) -> Indices:
    order = np.argsort(-np.abs(effects), kind="stable")[:count]
    return np.asarray(order[effects[order] != 0])


def support(subject: Subject) -> dict[str, Any] | None:
    """The samples with the largest dual variables: the problem of each, and its number there."""
    if all(part.alpha is None for part in subject.parts):
        return None
    found = [
        (part.alpha[i], part, i, part.problem.cost[i] if part.problem is not None else np.inf)
        for part in subject.parts
        if part.alpha is not None
        for i in np.argsort(-part.alpha, kind="stable")[:N_SUPPORT]
        if part.alpha[i] > 0
    ]
    return {"rows": sorted(found, key=lambda row: -row[0])[:N_SUPPORT]}


def leave_one_out(subject: Subject) -> dict[str, Any] | None:
    """Leave-one-out and ξα, if they were run."""
    result = subject.leave_one_out
    if result is None:
        return None
    estimates = result.xi_alpha if isinstance(result.xi_alpha, tuple) else (result.xi_alpha,)
    wrong = np.asarray(result.predictions) != np.asarray(subject.estimator.classes_)[subject.labels]
    named = [(part.name, one) for part, one in zip(subject.parts, estimates, strict=True)]
    chart, step = verdicts_chart(result, wrong) if len(named) == 1 else (None, 1)
    return {"result": result, "chart": chart, "step": step, "estimates": named[:MOST_LISTED]}


def bounds(subject: Subject) -> dict[str, Any] | None:
    """What the margin promises about new data; nothing about weighted samples."""
    estimator = subject.estimator
    found: dict[str, Any] = {}
    if getattr(estimator, "mistake_bound_", None) is not None and subject.is_binary:
        found = {"perceptron_updates": estimator.mistake_bound_}
    elif not subject.has_certificate or not subject.is_binary:
        return None
    elif subject.sample_weight is None:
        found = of_model(estimator, subject.given, np.asarray(estimator.classes_)[subject.labels])
    values = [number(bound.value if isinstance(bound.value, int) else float(bound)) for bound in found.values()]
    return {"rows": list(zip(found, values, found.values(), strict=True))}


def again(subject: Subject) -> dict[str, Any]:
    """Versions, code, and the data's fingerprint."""
    python = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    versions = [("Python", python), *((package, version(package)) for package in PACKAGES)]
    return {"call": subject.estimator.__repr__(N_CHAR_MAX=4000), "versions": versions}


SECTIONS = (asked, certificate, samples, boundary, proof, features, support, leave_one_out, bounds, again)
"""What gathers the facts of each section; it has the name of its template and, in the page's template, of its heading."""
