"""The second half of a report: the boundary, what holds it up, leave-one-out, promises, how to do it again."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.bounds import of_model
from maxmargin.html_report.charts import features_figure, verdicts_figure
from maxmargin.html_report.html import Section, element, number, paragraph, section, table
from maxmargin.html_report.plane import boundary_figure
from maxmargin.html_report.subject import Subject
from maxmargin.typing import Floats, Indices

N_FEATURES, N_FEATURES_EACH, N_SUPPORT, MOST_PROBLEMS = 20, 5, 12, 30
PACKAGES = ("maxmargin", "numpy", "scipy", "scikit-learn", "numba", "clarabel")


def boundary(subject: Subject) -> Section:
    """The picture of the boundary."""
    return section("The boundary", "boundary", boundary_figure(subject))


def features(subject: Subject) -> Section | None:
    """The strongest features of a linear model."""
    coef = getattr(subject.estimator, "coef_", None)
    if coef is None or subject.is_precomputed:
        return None
    coef = np.atleast_2d(coef)
    spread = _deviations(subject.X)
    effects = coef * spread
    used = f"{number(int(np.count_nonzero(coef.any(axis=0))))} of {number(coef.shape[1])} features have a weight."
    words = paragraph(
        f"{used} A weight alone depends on the feature's unit, so the order is that of weight × standard deviation: the change "
        "of F for a usual change of the feature."
    )
    if subject.is_binary:
        top = _largest(effects[0], N_FEATURES)
        rows = [(subject.feature_name(j), number(coef[0, j]), number(spread[j]), number(effects[0, j])) for j in top]
        positive, negative = subject.parts[0].positive, subject.parts[0].negative
        return section(
            "The strongest features", "features", words,
            element("figure", features_figure([subject.feature_name(j) for j in top], effects[0, top]),
                    element("figcaption", f"Right: speaks for {positive}. Left: speaks for {negative}.")),
            element("details", element("summary", "The numbers"), table(
                "Strongest features", ("feature", "weight", "standard deviation", "product"), rows)),
        )  # fmt: skip
    each = []
    for k, part in enumerate(subject.parts[:MOST_PROBLEMS]):
        top = _largest(effects[k], N_FEATURES_EACH)
        listed = ", ".join(
            f"{subject.feature_name(j)} ({'+' if effects[k, j] > 0 else ''}{number(effects[k, j], 2)})" for j in top
        )
        each.append((part.name, listed))
    return section(
        "The strongest features", "features", words,
        table("Strongest features by problem, with weight × standard deviation", ("problem", "features"), each, numbers_from=9),
    )  # fmt: skip


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


def support(subject: Subject) -> Section | None:
    """The samples with the largest dual variables."""
    parts = [part for part in subject.parts if part.alpha is not None]
    if not parts:
        return None
    rows = []
    for part in parts:
        assert part.alpha is not None
        for i in np.argsort(-part.alpha, kind="stable")[:N_SUPPORT]:
            if part.alpha[i] > 0:
                cost = part.problem.cost[i] if part.problem is not None else np.inf
                bound = number(float(cost)) if np.isfinite(cost) else "none"
                label = subject.classes[subject.labels[part.rows[i]]]
                rows.append(
                    (float(part.alpha[i]), (
                        str(int(part.rows[i])), label, part.name, number(float(part.alpha[i])), bound,
                        number(float(part.margins[i])), number(float(part.slacks[i])),
                    ))
                )  # fmt: skip
    rows.sort(key=lambda row: -row[0])
    total = number(len(subject.estimator.support_))
    what = "dual variables" if subject.has_certificate else "numbers of mistakes (times η)"
    head = ("row", "class", "problem", "α", "its bound c", "y F", "slack ξ")
    drop = 2 if subject.is_binary else None
    keep = [k for k in range(len(head)) if k != drop]
    return section(
        "The support vectors", "support",
        paragraph(f"{total} of {number(subject.n)} samples hold the boundary where it is. Those with the largest {what}:"),
        table("Largest α", [head[k] for k in keep], [[row[k] for k in keep] for _, row in rows[:N_SUPPORT]],
              numbers_from=2 if subject.is_binary else 3),
    )  # fmt: skip


def left_out(subject: Subject) -> Section | None:
    """Leave-one-out and ξα, if they were run."""
    result = subject.leave_one_out
    if result is None:
        return None
    estimates = result.xi_alpha if isinstance(result.xi_alpha, tuple) else (result.xi_alpha,)
    rows = [
        (part.name, f"≈ {e.error:.2%}", f"≈ {e.recall:.2%}", f"≈ {e.precision:.2%}")
        for part, e in list(zip(subject.parts, estimates, strict=True))[:MOST_PROBLEMS]
    ]
    wrong = np.asarray(result.predictions) != np.asarray(subject.estimator.classes_)[subject.labels]
    return section(
        "Leave-one-out", "leave-one-out",
        paragraph(
            f"Leave-one-out error: {result.error:.2%}. Each label comes from the machine that never saw its sample. "
            f"{result.meaning} "
            f"{number(int(result.n_retrained))} of {number(subject.n)} samples needed retraining; {number(result.seconds, 3)} s "
            "in all.",
            class_="verdict",
        ),
        table("What settled the labels", ("theorem, or retraining", "samples"),
              [(str(how), number(count)) for how, count in result.counts().items()]),
        verdicts_figure(result, wrong) if len(estimates) == 1 else "",
        table("ξα estimates, without retraining (pessimistic, as a rule)",
              ("problem", "error", "recall", "precision"), rows),
    )  # fmt: skip


def promises(subject: Subject) -> Section | None:
    """What the margin promises about new data."""
    if getattr(subject.estimator, "mistake_bound_", None) is not None and subject.is_binary:
        found = {"perceptron_updates": subject.estimator.mistake_bound_}
    elif not subject.has_certificate or not subject.is_binary:
        return None
    elif subject.sample_weight is not None:
        return section("What the margin promises", "bounds", paragraph(
            "The theorems speak of samples of equal weight; these were weighted, so nothing is claimed."))  # fmt: skip
    else:
        found = of_model(subject.estimator, subject.given, np.asarray(subject.estimator.classes_)[subject.labels])
    rows = []
    for name, bound in found.items():
        value = number(bound.value if isinstance(bound.value, int) else float(bound))
        marks = []
        if bound.vacuous:
            marks.append(element("strong", "vacuous: says nothing", class_="vacuous"))
        elif bound.kind == "rate":
            marks.append(element("span", "a rate, no bound"))
        if bound.plug_in:
            marks.append(element("span", "plug-in: measured on the sample"))
        remarks = element("span", *(piece for mark in marks for piece in (mark, " "))) if marks else ""
        rows.append(
            (name.replace("_", " "), value, remarks, bound.claim, element("code", bound.formula), bound.theorem)
        )
    return section(
        "What the margin promises", "bounds",
        paragraph("Theorems about new data from the same distribution. A bound of 1 or more says nothing, and is marked."),
        table("Bounds", ("bound", "value", "remark", "claim", "formula", "theorem"), rows, numbers_from=9, class_="wide"),
    )  # fmt: skip


def again(subject: Subject) -> Section:
    """Versions, code, and the data's fingerprint."""
    estimator = subject.estimator
    name = type(estimator).__name__
    call = estimator.__repr__(N_CHAR_MAX=4000)
    weights = ", sample_weight" if subject.sample_weight is not None else ""
    lines = [f"from maxmargin import {name}, certify", "", f"model = {call}.fit(X, y{weights})"]
    lines.append(f"print(certify(model, X, y{weights}))" if subject.has_certificate else "print(model.score(X, y))")
    versions = [("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")]
    versions += [(package, version(package)) for package in PACKAGES]
    return section(
        "How to reproduce it", "again",
        element("pre", element("code", "\n".join(lines))),
        table("Versions", ("package", "version"), versions, numbers_from=9),
        paragraph("SHA-256 of the data (shape, type and values of X, then the numbers of the labels): ",
                  element("code", subject.fingerprint(), class_="hash")),
    )  # fmt: skip
