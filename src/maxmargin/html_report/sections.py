"""What each section of a report says: the facts that its template writes, or None where the model has no such section."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.bounds import of_model
from maxmargin.core import Regularization
from maxmargin.core.certificate.groups import INSIDE, ON, OUTSIDE
from maxmargin.estimators.per_sample import Anatomy
from maxmargin.html_report.charts import features_figure, gap_figure, margins_figure, verdicts_figure
from maxmargin.html_report.plane import boundary_figure
from maxmargin.html_report.subject import Subject
from maxmargin.html_report.words import MEANINGS, number, percent, short
from maxmargin.typing import Floats, Indices

MOST_PROBLEMS, MOST_HISTOGRAMS, MOST_CLASSES, MOST_CONFUSED = 60, 3, 30, 12
N_FEATURES, N_FEATURES_EACH, N_SUPPORT, MOST_LISTED = 20, 5, 12, 30
PACKAGES = ("maxmargin", "numpy", "scipy", "scikit-learn", "numba", "clarabel")


def asked(subject: Subject) -> dict[str, Any]:
    """Data, parameters, objective."""
    X, estimator = subject.X, subject.estimator
    storage = "dense"
    if sp.issparse(X):
        storage = f"sparse: {percent(X.nnz / max(X.shape[0] * X.shape[1], 1))} of the values are stored"
    size = f"{number(subject.n)} samples × {number(X.shape[1])} features"
    count = np.bincount(subject.labels, minlength=len(subject.classes))
    order = np.argsort(-count, kind="stable")[:MOST_CLASSES] if len(count) > MOST_CLASSES else np.arange(len(count))
    defaults = type(estimator)().get_params(deep=False)
    return {
        "size": f"a Gram matrix of {number(subject.n)} samples" if subject.is_precomputed else size,
        "storage": f"{X.dtype}, {storage}",
        "objective": _objective(subject),
        "classes": [(subject.classes[k], number(count[k]), percent(count[k] / subject.n, 1)) for k in order],
        "is_cut": len(order) < len(count),
        "parameters": [
            (name, short(value), "" if repr(value) == repr(defaults[name]) else "chosen", MEANINGS.get(name, ""))
            for name, value in estimator.get_params(deep=False).items()
        ],
    }


def _objective(subject: Subject) -> str:
    estimator = subject.estimator
    if not hasattr(estimator, "C") and not subject.has_certificate:
        return "A perceptron minimises nothing: it visits the samples and adds those on their wrong side, until none is left."
    C = getattr(estimator, "C", np.inf)
    trade_off = estimator._trade_off() if C is None else Regularization.of(C)
    problem = subject.parts[0].problem
    space = "the features themselves" if problem is None or problem.is_linear else repr(subject.kernel)
    penalty: Any = getattr(estimator, "penalty", "l2")
    loss = getattr(estimator, "loss", "hinge")
    norm = "‖w‖₁" if penalty == "l1" else "½‖w‖²"
    slack = {"squared_hinge": "ξ²", "ramp": " min(1, ξ)"}.get(loss, "ξ")
    return (
        f"Minimised: {norm} + Σ c·ℓ(y F(x)) with the {str(loss).replace('_', ' ')} loss, F(x) = ⟨w, φ(x)⟩ + b, φ: {space}."
        f" The trade-off: {trade_off.words(penalty, slack)}."
    )


def certificate(subject: Subject) -> dict[str, Any]:
    """What is proved, in words and in numbers."""
    estimator = subject.estimator
    if not subject.has_certificate:
        witness = getattr(estimator, "witness_", None)
        of_each = witness if isinstance(witness, tuple) else (witness,) * len(subject.parts)
        names = [part.name for part in subject.parts]
        return {"witnesses": list(zip(names, of_each, strict=True))[:MOST_PROBLEMS]}
    outliers = getattr(estimator, "outliers_", None)
    of_each = outliers if isinstance(outliers, tuple) else (outliers,)
    return {
        "worst": subject.worst_first[0],
        "rows": [_certified(part) for part in subject.worst_first[:MOST_PROBLEMS]],
        "n_outliers": None if outliers is None else sum(map(len, of_each)),
        "status": estimator.status_ if subject.is_binary else estimator.status_.worst,
        "solver": estimator.solver_ if subject.is_binary else estimator.solver_.worst,
    }


def _certified(part: Anatomy) -> tuple[str, ...]:
    found = part.certificate
    assert found is not None
    return (
        part.name, "yes" if found.is_certified else "no", number(found.primal, 8), number(found.dual, 8),
        number(found.relative_gap, 2), number(found.kkt_violation, 2), number(found.margin),
    )  # fmt: skip


def samples(subject: Subject) -> dict[str, Any]:
    """Training errors, KKT groups, margins."""
    parts, n_wrong = subject.worst_first, int(subject.is_wrong.sum())
    is_confused = len(subject.classes) <= MOST_CONFUSED and (not subject.is_binary or n_wrong)
    return {
        "n_wrong": n_wrong,
        "groups": [_groups(part) for part in parts[:MOST_PROBLEMS]] if subject.has_certificate else [],
        "confusion": _confusion(subject) if is_confused else None,
        "margins": [
            margins_figure(part, "" if subject.is_binary else f"{part.name}. ") for part in parts[:MOST_HISTOGRAMS]
        ],
    }


def _groups(part: Anatomy) -> tuple[Any, ...]:
    """The name of the problem, and (count, share) of each group."""
    counts = [int(np.sum(part.groups == group)) for group in (OUTSIDE, ON, INSIDE)]
    return (part.name, *((count, count / max(len(part.present), 1)) for count in counts))


def _confusion(subject: Subject) -> tuple[Any, ...]:
    """The head and the rows of the table."""
    predicted = np.searchsorted(subject.estimator.classes_, subject.estimator.predict(subject.given))
    k = len(subject.classes)
    counts = np.bincount(subject.labels * k + predicted, minlength=k * k).reshape(k, k)
    rows = [(name, *map(number, row)) for name, row in zip(subject.classes, counts, strict=True)]
    return ("true class", *(f"predicted {name}" for name in subject.classes)), rows


def boundary(subject: Subject) -> dict[str, Any]:
    """The picture of the boundary."""
    return {"shown": boundary_figure(subject)}


def proof(subject: Subject) -> dict[str, Any] | None:
    """The gap against time."""
    if not hasattr(subject.estimator, "trace_"):
        return None
    trace = subject.estimator.trace_
    traces = (trace,) if subject.is_binary else tuple(trace)
    gaps = [min((point.relative_gap for point in one), default=np.inf) for one in traces]
    tol = getattr(subject.estimator, "tol", None)
    return {"shown": gap_figure(traces, [part.name for part in subject.parts], int(np.argmax(gaps)), tol)}


def features(subject: Subject) -> dict[str, Any] | None:
    """The strongest features of a linear model."""
    coef = getattr(subject.estimator, "coef_", None)
    if coef is None or subject.is_precomputed:
        return None
    coef, spread = np.atleast_2d(coef), _deviations(subject.X)
    effects, n_used = coef * spread, np.count_nonzero(coef.any(axis=0))
    if subject.is_binary:
        top = _largest(effects[0], N_FEATURES)
        names = [subject.feature_name(j) for j in top]
        columns = zip(names, coef[0, top], spread[top], effects[0, top], strict=True)
        return {
            "n_used": n_used,
            "shown": features_figure(names, effects[0, top], subject.parts[0]),
            "rows": [(name, *map(number, values)) for name, *values in columns],
        }
    rows = []
    for part, effect in list(zip(subject.parts, effects, strict=True))[:MOST_LISTED]:
        top = _largest(effect, N_FEATURES_EACH)
        signed = [f"{'+' if effect[j] > 0 else ''}{number(effect[j], 2)}" for j in top]
        rows.append(
            (part.name, ", ".join(f"{subject.feature_name(j)} ({s})" for j, s in zip(top, signed, strict=True)))
        )
    return {"n_used": n_used, "rows": rows}


def _largest(effects: Floats, count: int) -> Indices:
    order = np.argsort(-np.abs(effects), kind="stable")[:count]
    return np.asarray(order[effects[order] != 0])


def _deviations(X: Any) -> Floats:
    """The standard deviation of each column, without making a sparse matrix dense."""
    if not sp.issparse(X):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    n = X.shape[0]
    mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
    square = np.asarray(X.multiply(X).sum(axis=0, dtype=np.float64)).ravel() / n
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))


def support(subject: Subject) -> dict[str, Any] | None:
    """The samples with the largest dual variables."""
    found = []
    for part in subject.parts:
        if part.alpha is not None:
            largest = np.argsort(-part.alpha, kind="stable")[:N_SUPPORT]
            found += [(part.alpha[i], part, i) for i in largest if part.alpha[i] > 0]
    if all(part.alpha is None for part in subject.parts):
        return None
    found.sort(key=lambda one: -one[0])
    rows = []
    for alpha, part, i in found[:N_SUPPORT]:
        cost = part.problem.cost[i] if part.problem is not None else np.inf
        rows.append((
            part.rows[i], subject.classes[subject.labels[part.rows[i]]], *(() if subject.is_binary else (part.name,)),
            number(alpha), number(cost) if np.isfinite(cost) else "none", number(part.margins[i]), number(part.slacks[i]),
        ))  # fmt: skip
    return {"rows": rows}


def left_out(subject: Subject) -> dict[str, Any] | None:
    """Leave-one-out and ξα, if they were run."""
    result = subject.leave_one_out
    if result is None:
        return None
    estimates = result.xi_alpha if isinstance(result.xi_alpha, tuple) else (result.xi_alpha,)
    wrong = np.asarray(result.predictions) != np.asarray(subject.estimator.classes_)[subject.labels]
    return {
        "result": result,
        "settled": [(str(how), number(count)) for how, count in result.counts().items()],
        "shown": verdicts_figure(result, wrong) if len(estimates) == 1 else None,
        "estimates": [
            (part.name, *(f"≈ {percent(value)}" for value in (one.error, one.recall, one.precision)))
            for part, one in list(zip(subject.parts, estimates, strict=True))[:MOST_LISTED]
        ],
    }


def promises(subject: Subject) -> dict[str, Any] | None:
    """What the margin promises about new data."""
    estimator = subject.estimator
    if getattr(estimator, "mistake_bound_", None) is not None and subject.is_binary:
        found = {"perceptron_updates": estimator.mistake_bound_}
    elif not subject.has_certificate or not subject.is_binary:
        return None
    elif subject.sample_weight is not None:
        return {"rows": None}
    else:
        found = of_model(estimator, subject.given, np.asarray(estimator.classes_)[subject.labels])
    rows = []
    for name, bound in found.items():
        value = number(bound.value if isinstance(bound.value, int) else float(bound))
        rows.append((name.replace("_", " "), value, bound, bound.claim, bound.formula, bound.theorem))
    return {"rows": rows}


def again(subject: Subject) -> dict[str, Any]:
    """Versions, code, and the data's fingerprint."""
    python = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    return {
        "name": type(subject.estimator).__name__,
        "call": subject.estimator.__repr__(N_CHAR_MAX=4000),
        "versions": [("Python", python), *((package, version(package)) for package in PACKAGES)],
    }


SECTIONS = {
    "asked": ("What was asked", asked),
    "certificate": ("The certificate", certificate),
    "samples": ("The samples", samples),
    "boundary": ("The boundary", boundary),
    "proof": ("How the proof grew", proof),
    "features": ("The strongest features", features),
    "support": ("The support vectors", support),
    "leave-one-out": ("Leave-one-out", left_out),
    "bounds": ("What the margin promises", promises),
    "again": ("How to reproduce it", again),
}
"""The heading of each section, and what gathers its facts; the key is its anchor and the name of its template."""
