"""The driver: `solve` runs any solver under budgets, and reports success only on a certified gap."""

import math
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Certificate, Problem, Scores, Solution, Status, TracePoint, certify
from maxmargin.core.candidate import nothing
from maxmargin.core.certificate.parts import TINY
from maxmargin.core.certificate.scores import GAP_SHARE, scores
from maxmargin.core.joint import JointProblem
from maxmargin.errors import InvalidInputError, MemoryBudgetError, NotSupportedError
from maxmargin.rounding import UNIT
from maxmargin.solvers import auto
from maxmargin.solvers.auto import Auto, Offer
from maxmargin.solvers.base import DRIVER, Budget, Clock, Event, Observer, Progress, Pulse, Solver, deferred_interrupt
from maxmargin.threads import one_blas_thread

Posed = Problem | JointProblem


def solve(
    problem: Posed,
    solver: Solver | Auto | None = None,
    *,
    tol: float = 1e-3,
    warm: Candidate | None = None,
    observe: Observer | None = None,
    budget: Budget | None = None,
) -> Solution:
    """Train: run a solver until `certify` proves a relative gap ≤ tol, a budget runs out, or progress stalls.

    If a solver crawls, stalls or ends, another one goes on from the best candidate, the next of `auto.offers`, also after a
    solver that was chosen by name. The fit has stalled when the best dual value has not risen by more than its rounding for long
    (`base.Pulse`), and the next solver did no better.

    An interruption (Ctrl-C) does not raise here: the best candidate comes back with `Status.INTERRUPTED`, so that the caller
    can keep it before raising.

    Parameters
    ----------
    problem : Problem or JointProblem
    solver : Solver or Auto, optional
        By default `Auto` chooses.
    tol : float
        The relative gap to prove; 0 goes on to the precision of the arithmetic.
    warm : Candidate, optional
        Where to begin, such as the `Solution` of a similar problem.
    observe : Observer, optional
        Called with an `Event` after each step; returning True ends the fit.
    budget : Budget, optional
        By default none but the memory of `Budget`.

    Returns
    -------
    Solution
        w, b and β, with `status`, `certificate`, `trace`, `n_iter` and `solver`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), tol=1e-9)
    >>> solution.status.name, np.round(solution.w, 6), round(solution.b, 6)
    ('SOLVED', array([2.]), -3.0)
    """
    solver = Auto() if solver is None else solver
    reason = "asked for"
    if isinstance(solver, Auto):
        solver, reason = solver.choose(problem)
    refusal = solver.refuses(problem)
    if refusal is not None:
        raise NotSupportedError(refusal)
    if not tol >= 0:
        raise InvalidInputError(f"tol must be ≥ 0, got {tol!r}.")
    if problem.is_classification and problem.has_one_class and (problem.is_hard or problem.bias.is_free):
        raise InvalidInputError("Only samples of one class have a positive cost; two classes are needed.")
    check_range(problem)
    budget = Budget() if budget is None else budget
    run = _Run(problem, solver, tol, observe, budget)
    with one_blas_thread():
        status = run.until_done(warm)
        if run.best is None:
            run.judge(nothing(problem))
    best = run.best
    assert best is not None
    return Solution(
        w=best.w,
        b=best.b,
        beta=best.beta,
        status=status,
        n_iter=run.clock.rounds,
        solver=f"{', then '.join(run.route)}: {reason}",
        trace=tuple(run.trace),
        certificate=run.certificate,
        scores=run.best_scores,
    )


def check_range(problem: Posed) -> None:
    """Refuse a soft margin whose objective may leave the range of float64.

    With α at its bounds, |f| ≤ Σc · k, where k is the largest k(x, x). A slack is then up to 1 + Σc · k, or its square.
    """
    with np.errstate(over="ignore"):
        total = problem.cost.sum()
        constant = np.square(problem.bias.scale if problem.bias.kind == "penalized" else 0.0)
        if problem.is_hard or (problem.is_linear and max(total, constant) <= DRIVER.harmless):
            return
        largest = problem.diag()[problem.counted].max() + constant
        slack = 1.0 + total * largest
        reach = total * (slack if np.isfinite(problem.loss.lipschitz) else slack**2)
    if not reach <= UNIT * np.finfo(np.float64).max:  # sums over samples need room
        raise InvalidInputError(
            f"The objective may leave the range of float64: the costs add up to {total:.2g} and k(x, x) is up to "
            f"{largest:.2g}. Use a smaller C (inf is the hard margin), scale the features, or choose smaller parameters of the "
            "kernel."
        )


class _Run:
    """One fit: one solver after the other, and the best candidate that was certified."""

    def __init__(self, problem: Posed, solver: Solver, tol: float, observe: Observer | None, budget: Budget) -> None:
        self.problem: Any = problem
        self.solver, self.tol, self.observe = solver, tol, observe
        self.clock, self.max_bytes = Clock(budget), budget.bytes
        self.best: Candidate | None = None
        self.last: Candidate | None = None
        self.certificate: Certificate | None = None
        self.judged: Certificate | None = None  # by the last step
        self.trace: list[TracePoint] = []
        self.best_scores: Scores | None = None
        self.state: Any = None
        self.caution = 1.0  # the factor of a solver's own estimate: it doubles with each claim that was not true
        self.refuted = 0  # the round of the last such claim
        self.before: list[str] = []  # the solvers that have handed over
        self.pulse = Pulse(problem.n + problem.X.shape[1])
        self.is_flat = False  # whether the last solver to end could not raise the dual value
        # Solvers that have had their turn since the gap last halved, by name and whether they began anew.
        self.tried: set[tuple[str, bool]] = {(solver.name, True)}
        self.start: Candidate | None = None  # where the next solver begins; None: from nothing
        self.gap_before = 1.0  # the best gap when `tried` was last emptied; that of w = 0 is 1

    @property
    def best_gap(self) -> float:
        """The smallest certified relative gap so far."""
        return math.inf if self.certificate is None else self.certificate.relative_gap

    @property
    def route(self) -> list[str]:
        """The solvers so far, by name."""
        return [*self.before, self.solver.name]

    @property
    def most_exact(self) -> Candidate | None:
        """The best candidate, or the last one if a solver in more digits made it.

        That is right but for its own rounding, even where another candidate happens to round better.
        """
        is_exact = self.solver.is_precise and self.judged is not None and self.judged.relative_gap <= math.sqrt(UNIT)
        return self.last if is_exact else self.best

    @cached_property
    def offers(self) -> list[Offer]:
        """Who could go on after the present solver."""
        return auto.offers(self.problem, self.solver)

    @property
    def has_precise_offer(self) -> bool:
        """Whether a solver with more digits takes the problem: its certificates have less rounding, too."""
        return any(solver.is_precise and solver.refuses(self.problem) is None for solver, _ in self.offers)

    def until_done(self, warm: Candidate | None) -> Status:
        """Step until something ends it, and say what."""
        try:
            self.state = self.solver.init(self.problem, self.max_bytes, warm)
            if warm is not None:
                self.judge(Candidate(warm.w, warm.b, warm.beta))  # its scores may be those of another problem
            while True:
                spent = self.clock.spent()
                if spent is not None:
                    return self.last_word(spent)
                self.judged = None
                progress = self.solver.step(self.state, self.tol, self.clock)
                self.clock.rounds += progress.rounds
                if progress.is_infeasible:
                    self.judge(self.solver.finish(self.state, self.tol))
                    if math.isinf(self.best_gap):
                        return Status.INFEASIBLE
                    progress = progress._replace(is_final=True)  # another solver has shown the contrary
                if progress.candidate is not None:
                    self.judge(progress.candidate)
                if progress.is_final or self.believes(progress):
                    certificate = self.judge(self.solver.finish(self.state, self.tol))
                    if certificate.relative_gap > self.tol:
                        self.caution, self.refuted = 2.0 * self.caution, self.clock.rounds
                is_solved = self.best_gap <= self.tol
                has_ended = not is_solved and (progress.is_final or self.stalls(progress))
                successor = None if is_solved else self.successor(progress, has_ended)
                if self.observe is not None and self.observe(self.event(progress)) is True:
                    return self.last_word(Status.STOPPED)
                if self.best_gap <= self.tol:
                    return Status.SOLVED
                if successor is not None:
                    self.hand_over(successor)
                elif has_ended:
                    return self.ending()
        except KeyboardInterrupt:
            return self.last_word(Status.INTERRUPTED)
        except MemoryBudgetError:
            status = self.last_word(Status.MEMORY_BUDGET)
            if math.isinf(self.best_gap):  # nothing worth keeping
                raise
            return status

    def believes(self, progress: Progress) -> bool:
        """Whether a solver's estimate of its gap is worth a certificate."""
        is_late = self.clock.rounds >= DRIVER.pause * self.refuted
        return self.caution * progress.gap <= self.tol or (progress.gap <= self.tol and is_late)

    def stalls(self, progress: Progress) -> bool:
        """Whether the best dual value stands still; a certificate says so, and not the solver."""
        self.pulse.reported(progress.dual, self.clock.rounds)
        window = self.solver.window(self.problem)
        if self.solver.accuracy > 0.0 or not self.pulse.is_missing(self.clock.rounds, window):
            return False
        self.judge(self.solver.finish(self.state, self.tol))
        return self.pulse.is_missing(self.clock.rounds, window)

    def successor(self, progress: Progress, has_ended: bool) -> Solver | None:
        """Who goes on, if anybody.

        If the present solver is slow: one that is expected to need fewer rounds. If it has ended: the next offer. It starts from
        the best candidate, unless that is worthless; with few samples each is tried from the other start, too, as a candidate may
        help or mislead. Once the gap has halved, every offer may be tried again. What the present solver has found is judged
        before it is left. A solver with `leads_on` is always followed by the next offer, from where it ended.
        """
        spent = self.clock.rounds - self.pulse.began
        if has_ended:
            did_better = self.pulse.has_risen_since_the_last_end()
            self.is_flat = not (did_better and progress.is_final) or self.is_arithmetic()
            if self.is_limited_by_rounding() and not self.has_precise_offer:
                return None
            others = [solver for solver, _ in self.offers if solver.name != self.solver.name]
            if self.solver.leads_on and others and others[0].refuses(self.problem) is None:
                self.start = self.last
                return others[0]
        elif not progress.to_come > 0.0:
            return None
        for _ in range(2):
            first = has_ended and self.best_gap >= DRIVER.worthless
            for begins_anew in (first, not first) if has_ended and self.problem.n <= DRIVER.few_samples else (first,):
                for solver, price in self.offers:
                    pays = has_ended or (price < progress.to_come and DRIVER.early * price <= spent)
                    turn = (solver.name, begins_anew)
                    is_another = (has_ended or solver.name != self.solver.name) and turn not in self.tried
                    if pays and is_another and solver.refuses(self.problem) is None:
                        if self.judged is None:
                            self.judge(self.solver.finish(self.state, self.tol))
                        self.tried.add(turn)
                        self.start = None if (begins_anew if has_ended else self.best_gap > 1.0) else self.most_exact
                        return solver
            if not (has_ended and self.best_gap <= 0.5 * self.gap_before):
                return None
            self.gap_before, self.tried = self.best_gap, set()
        return None

    def hand_over(self, successor: Solver) -> None:
        """Let another solver go on from `start`, or begin anew."""
        state = successor.init(self.problem, self.max_bytes, self.start)
        with deferred_interrupt():
            self.before = self.route
            self.solver, self.state, self.caution, self.refuted = successor, state, 1.0, 0
            self.pulse.begin(self.clock.rounds)
            self.__dict__.pop("offers", None)  # those of the solver before

    def is_limited_by_rounding(self) -> bool:
        """Whether rounding is at least half of a small gap, so that another solver cannot reach tol."""
        certificate = self.certificate
        if certificate is None or certificate.gap > 2.0 * certificate.rounding:
            return False
        return 2.0 * self.tol < self.best_gap <= math.sqrt(UNIT)  # half of all digits

    def is_arithmetic(self) -> bool:
        """Whether the rounding of the best certificate is more than its share of the gap asked for."""
        certificate = self.certificate
        if certificate is None or not math.isfinite(certificate.gap):
            return True
        size = certificate.gap / max(certificate.relative_gap, TINY)  # max(|P|, |D|), from below
        return certificate.rounding >= GAP_SHARE * self.tol * size or certificate.gap <= 2.0 * certificate.rounding

    def ending(self) -> Status:
        """What ended a fit that no solver brings any further."""
        if self.best_gap <= 10 * self.tol:
            return Status.ALMOST
        return Status.STALLED if self.is_flat and self.is_arithmetic() else Status.UNREACHED

    def last_word(self, status: Status) -> Status:
        """Certify what the state holds now, as nothing more will come."""
        if self.state is not None and self.clock.rounds:
            self.judge(self.solver.finish(self.state, self.tol))
        if self.best_gap > 1.0 and not self.problem.is_hard:  # w = 0 is better than that
            self.judge(nothing(self.problem))
        return Status.SOLVED if self.best_gap <= self.tol else status

    def judge(self, candidate: Candidate) -> Certificate:
        """Certify a candidate and keep it if it is the best so far."""
        n_threads = getattr(self.solver, "n_threads", 1)
        found = candidate.scores
        if found is None and isinstance(self.problem, Problem):
            found = scores(self.problem, candidate, self.tol, n_threads)
        certificate = certify(self.problem, candidate, found, tol=self.tol, n_threads=n_threads)
        self.last, self.judged = candidate, certificate
        self.pulse.certified(certificate, self.clock.rounds)
        if self.best is None or certificate.relative_gap < self.best_gap:
            self.best, self.certificate, self.best_scores = candidate, certificate, found
        self.trace.append(
            TracePoint(self.clock.seconds, self.clock.rounds, certificate.primal, certificate.dual, certificate.relative_gap)
        )
        return certificate

    def event(self, progress: Progress) -> Event:
        """What the observer is told."""
        gap = progress.gap if self.judged is None else self.judged.relative_gap
        return Event(self.clock.seconds, self.clock.rounds, gap, self.judged)
