"""Pegasos and SGD: stochastic subgradient descent on the soft margin.

    min_w  (λ/2)‖w‖² + mean_j weight_j max(0, 1 − y_j F_j)      (our objective over Σ_j c_j;  weight_j / λ = c_j · n)

SGD as in section 15.5 of Shalev-Shwartz & Ben-David (2014): uniform draws, w_t = θ_t/(λt), the mean of the iterates. Pegasos
(Shalev-Shwartz, Singer, Srebro & Cotter, 2011): steps 1/(λt) through a fresh permutation each epoch, the last iterate; perhaps in
batches, perhaps projected to ‖w‖ ≤ 1/√λ, where the optimum lies.

The **dual point** is the share of its visits at which a sample violated its margin, β_j = y_j c_j · violations_j / visits_j:
always in the box, and w(β) of all visits is Pegasos's last iterate. Shares are taken over the tail of the visits, so that they
forget the first, wild steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Hinge, Problem
from maxmargin.errors import InvalidInputError
from maxmargin.solvers.base import Clock, Progress, Solver, deferred_interrupt
from maxmargin.solvers.stochastic.iterates import AVERAGES, LOSS, SCALE, Counts, Iterates, Rule, step_through
from maxmargin.solvers.stochastic.sample_order import KINDS, Visits
from maxmargin.solvers.stochastic.samples import CALL_VALUES, Samples, split_bias
from maxmargin.typing import Floats, Indices

METHODS = {"pegasos": -1, "sgd": 0}
"""The offset of τ from t: w_t = θ_t / (λτ)."""

CLAIM_GROWTH = 1.5
"""Factor of the epochs from one certificate to the next: judging costs no more than learning then."""


@dataclass(frozen=True)
class Stepper(Solver):
    """A subgradient method for the hinge."""

    losses, margin = (Hinge,), "soft"

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if problem.bias.is_free:
            return f"{self.name} takes the bias as the weight of a constant feature, or none; got a free one. Use DualCD()."
        return super().accepts(problem)


@dataclass
class _State:
    problem: Problem
    visits: Visits
    iterates: Iterates
    counts: Counts
    signed: Floats
    samples: Samples
    mean_weight: float
    epochs: int = 0
    next_claim: int = 1


@dataclass(frozen=True)
class Pegasos(Stepper):
    """Stochastic subgradient descent: a few cheap passes to a model that is good enough.

    *Use it when* a relative gap of about 1e-2 will do and a pass over the data is what you can pay; or to see how it learns.
    *Needs* the hinge, L2, finite costs, no bias or a penalised one. *Costs* O(non-zeros) an epoch; the suboptimality falls like
    1/(λ · steps). Kernels: n values a violation. *Equivalent to* DualCD, far from its accuracy.

    Parameters
    ----------
    method : {"pegasos", "sgd"}
        w_t = θ_t / (λ(t − 1)), or θ_t / (λt) as UML's box has it.
    average : {False, True, "tail"}
        The last iterate; the mean of all; the mean of the tail, the last eighth at least and a third at most (see
        `Iterates`).
    batch : int
        Visits a step.
    project : bool
        Keep ‖w‖ ≤ 1/√λ (Pegasos's optional step).
    order : {"permuted", "uniform", "given"}
        See `Visits`.
    seed : int
        Of the order.

    Examples
    --------
    >>> from maxmargin.core import Bias
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 1.0), bias=Bias.penalized()), Pegasos(), tol=1e-2)
    >>> solution.certificate.relative_gap <= 1e-2
    True
    """

    method: str = "pegasos"
    average: Any = "tail"
    batch: int = 1
    project: bool = False
    order: str = "permuted"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidInputError(f"method must be one of {tuple(METHODS)}, got {self.method!r}.")
        if not any(self.average is known or self.average == known == "tail" for known in AVERAGES):
            raise InvalidInputError(f"average must be one of {AVERAGES}, got {self.average!r}.")
        if self.order not in KINDS:
            raise InvalidInputError(f"order must be one of {KINDS}, got {self.order!r}.")
        if isinstance(self.batch, bool) or not isinstance(self.batch, int | np.integer) or self.batch < 1:
            raise InvalidInputError(f"A batch is a whole number of visits ≥ 1, got {self.batch!r}.")
        if self.project and self.method != "pegasos":
            raise InvalidInputError(f"Projecting is a step of Pegasos, not of {self.method!r}.")

    @property
    def accuracy(self) -> float:
        """10 % on any problem, 1 % on most: each further digit takes ten times as many steps."""
        return 1e-1

    def rule(self, lam: float, radius: float | None = None) -> Rule:
        """The algorithm for λ; the radius of the ball is 1/√λ unless it is given."""
        ball = (lam**-0.5 if radius is None else radius) if self.project else np.inf
        return Rule(lam, METHODS[self.method], int(self.batch), ball, self.average)

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """w = 0 at step 1; a warm start counts as one epoch that led there."""
        on = problem.present
        top = float(problem.cost[on].max())
        rule = self.rule(1.0 / (len(on) * top), float(problem.cost.sum()) ** 0.5)
        samples = Samples.of(problem, max_bytes)
        iterates = Iterates.start(rule, samples.size)
        if warm is not None:
            w = warm.w
            if problem.is_linear:
                w = np.append(w, warm.b / problem.bias.scale if problem.bias.scale else 0.0)
            iterates = Iterates.resume(rule, w, -(-len(on) // rule.batch))
            samples.follow(np.zeros(samples.size), iterates.v)
        return _State(
            problem,
            Visits.of(on, self.order, self.seed, samples.n_values if problem.is_linear else 0),
            iterates,
            Counts.none(problem.n),
            problem.y * problem.cost / top,
            samples,
            float(problem.cost[problem.counted].mean()) / top,
        )

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """Epochs up to the next certificate, as many as take a moment; at least one, unless the time ends."""
        if state.epochs >= state.next_claim:
            state.next_claim = max(state.epochs + 1, int(CLAIM_GROWTH * state.epochs))
        wanted = min(
            max(1, CALL_VALUES // max(state.samples.n_values, 1)),
            state.next_claim - state.epochs if tol > 0 else np.inf,
        )
        epochs = int(min(wanted, clock.rounds_left))
        if tol == 0 and state.epochs == 0 and np.isfinite(clock.rounds_left):
            state.iterates.expect(int(clock.rounds_left) * -(-len(state.visits.samples) // state.iterates.rule.batch))
        state.iterates.numbers[LOSS] = 0.0
        with deferred_interrupt() as was_interrupted:
            for visits in _calls(state, epochs):
                self._visit(state, visits)
                if was_interrupted() or clock.seconds_left <= 0:
                    break
            state.epochs += epochs
        met = float(state.iterates.numbers[LOSS]) / (epochs * len(state.visits.samples))
        if tol > 0 and state.epochs >= state.next_claim:
            return Progress(tol, epochs)
        return Progress.without_claim(_estimate(state, met), tol, epochs)

    @staticmethod
    def _visit(state: _State, visits: Indices) -> None:
        scale = state.problem.bias.scale
        step_through(state.iterates, state.counts, state.samples, state.signed, scale, visits)

    def finish(self, state: _State, tol: float) -> Candidate:
        """The last iterate or the mean, vouched for by the shares of violations."""
        w, b = split_bias(state.iterates.output(), state.problem)
        beta = state.problem.y * state.problem.cost * state.counts.shares()
        return Candidate(w, b, shorten(state.problem, beta, _square(state)))


def shorten(problem: Problem, beta: Floats, square: float) -> Floats:
    """β times the a ∈ [0, 1] that makes D(aβ) = aΣα − ½a²‖w(β)‖² largest: no dual value is negative then.

    `square` is about ‖w(β)‖²: where it says that a = 1, nothing is computed.
    """
    total = float(np.abs(beta).sum())
    if square <= 0.8 * total:
        return beta
    image = problem.image(beta)
    exact = float(image @ image) if problem.is_linear else problem.norm2(beta, image)
    if not problem.is_linear:
        exact += (problem.bias.scale * float(beta.sum())) ** 2
    return beta * min(1.0, total / exact) if exact > 0 else beta


def _estimate(state: _State, met: float) -> float:
    """The relative gap by the losses that were met on the way, and by ‖w‖² in the place of ‖w(β)‖²: for those who watch."""
    total, square = float(state.problem.cost.sum()), _square(state)
    primal = 0.5 * square + met * total / state.mean_weight
    alpha = float(state.problem.cost @ state.counts.shares())
    dual = alpha - 0.5 * square if square <= alpha else 0.5 * alpha**2 / square
    return max(primal - dual, 0.0) / max(primal, np.finfo(float).tiny)


def _square(state: _State) -> float:
    """‖w‖² of the last iterate."""
    w = state.iterates.last()
    if state.problem.is_linear:
        return float(w @ w)
    tau = max(state.iterates.t + 1 + state.iterates.rule.offset, 1)
    return float(w @ state.samples.scores) * float(state.iterates.numbers[SCALE]) / (state.iterates.rule.lam * tau)


def _calls(state: _State, epochs: int) -> Iterator[Indices]:
    """The visits of some epochs, cut into what one compiled call should do; no batch reaches into the next epoch."""
    batch = state.iterates.rule.batch
    together = epochs if len(state.visits.samples) % batch == 0 else 1
    for _ in range(0, epochs, together):
        yield from state.samples.cut(np.concatenate([state.visits.epoch() for _ in range(together)]), batch)
