"""How a result is shown: sentences and tables for people, plain values for JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from maxmargin.cli.options import machine_of

if TYPE_CHECKING:
    from maxmargin.analysis.bounds import Bound
    from maxmargin.core import Certificate
    from maxmargin.estimators import LeaveOneOut

MARKS = {
    "vacuous": "1 or more, and no error is larger than 1",
    "plug-in": "uses values measured on the sample; the theorem is about the distribution",
}
"""The marks of a bound, and what they mean."""

SHOWN = 12
"""Binary problems in a table: those with the largest gap."""


def table(columns: str, rows: Iterable[Sequence[Any]], headings: Sequence[str] = ()) -> Padding:
    """Rows as a table without lines. `columns` has a letter for each: l or r for the side, upper case for a dim column."""
    drawn = Table(box=None, header_style="bold", show_header=bool(headings), padding=(0, 2, 0, 0))
    for k, letter in enumerate(columns):
        drawn.add_column(
            headings[k] if headings else "",
            justify="left" if letter in "lL" else "right",
            style="dim" if letter.isupper() else "",
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return Padding(drawn, (0, 0, 0, 2))


Proof = tuple[str, "Certificate"]
"""The name of a binary problem, and its certificate."""


def proofs(model: Any, certificates: Any = None) -> list[Proof]:
    """The certificates of a model's binary problems, the largest gap first; by default what the fit proved.

    A perceptron has no certificate: the list is empty.
    """
    from maxmargin.estimators.per_sample import problem_names

    found = getattr(model, "certificate_", ()) if certificates is None else certificates
    several = found if isinstance(found, tuple) else (found,)
    named = zip(problem_names(model), several, strict=bool(several))
    return sorted(named, key=lambda proof: -proof[1].relative_gap)


def proof_parts(found: Sequence[Proof]) -> list[Any]:
    """The certificate with the largest gap in words, and a table of the numbers, one line for each problem."""
    from maxmargin.rounding import shown_above

    name, worst = found[0]
    which = f"Of {len(found)} problems, {name} has the largest gap. " if len(found) > 1 else ""
    rows: list[Sequence[Any]] = []
    for problem, one in found[:SHOWN]:
        numbers = (f"{one.primal:.7g}", f"{one.dual:.7g}", f"{one.kkt_violation:.1e}", f"{one.margin:.4g}")
        rows.append((problem, shown_above(one.relative_gap, 2), *numbers, one.groups.on + one.groups.inside))
    if len(found) > SHOWN:
        rows.append([f"… and {len(found) - SHOWN} with smaller gaps"])
    heads = ("problem", "relative gap", "primal", "dual", "KKT", "margin", "support")
    return [f"{which}{worst}", "", table("lrrrrrr", rows, heads)]


def plain_proofs(found: Sequence[Proof]) -> dict[str, Any]:
    """Whether all is certified, the numbers of the largest gap, and all certificates, for JSON."""
    worst = found[0][1] if found else None
    return {
        "certified": bool(found) and all(one.is_certified for _, one in found),
        **{name: getattr(worst, name, None) for name in ("relative_gap", "tol", "rounding", "data")},
        "proofs": [
            {"problem": name, "certified": one.is_certified, **asdict(one), "groups": one.groups._asdict()} for name, one in found
        ],
    }


def plain_parameters(model: Any) -> dict[str, Any]:
    """The machine, its parameters and what features are scaled by, for JSON."""
    machine = machine_of(model)
    scaler = None if machine is model else repr(model[0])
    return {"estimator": type(machine).__name__, "parameters": machine.get_params(deep=False), "scaler": scaler}


def plain_model(model: Any) -> dict[str, Any]:
    """A fitted model as values, for JSON."""
    asked, model = plain_parameters(model), machine_of(model)
    found = proofs(model)
    facts = {
        **asked,
        "classes": model.classes_,
        "support_vectors": len(model.support_) if hasattr(model, "support_") else None,
        **{name: getattr(model, f"{name}_", None) for name in ("solver", "status")},
        **plain_proofs(found),
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


def loo_tables(result: "LeaveOneOut") -> list[Any]:
    """Two tables: the numbers, and how many labels each theorem settled; and which machines were meant."""
    lower, upper = result.error_range
    row = {
        "samples": result.n,
        "error": f"{lower:.2%} … {upper:.2%}" if lower < upper else f"{result.error:.2%}",
        "retrained": f"{result.n_retrained / max(result.n, 1):.2%}",
        "seconds": f"{result.seconds:.3g}",
    }
    if not isinstance(result.xi_alpha, tuple):
        row |= {f"ξα {name}": f"≈ {getattr(result.xi_alpha, name):.2%}" for name in ("error", "recall", "precision")}
    numbers = table("r" * len(row), [list(row.values())], list(row))
    settled = table("rL", [(count, how) for how, count in result.counts().items()])
    return [numbers, "", settled, "", f"{result.meaning} Time: {result.time}."]


def plain_loo(result: "LeaveOneOut") -> dict[str, Any]:
    """A leave-one-out result as values, for JSON."""
    estimates = result.xi_alpha if isinstance(result.xi_alpha, tuple) else (result.xi_alpha,)
    return {
        "samples": result.n,
        "retrained": result.n_retrained,
        "error_range": result.error_range._asdict(),
        **{name: getattr(result, name) for name in ("error", "seconds", "fit_seconds", "compile_seconds", "resolve")},
        "settled_by": {how.name: count for how, count in result.counts().items()},
        "xi_alpha": [{"error": one.error, "recall": one.recall, "precision": one.precision} for one in estimates],
    }


def bounds_table(bounds: "Mapping[str, Bound]") -> list[Any]:
    """One line for each bound: value, marks and formula; below, what the marks mean."""
    rows = []
    for name, bound in bounds.items():
        value = f"{bound.value:,}" if isinstance(bound.value, int) else f"{float(bound):.3g}"
        marks = [mark for mark, is_so in (("vacuous", bound.vacuous), ("plug-in", bound.plug_in)) if is_so]
        style = "dim" if bound.vacuous else ""
        rows.append((Text(name.replace("_", " "), style), Text(value, style), ", ".join(marks), bound.formula))
    explained = [f"{mark}: {meaning}" for mark, meaning in MARKS.items() if any(mark in row[2] for row in rows)]
    shown = table("lrlL", rows, ("bound", "value", "", "formula"))
    return [shown, *(["", Padding("; ".join(explained), (0, 0, 0, 2))] if explained else [])]
