"""Subgradient descent with every step kept: over all samples, or over a few of them (SGD); the bias is not penalised.

    J(w, b) = a‖w‖² + s Σ_j ℓ(y_j(⟨w, x_j⟩ + b))
    w ← w − η_t (2aw + (sn/k) Σ_{j in batch} ℓ'(z_j) y_j x_j),      b ← b − η_t (sn/k) Σ_{j in batch} ℓ'(z_j) y_j

a and s are those of the trade-off's own spelling, such as λ and 1/n; k is the size of the batch. For seeing what the methods do:
each step costs O(nd) for the value of J, and all iterates are stored. To train, use `PegasosSVC` and `Perceptron`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Halfspace, Loss, Regularization, loss_from_name
from maxmargin.errors import InvalidInputError
from maxmargin.theory.samples import rows_and_signs
from maxmargin.typing import Flags, Floats, Indices

StepRule = float | str | Callable[[int], float]
ORDERS = ("uniform", "permuted", "given")


class Step(NamedTuple):
    """One iterate.

    With it stand J, the step that left it and the norm of its direction (NaN at the last iterate), and the distance to the
    optimum (NaN if that is unknown).
    """

    t: int
    w: Floats
    b: float
    value: float
    step_size: float
    norm: float
    distance: float


@dataclass(frozen=True, eq=False)
class Descent:
    """All iterates of a run of T steps.

    Attributes
    ----------
    w, b : arrays (T + 1, d) and (T + 1,)
        The iterates, the start first.
    values : array (T + 1,)
        J at each.
    step_sizes, norms : arrays (T,)
        η_t, and the Euclidean norm of the direction that it multiplies.
    distances : array (T + 1,)
        ‖(w, b) − (w*, b*)‖; NaN without an optimum.
    best : float
        J(w*, b*); NaN without an optimum.

    Examples
    --------
    >>> from maxmargin import Regularization, theory
    >>> X, y = [[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [-1, -1, 1, 1]
    >>> run = theory.descend(X, y, Regularization.pegasos(0.1), n_steps=50)
    >>> step = next(run.steps())
    >>> step.value, step.step_size, bool(run.values[-1] < 0.2)
    (1.0, 10.0, True)
    """

    w: Floats
    b: Floats
    values: Floats
    step_sizes: Floats
    norms: Floats
    distances: Floats
    best: float

    def steps(self) -> Iterator[Step]:
        """The iterates one at a time."""
        sizes, norms = (np.append(array, np.nan) for array in (self.step_sizes, self.norms))
        for t, row in enumerate(zip(self.w, self.b, self.values, sizes, norms, self.distances, strict=True), start=1):
            w, *numbers = row
            yield Step(t, w, *map(float, numbers))

    @property
    def closer_not_lower(self) -> Flags:
        """Which of the T steps came closer to the optimum although J did not fall: what makes it no descent method."""
        return (np.diff(self.distances) < 0) & (np.diff(self.values) >= 0)

    @property
    def small_enough(self) -> Floats:
        """2(J_t − J*)/‖g_t‖² for each step: a shorter step over all samples comes closer to the optimum, if J is convex."""
        with np.errstate(divide="ignore"):
            return np.asarray(2.0 * (self.values[:-1] - self.best) / np.square(self.norms))

    def mean(self) -> Halfspace:
        """The average of the iterates that steps were made from: what section 15.5 puts out."""
        return Halfspace(self.w[:-1].mean(axis=0), float(self.b[:-1].mean()))

    def last(self) -> Halfspace:
        """The last iterate."""
        return Halfspace(self.w[-1], float(self.b[-1]))


def descend(
    X: Any,
    y: Any,
    C: float | Regularization | None = None,
    loss: str | Loss = "hinge",
    *,
    batch: int | None = None,
    step: StepRule = "1/(μt)",
    fit_intercept: bool = True,
    order: str = "uniform",
    at_corner: str = "flat",
    n_steps: int = 100,
    start: Any = None,
    optimum: Any = None,
    seed: int = 0,
) -> Descent:
    """Follow negative subgradients of a regularised loss, and keep every step. O(nd) a step.

    Parameters
    ----------
    X, y
        Samples, dense or sparse, and labels ±1.
    C : float, Regularization or None
        The trade-off, whose own spelling is J: `Regularization.tikhonov(λ)` is λ‖w‖² + mean loss. None is the mean loss alone.
    loss : str or Loss
        Any of `maxmargin.losses`.
    batch : int, optional
        Samples a step: 1 is SGD. By default all of them.
    step : float, str or function
        η; or a function of t = 1, 2, …; "1/(μt)" with μ = 2a, the strong convexity of J in w; "1/√t".
    fit_intercept : bool
        Whether there is a bias; it is not penalised.
    order : {"uniform", "permuted", "given"}
        How a batch is drawn: with replacement; from a permutation, new in each epoch; or as the samples come.
    at_corner : {"flat", "steep"}
        The subgradient of the hinge and the perceptron loss at the corner: 0, or −1 as to its left.
    n_steps : int
    start, optimum : (w, b) or Halfspace, optional
        Where to begin, by default at 0; and what to measure distances to.
    seed : int
        Of the order.

    Examples
    --------
    SGD with a step rule of one's own, as in note 26 of the Durham handout (with the gradient of λ‖w‖² that the note leaves out):

    >>> from maxmargin import Regularization, theory
    >>> X, y = [[-2.0], [-1.0], [1.0], [4.0]], [-1, -1, 1, 1]
    >>> run = theory.descend(X, y, Regularization.tikhonov(0.01), batch=1, step=lambda t: 1 / (10 + t), n_steps=500)
    >>> run.last().margin(X, y) > 0
    True
    """
    X, y = rows_and_signs(X, y)
    n, d = X.shape
    curvature, scale = _weights(C, n)
    loss, rule = loss_from_name(loss), _rule(step, 2.0 * curvature)
    if at_corner not in ("flat", "steep"):
        raise InvalidInputError(f'at_corner must be "flat" or "steep", got {at_corner!r}.')
    w, b = _pair(start, d) if start is not None else (np.zeros(d), 0.0)
    best = None if optimum is None else _pair(optimum, d)
    batches = _batches(n, batch, order, seed)
    ws, bs = [w], [b]
    made: list[tuple[float, float]] = []
    for t in range(1, n_steps + 1):
        chosen = next(batches)
        z = y[chosen] * (X[chosen] @ w + b)
        slope = loss.subgradient(np.nextafter(z, -np.inf) if at_corner == "steep" else z) * y[chosen]
        pull = scale * n / len(chosen)
        g, g_b = 2.0 * curvature * w + pull * (slope @ X[chosen]), pull * float(slope.sum()) if fit_intercept else 0.0
        eta = float(rule(t))
        w, b = w - eta * g, b - eta * g_b
        ws.append(w)
        bs.append(b)
        made.append((eta, math.hypot(float(np.linalg.norm(g)), g_b)))

    def objective(w: Floats, b: float) -> float:
        return curvature * float(w @ w) + scale * float(loss.value(y * (X @ w + b)).sum())

    values = np.array([objective(*pair) for pair in zip(ws, bs, strict=True)])
    distances, lowest = np.full(n_steps + 1, np.nan), math.nan
    if best is not None:
        distances = np.hypot(np.linalg.norm(np.array(ws) - best[0], axis=1), np.array(bs) - best[1])
        lowest = objective(*best)
    sizes, norms = np.reshape(made, (-1, 2)).T
    return Descent(np.array(ws), np.array(bs), values, sizes, norms, distances, lowest)


def _weights(C: float | Regularization | None, n: int) -> tuple[float, float]:
    """(a, s) of J = a‖w‖² + s Σℓ, in the spelling of C."""
    if C is None:
        return 0.0, 1.0 / n
    trade_off = Regularization.of(C)
    if trade_off.is_hard:
        raise InvalidInputError("The hard margin has constraints and no losses, so no subgradient. Use a finite C.")
    value = trade_off.value
    return {
        "sum": (0.5, value),
        "mean": (0.5, value / n),
        "tikhonov": (value, 1.0 / n),
        "pegasos": (0.5 * value, 1.0 / n),
        "ridge": (value, 1.0),
    }[trade_off.spelling]


def _rule(step: StepRule, mu: float) -> Callable[[int], float]:
    """η as a function of t."""
    if callable(step):
        return step
    if step == "1/(μt)":
        if mu == 0:
            raise InvalidInputError('step="1/(μt)" needs a regulariser, got C=None. Use a number, "1/√t" or a function of t.')
        return lambda t: 1.0 / (mu * t)
    if step == "1/√t":
        return lambda t: t**-0.5
    if isinstance(step, str) or not 0 < step < math.inf:
        raise InvalidInputError(f'step must be a number > 0, "1/(μt)", "1/√t" or a function of t, got {step!r}.')
    return lambda t: float(step)


def _batches(n: int, batch: int | None, order: str, seed: int) -> Iterator[Indices]:
    """The samples of each step, without end."""
    if order not in ORDERS:
        raise InvalidInputError(f"order must be one of {ORDERS}, got {order!r}.")
    size = n if batch is None else batch
    if isinstance(size, bool) or not 1 <= size <= n:
        raise InvalidInputError(f"A batch is a whole number between 1 and {n}, got {batch!r}.")
    rng = np.random.default_rng(seed)
    while True:
        if batch is None:
            yield np.arange(n)
        elif order == "uniform":
            yield rng.integers(0, n, size)
        else:
            epoch = np.arange(n) if order == "given" else rng.permutation(n)
            yield from np.split(epoch, range(size, n, size))


def _pair(point: Any, d: int) -> tuple[Floats, float]:
    """(w, b) of a pair or a halfspace."""
    w, b = (point.w, point.b) if isinstance(point, Halfspace) else point
    w = np.asarray(w, dtype=np.float64)
    if w.shape != (d,):
        raise InvalidInputError(f"w has shape {w.shape} where {(d,)} is wanted.")
    return w, float(b)
