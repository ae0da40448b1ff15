"""Subgradient descent on the soft margin: over all samples (`Subgradient`), or over a few of them a step (Pegasos and SGD).

    min_w  (λ/2)‖w‖² + mean_j weight_j max(0, 1 − y_j F_j)      (our objective over Σ_j c_j;  weight_j / λ = c_j · n)

SGD as in section 15.5 of Shalev-Shwartz & Ben-David (2014): uniform draws, w_t = θ_t/(λt), the mean of the iterates. Pegasos
(Shalev-Shwartz, Singer, Srebro & Cotter, 2011): steps 1/(λt) through a fresh permutation each epoch, the last iterate; perhaps in
batches, perhaps projected to ‖w‖ ≤ 1/√λ, where the optimum lies.

The **dual point** is the share of its visits at which a sample violated its margin, β_j = y_j c_j · violations_j / visits_j:
always in the box, and w(β) of all visits is Pegasos's last iterate. Shares are taken over the tail of the visits, so that they
forget the first, wild steps.

Over all samples, with decreasing steps,

    w ← (1 − η_t λ) w + η_t · mean of weight_j y_j φ_j over the samples with y_j F_j < 1

with η_t = 1/(λt) or η_t ∝ 1/√t. The dual point moves as w does, α ← (1 − η_t λ) α + η_t λ · (c_j where y_j F_j < 1), so that
w = w(β) throughout and α never leaves its box: with η_t = 1/(λt) this is Frank & Wolfe's method on the dual (Bach, 2015).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Hinge, Problem, to_candidate
from maxmargin.errors import InvalidInputError
from maxmargin.solvers.base import Clock, Progress, Solver, deferred_interrupt
from maxmargin.solvers.stochastic.iterates import AVERAGES, LOSS, Counts, Iterates, Rule, step_through
from maxmargin.solvers.stochastic.samples import CALL_VALUES, ORDERS, Samples, epochs_of, largest_square, split_bias
from maxmargin.typing import Floats, Indices

METHODS = {"pegasos": -1, "sgd": 0}
"""The offset of τ from t: w_t = θ_t / (λτ)."""

CLAIM_GROWTH = 1.5
"""Factor of the epochs from one certificate to the next: judging costs no more than learning then."""


@dataclass(frozen=True)
class Stepper(Solver):
    """A subgradient method for the hinge."""

    losses, margin = (Hinge,), "soft"

    accuracy = 0.1
    """10 % on any problem, 1 % on most: each further digit takes ten times as many steps."""

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if problem.bias.is_free:
            return f"{self.name} takes the bias as the weight of a constant feature, or none; got a free one. Use DualCD()."
        return super().accepts(problem)


@dataclass
class _Descent:
    """Where Pegasos stands."""

    problem: Problem
    samples: Samples
    visits: Iterator[Indices]
    iterates: Iterates
    counts: Counts
    signed: Floats
    n_visits: int
    epochs: int = 0
    next_claim: int = 1

    def calls(self, epochs: int) -> Iterator[Indices]:
        """The visits of some epochs, cut into what one compiled call should do; no batch reaches into the next epoch."""
        batch = self.iterates.rule.batch
        together = epochs if self.n_visits % batch == 0 else 1
        for _ in range(0, epochs, together):
            yield from self.samples.cut(np.concatenate([next(self.visits) for _ in range(together)]), batch)

    def square(self) -> float:
        """‖w‖² of the last iterate."""
        w = self.iterates.last()
        return float(w @ w) if self.problem.is_linear else float(w @ self.samples.scores) * self.iterates.factor


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
        See `samples.epochs_of`.
    seed : int
        Of the order.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import Pegasos
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
        for name, known in {"method": tuple(METHODS), "average": AVERAGES, "order": ORDERS}.items():
            value = getattr(self, name)
            if not isinstance(value, str | bool) or value not in known:
                raise InvalidInputError(f"{name} must be one of {known}, got {value!r}.")
        if isinstance(self.batch, bool) or not isinstance(self.batch, int | np.integer) or self.batch < 1:
            raise InvalidInputError(f"A batch is a whole number of visits ≥ 1, got {self.batch!r}.")
        if self.project and self.method != "pegasos":
            raise InvalidInputError(f'project=True is a step of method="pegasos", got {self.method!r}, which has none.')

    def rule(self, lam: float, radius: float | None = None) -> Rule:
        """The algorithm for λ; the radius of the ball is 1/√λ unless it is given."""
        ball = (lam**-0.5 if radius is None else radius) if self.project else np.inf
        return Rule(lam, METHODS[self.method], int(self.batch), ball, self.average)

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _Descent:
        """w = 0 at step 1; a warm start counts as one epoch that led there."""
        on, top = problem.present, float(problem.cost.max())
        rule = self.rule(1.0 / (len(on) * top), float(problem.cost.sum()) ** 0.5)
        samples = Samples.of(problem, max_bytes)
        iterates = Iterates.at(rule, np.zeros(samples.size))
        if warm is not None:
            w = np.append(warm.w, warm.b / (problem.bias.scale or 1.0)) if problem.is_linear else warm.w
            iterates = Iterates.at(rule, w, -(-len(on) // rule.batch))
            samples.follow(np.zeros(samples.size), iterates.v)
        visits = epochs_of(on, self.order, self.seed, samples.n_values if problem.is_linear else 0)
        signed = problem.y * problem.cost / top
        return _Descent(problem, samples, visits, iterates, Counts.none(problem.n), signed, len(on))

    def step(self, state: _Descent, tol: float, clock: Clock) -> Progress:
        """Epochs up to the next certificate, as many as take a moment; at least one, unless the time ends."""
        iterates, left = state.iterates, clock.rounds_left
        until_claim = state.next_claim - state.epochs if tol > 0 else np.inf
        epochs = int(min(max(1, CALL_VALUES // max(state.samples.n_values, 1)), until_claim, left))
        if tol == 0 and state.epochs == 0 and np.isfinite(left):
            iterates.expect(int(left) * -(-state.n_visits // iterates.rule.batch))
        iterates.numbers[LOSS] = 0.0
        with deferred_interrupt() as was_interrupted:
            for visits in state.calls(epochs):
                step_through(iterates, state.counts, state.samples, state.signed, visits)
                if was_interrupted() or clock.seconds_left <= 0:
                    break
            state.epochs += epochs
        if tol > 0 and state.epochs >= state.next_claim:
            state.next_claim = max(state.epochs + 1, int(CLAIM_GROWTH * state.epochs))
            return Progress(tol, epochs)
        # For those who watch: by the losses that were met on the way, and by ‖w‖² in the place of ‖w(β)‖².
        losses = float(iterates.numbers[LOSS]) / (epochs * state.n_visits * iterates.rule.lam)
        alpha, square = float(state.problem.cost @ state.counts.shares()), state.square()
        return Progress.without_claim(relative_gap(0.5 * square + losses, alpha, square), tol, epochs)

    def finish(self, state: _Descent, tol: float) -> Candidate:
        """The last iterate or the mean, vouched for by the shares of violations."""
        beta = state.problem.y * state.problem.cost * state.counts.shares()
        return Candidate(*split_bias(state.iterates.output(), state.problem), shorten(state.problem, beta, state.square()))


@dataclass
class _AllSamples:
    """Where subgradient descent stands."""

    problem: Problem
    samples: Samples
    beta: Floats
    best: Floats
    speed: float
    t: int
    best_gap: float = np.inf


@dataclass(frozen=True)
class Subgradient(Stepper):
    """Subgradient descent: for teaching; every step looks at all samples.

    *Use it when* you want to see what decreasing steps do, or what Pegasos saves. *Needs* the hinge, L2, finite costs, no bias or
    a penalised one. *Costs* two passes over the data a step, for a gap that falls like 1/t at best; with a kernel n × (support
    vectors) values a step. *Equivalent to* Pegasos with one batch of all samples, if the steps are 1/(λt).

    Parameters
    ----------
    steps : {"1/(λt)", "1/√t"}
        η_t = 1/(λt); or η_t = 1/(ρ√(λt)), the radius 1/√λ of the ball that holds w* over ρ√t, with ρ = max‖φ_j‖.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import Subgradient
    >>> from maxmargin.core import Bias
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 1.0), bias=Bias.penalized()), Subgradient(), tol=1e-2)
    >>> solution.certificate.relative_gap <= 1e-2
    True
    """

    steps: str = "1/(λt)"

    def __post_init__(self) -> None:
        if self.steps not in ("1/(λt)", "1/√t"):
            raise InvalidInputError(f'steps must be "1/(λt)" or "1/√t", got {self.steps!r}.')

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _AllSamples:
        """w = 0, or where a warm start's dual point is; the steps begin anew."""
        beta = np.zeros(problem.n) if warm is None else to_candidate(problem, warm.beta).beta
        longest = max(largest_square(problem), 0.0) ** 0.5
        speed = (1.0 / float(problem.cost.sum())) ** 0.5 / longest if longest > 0 else 1.0
        return _AllSamples(problem, Samples.of(problem, max_bytes), beta, beta, speed, t=int(warm is not None))

    def step(self, state: _AllSamples, tol: float, clock: Clock) -> Progress:
        """One step; the gap before it is known."""
        problem, beta = state.problem, state.beta
        w, b = weights_of(problem, beta)
        f = problem.decision(w) if problem.is_linear else state.samples.times(w) - b
        square = 2.0 * problem.regularizer(w, b, f)
        gap = relative_gap(problem.primal_from(w, b, f), float(np.abs(beta).sum()), square)
        if gap < state.best_gap:
            state.best, state.best_gap = beta, gap
        state.t += 1
        share = 1.0 / state.t if self.steps == "1/(λt)" else min(1.0, state.speed / state.t**0.5)
        is_violated = problem.y * (f + b) < 1.0
        state.beta = (1.0 - share) * beta + share * problem.y * np.where(is_violated, problem.cost, 0.0)
        return Progress(state.best_gap)

    def finish(self, state: _AllSamples, tol: float) -> Candidate:
        """Of the points that steps were made from, the one with the smallest gap."""
        return Candidate(*weights_of(state.problem, state.best), shorten(state.problem, state.best, np.inf))


def weights_of(problem: Problem, beta: Floats) -> tuple[Floats, float]:
    """(w, b) that a dual point stands for: w(β) and s²Σβ."""
    return problem.combine(beta), problem.bias.scale**2 * float(beta.sum())


def best_length(total: float, square: float) -> float:
    """The a ∈ [0, 1] that makes D(aβ) = aΣα − ½a²‖w(β)‖² largest: no dual value is negative then."""
    return min(1.0, total / square) if square > 0 else 1.0


def relative_gap(primal: float, total: float, square: float) -> float:
    """The relative gap to a dual point of its best length, given Σα and ‖w(β)‖²."""
    a = best_length(total, square)
    return max(primal - a * total + 0.5 * a**2 * square, 0.0) / max(primal, np.finfo(float).tiny)


def shorten(problem: Problem, beta: Floats, square: float) -> Floats:
    """β of its best length. `square` is about ‖w(β)‖²: where it says that nothing changes, nothing is computed."""
    total = float(np.abs(beta).sum())
    if square <= 0.8 * total:
        return beta
    w, b = weights_of(problem, beta)
    return beta * best_length(total, 2.0 * problem.regularizer(w, b, w if problem.is_linear else problem.decision(w)))
