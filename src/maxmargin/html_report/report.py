"""`report`: one page about one model. Its templates escape whatever is filled in, and nothing else here makes markup."""

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from jinja2 import Environment, PackageLoader, StrictUndefined
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import StandardScaler

from maxmargin.bounds import of_model
from maxmargin.errors import InvalidInputError
from maxmargin.estimators import LeaveOneOut
from maxmargin.estimators.per_sample import Subject
from maxmargin.html_report import charts
from maxmargin.io._atomic import replacing
from maxmargin.kernels.tiles import dense
from maxmargin.rounding import shown_above

MOST_HISTOGRAMS, MOST_CONFUSED, N_FEATURES, N_FEATURES_EACH, N_SUPPORT, MOST_LISTED = 3, 12, 20, 5, 12, 30
PACKAGES = ("maxmargin", "numpy", "scipy", "scikit-learn", "numba", "clarabel")


def asked(subject: Subject) -> dict[str, Any]:
    """Data, parameters, objective."""
    given, defaults = (one.get_params(deep=False) for one in (subject.estimator, type(subject.estimator)()))
    return {
        "counts": np.bincount(subject.labels, minlength=len(subject.classes)),
        "parameters": [(name, repr(value), repr(value) != repr(defaults[name])) for name, value in given.items()],
    }


def certificate(subject: Subject) -> dict[str, Any]:
    """What is proved, in words and in numbers: the parts of the subject have it all."""
    return {}


def samples(subject: Subject) -> dict[str, Any]:
    """Training errors, KKT groups as the certificate counts them, margins."""
    k = len(subject.classes)
    is_confused = k <= MOST_CONFUSED and (not subject.is_binary or subject.is_wrong.any())
    counts = confusion_matrix(subject.labels, subject.predicted, labels=np.arange(k)) if is_confused else ()
    return {
        "confusion": list(zip(subject.classes, counts, strict=False)),
        "margins": [(part.name, *charts.margins_chart(part)) for part in subject.worst_first[:MOST_HISTOGRAMS]],
    }


def proof(subject: Subject) -> dict[str, Any] | None:
    """The gap against time."""
    return {"chart": charts.gap_chart(subject)} if hasattr(subject.estimator, "trace_") else None


def features(subject: Subject) -> dict[str, Any] | None:
    """The strongest features of a linear model, problem by problem: name, weight, standard deviation, and their product."""
    coef = getattr(subject.estimator, "coef_", None)
    if coef is None or subject.is_precomputed:
        return None
    coef, spread = np.atleast_2d(dense(coef)), np.sqrt(StandardScaler(with_mean=False).fit(subject.X).var_)
    count, problems = N_FEATURES if subject.is_binary else N_FEATURES_EACH, []
    for part, weights, effects in list(zip(subject.parts, coef, coef * spread, strict=True))[:MOST_LISTED]:
        largest = [j for j in np.argsort(-np.abs(effects), kind="stable")[:count] if effects[j] != 0]
        problems.append((part.name, [(subject.feature_name(j), weights[j], spread[j], effects[j]) for j in largest]))
    return {"n_used": np.count_nonzero(coef.any(axis=0)), "problems": problems}


def support(subject: Subject) -> dict[str, Any] | None:
    """The samples with the largest dual variables: the problem of each, and its number there."""
    has_some = [(part.alpha, part) for part in subject.parts if part.alpha is not None]
    found = [(alpha[i], part, i) for alpha, part in has_some for i in np.flatnonzero(alpha > 0)]
    return {"rows": sorted(found, key=lambda row: -row[0])[:N_SUPPORT]} if has_some else None


def leave_one_out(subject: Subject) -> dict[str, Any] | None:
    """Leave-one-out and ξα, if they were run."""
    result = subject.leave_one_out
    if result is None:
        return None
    if len(result.predictions) != subject.n:
        raise InvalidInputError(
            f"leave_one_out must be a result of these {subject.n} samples, got one of {len(result.predictions)} samples."
        )
    estimates = result.xi_alpha if isinstance(result.xi_alpha, tuple) else (result.xi_alpha,)
    named = [(part.name, one) for part, one in zip(subject.parts, estimates, strict=True)]
    chart, step = charts.verdicts_chart(subject) if subject.is_binary else (None, 1)
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
    return {"rows": list(found.items())}


def again(subject: Subject) -> dict[str, Any]:
    """Versions, code, and the data's fingerprint."""
    python = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    versions = [("Python", python), *((package, version(package)) for package in PACKAGES)]
    return {"call": subject.estimator.__repr__(N_CHAR_MAX=4000), "versions": versions, "sha256": _sha256(subject)}


def _sha256(subject: Subject) -> str:
    """Of shape, type and values of X (CSR: data, indices, indptr) and of the labels' numbers."""
    X = subject.X
    digest = hashlib.sha256(f"{X.shape} {X.dtype}".encode())
    for array in [*((X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)), subject.labels.astype(np.int64)]:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


SECTIONS = (asked, certificate, samples, charts.boundary, proof, features, support, leave_one_out, bounds, again)
"""What gathers the facts of each section; it has the name of its template and, in the page's template, of its heading."""


TEMPLATES = Environment(
    loader=PackageLoader("maxmargin.html_report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
TEMPLATES.filters.update(number=charts.number, ticks=charts.ticks)
TEMPLATES.filters["above"] = lambda value: shown_above(value, 2).replace("-", "−")
TEMPLATES.filters["percent"] = lambda share, digits=2: f"{share:.{digits}%}"


def report(
    estimator: Any, X: Any, y: Any, path: str | os.PathLike[str] | None = None, *, sample_weight: Any = None,
    feature_names: Any = None, leave_one_out: LeaveOneOut | None = None, title: str | None = None,
) -> Path | str:  # fmt: skip
    """Write one self-contained HTML page about a fitted model.

    It says what was asked, what is proved (the certificate, recomputed from the data), where the samples lie, draws the
    boundary (of two features; else a projection, and says which), shows how the gap fell, the strongest features and support
    vectors, leave-one-out if it was run, what the margin promises (vacuous bounds are marked) and how to do it all again. The
    page needs no network and no script, follows the reader's choice of light or dark, and prints.

    Parameters
    ----------
    estimator
        A fitted classifier of this library, or a Pipeline, a search or a FrozenEstimator that holds one: the page is about the
        machine, on the rows that the steps before it make of X, and lists these steps.
    X, y, sample_weight
        Its training data, in their order.
    path : str or path, optional
        Where to write; the file is replaced as a whole or not at all. By default nothing is written.
    feature_names : sequence of str, optional
        Of the columns of X; by default those of the data frame that the model was fitted on, or numbers. A pipeline makes names
        of them for the columns that the machine sees.
    leave_one_out : LeaveOneOut, optional
        The result of `leave_one_out` for the same model and data.
    title : str, optional
        The heading.

    Returns
    -------
    Path or str
        Where it was written; without `path` the page itself.

    Notes
    -----
    Cost: that of predicting the training set a few times; pictures show at most 1000 samples, so that the page stays below 1 MB.
    The same model and data give the same bytes.

    Examples
    --------
    >>> from maxmargin import SVC, report
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> html = report(SVC(C=10).fit(X, y), X, y)
    >>> html.startswith("<!DOCTYPE html>"), "is proved to be within a relative" in html
    (True, True)
    """
    subject = Subject(estimator, X, y, sample_weight, feature_names)
    subject.leave_one_out = leave_one_out
    about = {"subject": subject, "name": type(subject.estimator).__name__}
    sections = {
        gather.__name__: TEMPLATES.get_template(f"{gather.__name__}.html.j2").render(facts, **about)
        for gather in SECTIONS
        if (facts := gather(subject)) is not None
    }
    html = TEMPLATES.get_template("page.html.j2").render(title=title, sections=sections, **about)
    if path is None:
        return html
    with replacing(path) as file:
        file.write(html.encode())
    return Path(path)
