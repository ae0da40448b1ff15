"""What is said about a fitted model: a sentence, a table, plain values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from maxmargin.core import Certificate

SHOWN = 12
"""Binary problems in a table: those with the largest gap."""


class Proof(NamedTuple):
    """The certificate of one binary problem, and which it is."""

    name: str
    certificate: "Certificate"


def proofs(model: Any, certificates: Any) -> list[Proof]:
    """One or several certificates of a model, by the names of its binary problems, the largest gap first."""
    from maxmargin.estimators.per_sample import problem_names

    several = certificates if isinstance(certificates, tuple) else (certificates,)
    named = [Proof(name, one) for name, one in zip(problem_names(model), several, strict=True)]
    return sorted(named, key=lambda proof: -proof.certificate.relative_gap)


def stored_proofs(model: Any) -> list[Proof]:
    """What the fit proved; a perceptron has nothing to prove."""
    return proofs(model, model.certificate_) if hasattr(model, "certificate_") else []


def sentence(found: Sequence[Proof]) -> str:
    """The certificate in words; of several the one with the largest gap."""
    worst = found[0]
    if len(found) == 1:
        return str(worst.certificate)
    return f"Of {len(found)} problems, {worst.name} has the largest gap. {worst.certificate}"


def proof_table(found: Sequence[Proof]) -> Padding:
    """The numbers of one certificate as two columns; of several a line each."""
    if len(found) == 1:
        return Padding(certificate_table(found[0].certificate), (1, 0, 0, 2))
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("problem", overflow="fold")
    for heading in ("relative gap", "objective", "margin", "on the margin", "inside"):
        table.add_column(heading, justify="right")
    for name, one in found[:SHOWN]:
        table.add_row(
            Text(name),
            f"{one.relative_gap:.1e}",
            f"{one.primal:.7g}",
            f"{one.margin:.4g}",
            str(one.groups.on),
            str(one.groups.inside),
        )
    if len(found) > SHOWN:
        table.add_row(f"… and {len(found) - SHOWN} with smaller gaps")
    return Padding(table, (1, 0, 0, 2))


def certificate_table(certificate: "Certificate") -> Table:
    """The numbers of a certificate as two columns."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    rows: dict[str, str] = {
        "primal": f"{certificate.primal:.10g}",
        "dual": f"{certificate.dual:.10g}",
        "relative gap": f"{certificate.relative_gap:.1e}",
        "KKT violation": f"{certificate.kkt_violation:.1e}",
        "margin": f"{certificate.margin:.6g}",
        "support vectors": str(certificate.groups.on + certificate.groups.inside),
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def plain_proofs(found: Sequence[Proof]) -> list[dict[str, Any]]:
    """Certificates as values, for JSON."""
    from dataclasses import asdict

    return [
        {"problem": name, "certified": one.is_certified, **asdict(one), "groups": one.groups._asdict()}
        for name, one in found
    ]


def plain_verdict(found: Sequence[Proof]) -> dict[str, Any]:
    """Whether all is certified, and the numbers of the largest gap, for JSON."""
    worst = found[0].certificate if found else None
    names = ("relative_gap", "tol", "rounding", "data")
    return {
        "certified": bool(found) and all(one.is_certified for _, one in found),
        **{name: getattr(worst, name, None) for name in names},
    }


def about_model(model: Any) -> dict[str, Any]:
    """A fitted model as values, for JSON."""
    found = stored_proofs(model)
    facts = {
        "estimator": type(model).__name__,
        "parameters": model.get_params(deep=False),
        "classes": model.classes_,
        "support_vectors": len(model.support_) if hasattr(model, "support_") else None,
        "solver": getattr(model, "solver_", None),
        "status": getattr(model, "status_", None),
        "proofs": plain_proofs(found),
        **plain_verdict(found),
    }
    return facts if found else {**facts, "updates": getattr(model, "n_updates_", None), "epochs": model.n_iter_}


def perceptron_sentence(model: Any) -> str:
    """How a perceptron ended: it has no objective, but where it ended by itself it has a witness."""
    witnesses = model.witness_ if isinstance(model.witness_, tuple) else (model.witness_,)
    n_found = sum(one is not None for one in witnesses)
    if len(witnesses) > 1:
        end = f"{n_found} of {len(witnesses)} classes are separated from the rest."
    else:
        end = str(witnesses[0]) if n_found else "It is not proved to separate its samples."
    return f"{model.n_updates_} updates in {model.n_iter_} epochs. {end}"
