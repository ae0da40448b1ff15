"""The first half of a report: what was asked, what is proved, where the samples lie, how the proof grew."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Certificate, Regularization
from maxmargin.core.certificate.groups import INSIDE, ON, OUTSIDE
from maxmargin.estimators.per_sample import Anatomy
from maxmargin.html_report.charts import gap_figure, margins_figure
from maxmargin.html_report.html import Html, Section, element, number, paragraph, section, table
from maxmargin.html_report.subject import Subject
from maxmargin.html_report.words import MEANINGS, short

GROUP_HEADS = (
    "problem",
    "outside the margin: α\u00a0=\u00a00",
    "on it: 0\u00a0<\u00a0α\u00a0<\u00a0c",
    "inside or wrong: α\u00a0=\u00a0c",
)
MOST_PROBLEMS, MOST_HISTOGRAMS, MOST_CLASSES = 60, 3, 30


def asked(subject: Subject) -> Section:
    """Data, parameters, objective."""
    X, estimator = subject.X, subject.estimator
    storage = f"{X.dtype}, dense"
    if sp.issparse(X):
        storage = f"{X.dtype}, sparse: {X.nnz / max(X.shape[0] * X.shape[1], 1):.2%} of the values are stored"
    size = f"{number(subject.n)} samples × {number(int(X.shape[1]))} features"
    if subject.is_precomputed:
        size = f"a Gram matrix of {number(subject.n)} samples"
    count = np.bincount(subject.labels, minlength=len(subject.classes))
    order = np.argsort(-count, kind="stable")[:MOST_CLASSES] if len(count) > MOST_CLASSES else np.arange(len(count))
    classes = [(subject.classes[k], number(int(count[k])), f"{count[k] / subject.n:.1%}") for k in order]
    defaults = type(estimator)().get_params(deep=False)
    rows = [
        (name, element("code", short(value)), "" if repr(value) == repr(defaults[name]) else "chosen",
         MEANINGS.get(name, ""))
        for name, value in estimator.get_params(deep=False).items()
    ]  # fmt: skip
    weighted = paragraph("The samples were weighted.") if subject.sample_weight is not None else ""
    first = f"{'The first' if len(order) < len(count) else 'The'} {len(order)} classes"
    return section(
        "What was asked", "asked",
        paragraph(f"Data: {size} ({storage}), {len(subject.classes)} classes. ", _objective(subject)),
        weighted,
        table(first, ("class", "samples", "share"), classes),
        element(
            "details", element("summary", f"All {len(rows)} parameters"),
            table("Parameters", ("parameter", "value", "", "meaning"), rows, numbers_from=9),
        ),
    )  # fmt: skip


def _objective(subject: Subject) -> str:
    estimator = subject.estimator
    if not hasattr(estimator, "C") and not subject.has_certificate:
        return "A perceptron minimises nothing: it visits the samples and adds those on their wrong side, until none is left."
    C = getattr(estimator, "C", np.inf)
    trade_off = estimator._trade_off() if C is None else Regularization.of(C)
    kernel = subject.kernel
    space = (
        "the features themselves"
        if subject.parts[0].problem is None or subject.parts[0].problem.is_linear
        else repr(kernel)
    )
    penalty: Any = getattr(estimator, "penalty", "l2")
    loss = getattr(estimator, "loss", "hinge")
    norm = "‖w‖₁" if penalty == "l1" else "½‖w‖²"
    slack = {"squared_hinge": "ξ²", "ramp": " min(1, ξ)"}.get(loss, "ξ")
    return (
        f"Minimised: {norm} + Σ c·ℓ(y F(x)) with the {str(loss).replace('_', ' ')} loss, F(x) = ⟨w, φ(x)⟩ + b, φ: {space}."
        f" The trade-off: {trade_off.words(penalty, slack)}."
    )


def certificate(subject: Subject) -> Section:
    """What is proved, in words and in numbers."""
    estimator = subject.estimator
    if not subject.has_certificate:
        return section("The certificate", "certificate", *_no_certificate(subject))
    worst = subject.worst_first[0]
    assert worst.certificate is not None
    lead = str(worst.certificate) if subject.is_binary else (
        f"{len(subject.parts)} problems of two classes each; the one with the largest gap is {worst.name}. {worst.certificate}"
    )  # fmt: skip
    status = estimator.status_ if subject.is_binary else estimator.status_.worst
    solver = estimator.solver_ if subject.is_binary else estimator.solver_.worst
    shown = subject.worst_first[:MOST_PROBLEMS]
    rows = [_numbers(part) for part in shown]
    fewer = (
        f", the {len(shown)} with the largest gaps of {len(subject.parts)}" if len(shown) < len(subject.parts) else ""
    )
    return section(
        "The certificate", "certificate",
        paragraph(lead, class_="verdict"),
        paragraph(_meaning(worst.certificate)),
        table(
            f"Certificates{fewer}",
            ("problem", "certified", "primal P", "dual D", "relative gap", "KKT violation", "margin"), rows,
        ),
        _not_convex(subject),
        paragraph(f"How the fit ended: {status} Solver: {solver}."),
    )  # fmt: skip


def _meaning(found: Certificate) -> str:
    """What P and D are."""
    made = "Both were recomputed from the data when this page was made."
    if not found.convex:
        return f"P is the objective of this model; D is no lower bound, as the kernel is not positive semi-definite. {made}"
    trust = "if the kernel is positive semi-definite, " if found.assumed_psd else ""
    return (
        "P is the objective of this model and D a lower bound for every model: "
        f"{trust}no other choice of w and b can bring the objective below D. {made}"
    )


def _not_convex(subject: Subject) -> Html | str:
    """What the certificate of a ramp is about."""
    outliers = getattr(subject.estimator, "outliers_", None)
    if outliers is None:
        return ""
    count = sum(map(len, outliers)) if isinstance(outliers, tuple) else len(outliers)
    return paragraph(
        f"The ramp loss is not convex: the certificate is that of its last convex step, which leaves {number(count)} outliers "
        "out. A better model may exist elsewhere."
    )


def _numbers(part: Anatomy) -> tuple[Any, ...]:
    found = part.certificate
    assert found is not None
    return (
        part.name, "yes" if found.is_certified else "no", number(found.primal, 8), number(found.dual, 8),
        number(found.relative_gap, 2), number(found.kkt_violation, 2), number(found.margin),
    )  # fmt: skip


def _no_certificate(subject: Subject) -> list[Html]:
    estimator = subject.estimator
    if not hasattr(estimator, "dual_coef_"):
        return [
            paragraph(
                "There is no certificate: this model was learned from a stream, whose samples are gone.",
                class_="verdict",
            )
        ]
    if not hasattr(estimator, "witness_"):
        return [paragraph("There is no proof: a model file keeps no witness of a perceptron.", class_="verdict")]
    witnesses = estimator.witness_ if isinstance(estimator.witness_, tuple) else (estimator.witness_,)
    words = [
        paragraph(
            "There is no certificate of optimality: a perceptron minimises nothing, so it has no gap. Its proof is a "
            "hyperplane that separates.", class_="verdict",
        )
    ]  # fmt: skip
    for part, witness in list(zip(subject.parts, witnesses, strict=True))[:MOST_PROBLEMS]:
        none = "none: its last epoch still made mistakes, so nothing is proved."
        words.append(paragraph(f"{part.name}: {none if witness is None else witness}"))
    words.append(paragraph(f"Updates made: {number(int(estimator.n_updates_))}."))
    return words


def samples(subject: Subject) -> Section:
    """Training errors, KKT groups, margins."""
    errors = int(subject.is_wrong.sum())
    parts = subject.worst_first
    content: list[Any] = [
        paragraph(
            f"Training error: {number(errors)} of {number(subject.n)} samples ({errors / subject.n:.2%}) are misclassified."
        )
    ]
    if subject.has_certificate:
        rows = [_group_row(part) for part in parts[:MOST_PROBLEMS]]
        content.append(
            table(
                "Complementary slackness: α is a sample's dual variable, c its cost",
                GROUP_HEADS, rows,
            )
        )  # fmt: skip
    if len(subject.classes) > 2 or errors:
        content.append(_confusion(subject))
    shown = parts[:MOST_HISTOGRAMS]
    if len(shown) < len(parts):
        content.append(paragraph(f"Margins of {len(shown)} of the {len(parts)} problems, the largest gaps first:"))
    content += [margins_figure(part, "" if subject.is_binary else part.name) for part in shown]
    return section("The samples", "samples", *content)


def _group_row(part: Anatomy) -> tuple[Any, ...]:
    groups, total = part.groups, max(len(part.present), 1)
    cells = [int(np.sum(groups == group)) for group in (OUTSIDE, ON, INSIDE)]
    return (part.name, *(_share(count, total) for count in cells))


def _share(count: int, total: int) -> Html:
    bar = element("span", "", class_="share", style=f"width:{100 * count / total:.1f}%")
    return element("span", f"{number(count)} ({count / total:.0%})", bar, class_="cell")


def _confusion(subject: Subject) -> Html | str:
    if len(subject.classes) > 12:
        return ""
    predicted = np.searchsorted(subject.estimator.classes_, subject.estimator.predict(subject.given))
    k = len(subject.classes)
    counts = np.bincount(subject.labels * k + predicted, minlength=k * k).reshape(k, k)
    rows = [(name, *(number(int(count)) for count in counts[i])) for i, name in enumerate(subject.classes)]
    head = ("true class", *(f"predicted {name}" for name in subject.classes))
    return table("Training samples by true and predicted class", head, rows)


def proof(subject: Subject) -> Section | None:
    """The gap against time."""
    if not hasattr(subject.estimator, "trace_"):
        return None
    trace = subject.estimator.trace_
    traces = (trace,) if subject.is_binary else tuple(trace)
    gaps = [min((point.relative_gap for point in one), default=np.inf) for one in traces]
    tol = getattr(subject.estimator, "tol", None)
    names = [part.name for part in subject.parts]
    return section("How the proof grew", "proof", gap_figure(traces, names, int(np.argmax(gaps)), tol))
