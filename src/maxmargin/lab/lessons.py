"""What takes longer than a fit: leave-one-out, how primal and dual close in, and the steps of the perceptron and of Pegasos."""

from collections.abc import Callable
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.analysis.stopped_early import stopped_early
from maxmargin.errors import InvalidInputError
from maxmargin.estimators import leave_one_out
from maxmargin.estimators.per_sample import Anatomy
from maxmargin.lab.machines import TOL, counted, fitted, machine
from maxmargin.lab.outlines import grid, level
from maxmargin.lab.state import State
from maxmargin.rounding import shown_above

PATIENCE = 4.0
"""Seconds of leave-one-out, at most."""

MOST_STEPS, COARSE = 200, 61
"""Steps of a lesson; points along each axis of the grid on which their boundaries are found."""

IsOver = Callable[[], bool]
"""Whether nobody waits for the answer any more."""


def left_out(state: State, is_over: IsOver = lambda: False) -> dict[str, Any]:
    """The label of each point by the machine that never saw it, and what settled it; machines with an exact optimum only."""
    one, end = fitted(state), perf_counter() + PATIENCE
    result = leave_one_out(
        one.model, state.places, state.labels, resolve="once", observe=lambda _: is_over() or perf_counter() > end
    )
    verdicts = [
        {"predicted": str(label), "is_wrong": bool(label != own), "is_certain": bool(sure), "how": how.name, "words": str(how)}
        for label, own, sure, how in zip(result.predictions, state.labels, result.is_certain, result.settled_by, strict=True)
    ]
    return {
        "verdicts": verdicts,
        "error": result.error,
        "range": list(result.error_range),
        "retrained": result.n_retrained,
        "counts": [[count, str(how)] for how, count in result.counts().items()],
        "xi_alpha": None if isinstance(result.xi_alpha, tuple) else result.xi_alpha.error,
    }


def closing(state: State, is_over: IsOver = lambda: False) -> dict[str, Any]:
    """Certified primal and dual values along a fit of the problem with the largest gap."""
    one = fitted(state)
    worst = one.subject.worst_first[0]
    if worst.problem is None:
        raise InvalidInputError("A perceptron minimises nothing: there are no two values that close in.")
    if state.estimator == "pegasos":
        trace = one.model.trace_ if one.subject.is_binary else one.model.trace_[one.subject.parts.index(worst)]
    else:
        trace = stopped_early(worst.problem, TOL, PATIENCE, is_over)
    points = [[at.iteration, at.primal, at.dual] for at in trace if np.isfinite([at.primal, at.dual]).all()]
    return {"name": worst.name, "points": points, "words": _of_closing(worst, state)}


def _of_closing(part: Anatomy, state: State) -> str:
    """What the two curves are, and whether the optimum lies between them."""
    whose = f"the last convex step of {part.name}" if state.estimator == "ramp" else part.name
    assert part.certificate is not None
    if not part.certificate.convex:
        return f"Primal and dual value of {whose} after some rounds: with an indefinite kernel they bound nothing."
    return f"Primal (above) and dual value of {whose}, certified after some rounds of a solver: the optimum lies between them."


def steps(state: State) -> dict[str, Any]:
    """The first steps of the perceptron or of Pegasos: the sample, whether w changed, w and b, and the boundary after each."""
    if state.estimator not in ("perceptron", "pegasos"):
        raise InvalidInputError("Only the perceptron and Pegasos go from sample to sample. Choose one of them.")
    if len({point.label for point in state.points}) != 2:
        raise InvalidInputError("Steps are shown for two classes.")
    X, y = state.places, state.labels
    kernel = fitted(state).model.kernel_
    rows = grid(COARSE)[2]
    values = rows if state.is_linear else kernel.block(rows, X, dtype=np.float64)
    found = []
    for step in islice(machine(state).steps(X, y), MOST_STEPS):
        F = (values @ step.w + step.b).reshape(COARSE, COARSE)
        one: dict[str, Any] = {"w": step.w.tolist() if state.is_linear else None, "b": float(step.b), "zero": level(F, 0.0)}
        one |= _of_perceptron(step) if state.estimator == "perceptron" else _of_pegasos(step)
        found.append(one)
    return {"steps": found}


def _of_perceptron(step: Any) -> dict[str, Any]:
    what = "A mistake: w ← w + y φ(x)." if step.is_mistake else "It is on its right side: w stays."
    proved = ""
    if step.n_updates:
        most = shown_above(step.margin_bound, 3)
        proved = f" After {counted(step.n_updates, 'update')} it is proved that no unit vector (w, b) has a margin above {most}."
    words = f"Visit {step.visit}: sample {step.sample} has yF = {step.score:.3g}. {what}{proved}"
    return {"t": step.visit, "sample": step.sample, "changes": bool(step.is_mistake), "words": words}


def _of_pegasos(step: Any) -> dict[str, Any]:
    sample, score, changes = int(step.samples[0]), float(step.scores[0]), bool(step.is_violation[0])
    what = "Inside the margin: w shrinks and grows by y φ(x)/(λt)." if changes else "Outside the margin: w only shrinks."
    values = f"In the λ/2 form the primal value is {step.primal:.4g}, the dual {step.dual:.4g}."
    words = f"Step {step.t}: sample {sample} has yF = {score:.3g}. {what} {values}"
    return {"t": step.t, "sample": sample, "changes": changes, "primal": step.primal, "dual": step.dual, "words": words}
