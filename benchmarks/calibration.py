"""The loosest tolerance of a contender that reaches a certified relative gap."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.capture import call_and_read
from benchmarks.contenders import Answer, Contender
from benchmarks.timing import timed

STEP = 4.0
LOOSEST = 1.0
FIRST_EPOCHS = 300
SMALLEST = 1e-13


@dataclass(frozen=True)
class Trial:
    """One run: at which tolerance and limit of epochs, how long it took, the gap it has, whether the limit ended it."""

    tol: float
    epochs: int
    seconds: float
    gap: float
    is_capped: bool


def calibrate(
    attempt: Callable[[float, int], Trial],
    gap: float,
    seconds: float,
    most_epochs: int,
    first_epochs: int = FIRST_EPOCHS,
    first_tol: float = LOOSEST,
) -> Trial:
    """The loosest run, to a factor of 2 in its tolerance, that reaches the gap; else the last that was tried.

    Tolerances are tightened from the first in steps of 4; the first that reaches the gap is then loosened, by 2, as long as it
    still does. A run that its epochs ended is given twice as many. Given up: a run that takes too long, or one with the most
    epochs there are.
    """
    tol, epochs = first_tol, min(first_epochs, most_epochs)
    while True:
        trial = attempt(tol, epochs)
        if trial.gap <= gap:
            break
        if trial.seconds > seconds or tol < SMALLEST or (trial.is_capped and epochs >= most_epochs):
            return trial
        if trial.is_capped:
            epochs = min(2 * epochs, most_epochs)
        else:
            tol /= STEP
    while tol < LOOSEST:
        tol *= 2
        looser = attempt(tol, epochs)
        if looser.gap > gap:
            break
        trial = looser
    return trial


def hinge_gap(X: Any, y: Any, answer: Answer, C: float) -> float:
    """The relative gap of a contender's weights and dual value."""
    return relative_gap(hinge_objective(X, y, answer.w, C), answer.dual)


def run_once(
    contender: Contender,
    X: Any,
    y: Any,
    C: float,
    tol: float,
    epochs: int,
    gap_of: Callable[[Any, Any, Answer, float], float] = hinge_gap,
) -> Trial:
    """Train loudly and certify: P from the weights, D from the contender's own dual variables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (model, seconds), printed = call_and_read(lambda: timed(lambda: contender.train(X, y, C, tol, epochs, loud=True)))
    answer = contender.read(model, printed, y, C)
    return Trial(tol, epochs, seconds, gap_of(X, y, answer, C), answer.epochs >= min(epochs, contender.most_epochs))


def hinge_objective(X: Any, y: Any, w: Any, C: float) -> float:
    """½‖w‖² + C Σ max(0, 1 − y⟨w, x⟩)."""
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w)).sum())


def relative_gap(primal: float, dual: float) -> float:
    """(P − D) / max(|P|, |D|)."""
    return (primal - dual) / max(abs(primal), abs(dual))
