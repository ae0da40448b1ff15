"""What the page shows of a state: boundary, samples, proof, bounds, program; beside it another machine to compare with.

Answers are plain values for JSON. Numbers are the library's own; those that are not finite become None.
"""

import math
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin import bounds
from maxmargin.core.certificate.parts import ABSENT, INSIDE, ON, OUTSIDE
from maxmargin.errors import InvalidInputError, MaxMarginError, NotSeparableError
from maxmargin.estimators.per_sample import Anatomy, strongest
from maxmargin.lab.machines import Fitted, code, counted, fitted, spellings, with_costs_of
from maxmargin.lab.outlines import grid, outlines, response
from maxmargin.lab.state import NAMES, Comparison, State
from maxmargin.rounding import shown_above
from maxmargin.typing import Floats

GROUPS = {OUTSIDE: "outside", ON: "on", INSIDE: "inside", ABSENT: "outlier"}
"""Names of the groups of complementary slackness; without a cost is what the ramp leaves out."""

FAR = 1.25
"""The margin yF at which a point is put where it shall be no support vector: some way outside, so that it can be moved."""


def answer(state: State, comparison: Comparison | None = None) -> dict[str, Any]:
    """Everything about the machine of a state; what cannot be trained says why."""
    begin = perf_counter()
    first, second = compared(state, comparison)
    found: dict[str, Any] = {"code": code(first)} | ({"spellings": spellings(state)} if state.points else {})
    try:
        found |= _shown(first)
        if second is not None and comparison is not None:
            found["ghost"] = _ghost(first, second, comparison)
    except NotSeparableError as error:
        found |= {"error": str(error), "witness": _witness(first, error)}
    except MaxMarginError as error:
        found["error"] = str(error)
    return found | {"seconds": perf_counter() - begin}


def compared(state: State, comparison: Comparison | None) -> tuple[State, State | None]:
    """The state to show, and the one for the ghost."""
    if comparison is None:
        return state, None
    if comparison.place is None:
        return with_costs_of(state.without(comparison.point), state), state
    return state, state.moved(comparison.point, comparison.place)


def _shown(state: State) -> dict[str, Any]:
    one = fitted(state)
    values = response(one.subject)
    return {
        "classes": one.subject.classes,
        "outlines": outlines(one.subject, values),
        "samples": samples(one),
        "hyperplane": _hyperplane(one),
        "sentence": sentence(one),
        "remarks": list(one.warnings),
        "problems": [_problem(part) for part in one.subject.parts],
        "bounds": _bounds(one),
        "solver": str(getattr(one.model, "solver_", "")),
        "training_errors": int(one.subject.is_wrong.sum()),
        "fit_seconds": one.seconds,
    }


def samples(one: Fitted) -> list[dict[str, Any]]:
    """Of each point the largest α and innermost group of all problems, the predicted label, and each problem's α, ξ and yF."""
    subject = one.subject
    alpha, groups = strongest(subject.parts, subject.n)
    parts = [{int(row): j for j, row in enumerate(part.rows)} for part in subject.parts]
    found = []
    for i in range(subject.n):
        own = [(part, places[i]) for part, places in zip(subject.parts, parts, strict=True) if i in places]
        found.append(
            {
                "alpha": None if alpha is None else float(alpha[i]),
                "group": None if groups is None else GROUPS[int(groups[i])],
                "predicted": subject.classes[int(subject.predicted[i])],
                "is_wrong": bool(subject.is_wrong[i]),
                "problems": [
                    {
                        "name": part.name,
                        "alpha": None if part.alpha is None else float(part.alpha[j]),
                        "xi": float(part.slacks[j]),
                        "margin": float(part.margins[j]),
                    }
                    for part, j in own
                ],
            }
        )
    return found


def sentence(one: Fitted) -> str:
    """The proof in words: the certificate with the largest gap, or how the perceptron ended."""
    subject, model = one.subject, one.model
    if not subject.has_certificate:
        witnesses = model.witness_ if isinstance(model.witness_, tuple) else (model.witness_,)
        found = [str(witness) for witness in witnesses if witness is not None]
        end = " ".join(found) if len(found) == len(witnesses) else "Its last epoch still made mistakes."
        return f"{counted(model.n_updates_, 'update')} in {counted(model.n_iter_, 'epoch')}. {end}"
    worst = subject.worst_first[0]
    which = "" if subject.is_binary else f"Of {len(subject.parts)} problems, {worst.name} has the largest gap. "
    return f"{which}{worst.certificate}"


def _problem(part: Anatomy) -> dict[str, Any]:
    proof = part.certificate
    found: dict[str, Any] = {"name": part.name, "norm": _finite(part.norm)}
    if proof is not None:
        found |= {name: _finite(getattr(proof, name)) for name in ("primal", "dual", "relative_gap", "kkt_violation", "margin")}
        found["gap"] = shown_above(proof.relative_gap, 2)
        found["support"] = proof.groups.on + proof.groups.inside
    return found


def _bounds(one: Fitted) -> list[dict[str, Any]]:
    """The theorems that apply, for two classes."""
    if not one.subject.is_binary:
        return []
    found = bounds.of_model(one.model, one.state.places, one.state.labels)
    return [
        {
            "name": name.replace("_", " "),
            "value": _finite(float(bound)),
            "formula": bound.formula,
            "is_vacuous": bound.vacuous,
            "words": str(bound),
        }
        for name, bound in found.items()
    ]


def _hyperplane(one: Fitted) -> dict[str, Any] | None:
    """w and b of the plane, for two classes."""
    if not (one.state.is_linear and one.subject.is_binary):
        return None
    return {"w": np.ravel(one.model.coef_).tolist(), "b": float(np.ravel(one.model.intercept_)[0])}


def _ghost(first: State, second: State, comparison: Comparison) -> dict[str, Any]:
    """The other boundary, and how far the values of F are apart."""
    one, other = fitted(first), fitted(second)
    values, others = response(one.subject), response(other.subject)
    found: dict[str, Any] = {"outlines": {"zero": outlines(other.subject, others)["zero"]}}
    is_binary = one.subject.is_binary and other.subject.is_binary
    found["difference"] = _finite(float(np.abs(values - others).max())) if is_binary else None
    found["alpha"] = samples(other)[comparison.point]["alpha"]
    if comparison.place is None:
        i = comparison.point
        label = str(one.model.predict(second.places[i : i + 1])[0])
        found |= {"predicted": label, "is_wrong": label != NAMES[second.points[i].label]}
        if is_binary:
            found["value"] = float(one.model.decision_function(second.places[i : i + 1])[0])
    return found


def _witness(state: State, error: NotSeparableError) -> dict[str, Any]:
    """The weights that prove that no hyperplane separates, and the point where the weighted means meet."""
    witness = error.witness
    rows = witness.problem.row(np.arange(witness.problem.n))
    weights = np.zeros(len(state.points))
    weights[rows] = witness.weights
    found: dict[str, Any] = {"weights": weights.tolist(), "check": str(witness.check()), "meeting": None}
    if state.is_linear and state.intercept:
        own = rows[witness.problem.y > 0]
        found["meeting"] = (weights[own] @ state.places[own]).tolist()
    return found


def place_outside(state: State, i: int) -> list[float]:
    """The nearest place of the grid where point i is no support vector: outside the margin of the machine without it.

    That machine is then the optimum with it too: α_i = 0 satisfies complementary slackness.
    """
    rest = with_costs_of(state.without(i), state)
    one = fitted(rest)
    if not one.subject.is_binary or not one.subject.has_certificate:
        raise InvalidInputError("Only a machine of two classes with a margin has a place outside it.")
    sign = 1.0 if NAMES[state.points[i].label] == one.subject.classes[1] else -1.0
    places = grid()[2]
    is_outside = sign * response(one.subject).ravel() >= FAR
    if not is_outside.any():
        raise InvalidInputError("No place of the picture is so far outside the margin. Choose another point.")
    far = np.where(is_outside, np.linalg.norm(places - state.places[i], axis=1), math.inf)
    nearest: Floats = places[int(np.argmin(far))]
    return [float(np.round(value, 3)) for value in nearest]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
