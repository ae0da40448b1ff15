"""The driver: budgets, observers, interruptions, refusals, and the best so far."""

import math
import os
import subprocess
import time
from dataclasses import dataclass, field, replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given

from maxmargin.core import L1, Bias, Candidate, Problem, Ramp, SquaredHinge, Status, certify
from maxmargin.core.candidate import to_candidate
from maxmargin.errors import InvalidInputError, MemoryBudgetError, NotSupportedError
from maxmargin.kernels import RBF, Precomputed, Sigmoid
from maxmargin.solvers import (
    Auto,
    Budget,
    Clock,
    ConstraintGeneration,
    InteriorPoint,
    Progress,
    Solver,
    auto,
    solve,
)
from maxmargin.solvers.hard_margin import constraint_generation
from maxmargin.solvers.interior import interior_point
from maxmargin.solvers.interior.clarabel import run_clarabel
from tests import reference
from tests.problems import problem, signs
from tests.strategies import examples, problems, separable_problems

LINE = problem([[0], [1], [2], [3]], "--++", 10)
HARD = problem([[0], [1], [2], [3]], "--++", np.inf)


@dataclass(frozen=True)
class Creeping(Solver):
    """Nears the optimum of LINE by halves, and does as it is told on the way."""

    stop_at: int = 60
    claims: float | None = None
    events: dict = field(default_factory=dict)

    def accepts(self, problem):
        return None

    def init(self, problem, max_bytes, warm):
        return {"problem": problem, "share": 0.0, "k": 0}

    def step(self, state, tol, clock):
        state["k"] += 1
        if state["k"] in self.events:
            raise self.events[state["k"]]
        state["share"] = 0.5 * (1.0 + state["share"])
        gap = certify(state["problem"], self.finish(state, tol)).relative_gap
        return Progress(gap if self.claims is None else self.claims, is_final=state["k"] == self.stop_at)

    def finish(self, state, tol):
        return to_candidate(state["problem"], state["share"] * np.array([0.0, -2.0, 2.0, 0.0]))


def after(rounds, tol=1e-9):
    """What `certify` says of the Creeping solver's candidate after so many rounds."""
    return certify(LINE, to_candidate(LINE, (1.0 - 0.5**rounds) * np.array([0.0, -2.0, 2.0, 0.0])), tol=tol)


@pytest.fixture
def nobody_else(monkeypatch):
    """No other solver may go on."""
    monkeypatch.setattr(auto, "offers", lambda *args: [])


# -- the end ---------------------------------------------------------------------------------------------------------


def test_it_ends_when_the_certified_gap_is_reached():
    solution = solve(LINE, Creeping(), tol=1e-6)
    assert solution.status is Status.SOLVED
    assert solution.certificate.relative_gap <= 1e-6
    assert solution.n_iter < 60
    assert solution.certificate == certify(LINE, solution, tol=solution.certificate.tol)


def test_a_solver_that_flatters_itself_is_not_believed():
    solution = solve(LINE, Creeping(claims=0.0), tol=1e-6)
    honest = solve(LINE, Creeping(), tol=1e-6)
    assert solution.n_iter == honest.n_iter
    assert len(solution.trace) > len(honest.trace)


def test_a_solver_that_despairs_of_itself_is_checked_at_its_end():
    assert solve(LINE, Creeping(claims=math.inf, stop_at=40), tol=1e-6).status is Status.SOLVED


def test_a_solver_that_gives_up_near_the_tolerance_has_almost_solved_and_far_from_it_not(nobody_else):
    gap = solve(LINE, Creeping(stop_at=5), tol=0.0).certificate.relative_gap
    assert solve(LINE, Creeping(stop_at=5), tol=gap).status is Status.SOLVED
    assert solve(LINE, Creeping(stop_at=5), tol=gap / 9).status is Status.ALMOST
    assert solve(LINE, Creeping(stop_at=5), tol=gap / 11).status is Status.UNREACHED


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_a_budget_of_iterations_ends_with_the_certified_best_so_far(iterations):
    solution = solve(LINE, Creeping(), tol=1e-9, budget=Budget(iterations=iterations))
    assert solution.status is Status.ITERATION_BUDGET
    assert solution.n_iter == iterations
    assert solution.certificate == after(iterations) == certify(LINE, solution, tol=solution.certificate.tol)


def test_a_budget_of_seconds_ends_with_the_certified_best_so_far():
    solution = solve(LINE, Creeping(), tol=1e-9, budget=Budget(seconds=0.0))
    assert solution.status is Status.TIME_BUDGET
    assert solution.certificate == certify(LINE, solution, tol=solution.certificate.tol)
    start = time.perf_counter()
    slow = solve(LINE, Creeping(), tol=0.0, budget=Budget(seconds=0.2), observe=lambda event: time.sleep(0.05))
    assert slow.status is Status.TIME_BUDGET
    assert 0.2 <= time.perf_counter() - start < 2.0


@pytest.mark.parametrize("solver", [InteriorPoint(), InteriorPoint("dual"), ConstraintGeneration()], ids=repr)
@pytest.mark.parametrize(
    ("budget", "status"),
    [
        (Budget(iterations=0), Status.ITERATION_BUDGET),
        (Budget(iterations=1), Status.ITERATION_BUDGET),
        (Budget(seconds=0.0), Status.TIME_BUDGET),
    ],
    ids=repr,
)
def test_every_solver_hears_its_budget_and_its_answer_is_certified(solver, budget, status):
    rng = np.random.default_rng(0)
    y = signs("+-" * 300)
    X = rng.standard_normal((600, 5))
    X[:, 0] += 6.0 * y
    p = Problem(X, y, np.full(600, np.inf if solver.accepts(LINE) is not None else 1.0))
    with mock.patch.object(constraint_generation, "BATCH", 2):
        solution = solve(p, solver, tol=0.0, budget=budget)
    assert solution.status is status
    assert solution.certificate == certify(p, solution, tol=solution.certificate.tol)
    assert solution.n_iter <= (budget.iterations or 0)


def test_a_budget_that_is_enough_changes_nothing():
    free = solve(LINE, tol=1e-8)
    bound = solve(LINE, tol=1e-8, budget=Budget(iterations=500, seconds=60.0))
    assert bound.status is Status.SOLVED
    assert bound.beta.tolist() == free.beta.tolist()


@pytest.mark.parametrize("name", ["iterations", "seconds", "bytes"])
@pytest.mark.parametrize("value", [-1, math.nan])
def test_a_negative_budget_is_refused(name, value):
    with pytest.raises(InvalidInputError, match=f"budget of {name}"):
        Budget(**{name: value})


def test_a_clock_counts_against_its_budget():
    clock = Clock(Budget(iterations=2))
    assert (clock.rounds_left, clock.seconds_left, clock.spent()) == (2, math.inf, None)
    clock.rounds = 2
    assert clock.spent() is Status.ITERATION_BUDGET
    assert Clock(Budget(seconds=0.0)).spent() is Status.TIME_BUDGET
    assert Clock(Budget()).rounds_left == math.inf


@pytest.mark.parametrize("tol", [-1e-9, math.nan])
def test_a_negative_tolerance_is_refused(tol):
    with pytest.raises(InvalidInputError, match="tol must be ≥ 0"):
        solve(LINE, tol=tol)


def test_a_tolerance_of_zero_ends_too():
    p = problem([[1, 2], [0.3, -1], [4, 4]], "+-+", 0.7)
    assert solve(p, tol=0.0).certificate.relative_gap <= 1e-14


# -- observers and interruptions --------------------------------------------------------------------------------------


def test_observers_see_each_step_and_numbers_that_are_certified():
    events = []
    solution = solve(LINE, Creeping(), tol=1e-6, observe=events.append)
    assert [event.iteration for event in events] == list(range(1, solution.n_iter + 1))
    assert [event.seconds for event in events] == sorted(event.seconds for event in events)
    assert all(event.certificate is None for event in events[:-1])
    assert events[-1].certificate == solution.certificate
    assert events[-1].relative_gap == solution.certificate.relative_gap


def test_an_observer_that_returns_true_stops_the_fit_with_the_best_so_far():
    solution = solve(LINE, Creeping(), tol=1e-9, observe=lambda event: event.iteration == 4)
    assert solution.status is Status.STOPPED
    assert solution.n_iter == 4
    assert solution.certificate == after(4)


def test_other_answers_of_an_observer_do_not_stop_the_fit():
    assert solve(LINE, Creeping(), tol=1e-6, observe=lambda event: "go on").status is Status.SOLVED
    assert solve(LINE, Creeping(), tol=1e-6, observe=lambda event: 1).status is Status.SOLVED


def test_an_interruption_in_a_step_gives_back_the_best_candidate():
    solution = solve(LINE, Creeping(events={5: KeyboardInterrupt()}), tol=1e-9)
    assert solution.status is Status.INTERRUPTED
    assert solution.n_iter == 4
    assert solution.certificate == after(4)


def test_an_interruption_in_an_observer_gives_back_the_best_candidate():
    def observe(event):
        if event.iteration == 3:
            raise KeyboardInterrupt

    solution = solve(LINE, Creeping(), tol=1e-9, observe=observe)
    assert solution.status is Status.INTERRUPTED
    assert solution.certificate == after(3)


def test_an_interruption_after_the_goal_was_reached_is_no_interruption():
    def observe(event):
        if event.certificate is not None:
            raise KeyboardInterrupt

    assert solve(LINE, Creeping(), tol=1e-3, observe=observe).status is Status.SOLVED


@pytest.mark.skipif(os.name != "posix", reason="sends a signal from a shell")
def test_ctrl_c_inside_the_interior_point_gives_back_a_certified_model(capfd, hears_ctrl_c):
    rng = np.random.default_rng(0)
    p = Problem(rng.standard_normal((700, 20)), signs("+-" * 350), np.ones(700), kernel=RBF(gamma=0.1))
    senders = []

    class Interrupting(Clock):
        """Asks for a signal when it is first looked at, which then comes in the middle of Clarabel's next round."""

        @property
        def seconds_left(self):
            if not senders:
                senders.append(subprocess.Popen(["sh", "-c", f"sleep 0.01; kill -INT {os.getpid()}"]))
            return math.inf

    def run_and_interrupt(program, clock):
        return run_clarabel(program, Interrupting(Budget()))

    try:
        with mock.patch.object(interior_point, "run_clarabel", run_and_interrupt):
            solution = solve(p, InteriorPoint(), tol=1e-8)
    finally:
        for sender in senders:
            sender.wait()
    assert solution.status is Status.INTERRUPTED
    assert solution.certificate == certify(p, solution, tol=solution.certificate.tol)
    assert capfd.readouterr() == ("", "")


def test_other_errors_of_a_solver_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        solve(LINE, Creeping(events={2: ZeroDivisionError()}))


def test_out_of_memory_keeps_what_is_worth_keeping():
    solution = solve(LINE, Creeping(events={5: MemoryBudgetError("no room")}), tol=1e-9)
    assert solution.status is Status.MEMORY_BUDGET
    assert solution.certificate == after(4)
    with pytest.raises(MemoryBudgetError, match="no room"):
        solve(HARD, Creeping(events={1: MemoryBudgetError("no room")}))


# -- the best so far ------------------------------------------------------------------------------------------------


def test_the_trace_is_monotone_in_time_and_in_rounds():
    solution = solve(LINE, Creeping(claims=0.0), tol=1e-9)
    assert len(solution.trace) == solution.n_iter
    for name in ("seconds", "iteration"):
        values = [getattr(point, name) for point in solution.trace]
        assert values == sorted(values)
    assert solution.trace[-1].relative_gap == solution.certificate.relative_gap
    assert all(point.dual <= 2.0 <= point.primal for point in solution.trace)


def test_a_good_warm_start_is_kept_if_nothing_better_comes():
    best = solve(LINE, tol=1e-12)
    solution = solve(LINE, Creeping(), tol=0.0, warm=best, budget=Budget(iterations=2))
    assert replace(solution.certificate, tol=1e-12) == best.certificate
    assert solve(LINE, Creeping(), tol=1e-6, warm=best, budget=Budget(iterations=0)).status is Status.SOLVED


def test_a_bad_warm_start_is_forgotten():
    bad = Candidate(np.array([-50.0]), 3.0, np.zeros(4))
    assert solve(LINE, Creeping(), tol=1e-6, warm=bad).status is Status.SOLVED


def test_the_solution_says_which_solver_and_why():
    assert solve(LINE, InteriorPoint()).solver == "InteriorPoint: asked for"
    assert solve(LINE).solver.startswith("ProximalNewton: 4 samples")
    assert solve(HARD, Auto()).solver.startswith("ConstraintGeneration: of 4 samples")


# -- refusals -------------------------------------------------------------------------------------------------------

REFUSALS = [
    (InteriorPoint(), replace(LINE, loss=Ramp()), "quadratic dual"),
    (InteriorPoint(), replace(LINE, penalty=L1()), "L2 penalty"),
    (InteriorPoint(), replace(LINE, kernel=Sigmoid(gamma=1.0)), "positive semi-definite"),
    (InteriorPoint("cubic"), LINE, "form must be one of"),
    (ConstraintGeneration(), LINE, "infinite costs"),
    (ConstraintGeneration(), replace(HARD, penalty=L1()), "L2 penalty"),
    (ConstraintGeneration(), replace(HARD, kernel=Sigmoid(gamma=1.0)), "positive semi-definite"),
]


@pytest.mark.parametrize(("solver", "p", "reason"), REFUSALS)
def test_a_solver_refuses_what_it_cannot_solve_with_its_reason(solver, p, reason):
    with pytest.raises(NotSupportedError, match=reason):
        solve(p, solver)
    assert reason in solver.accepts(p)


def test_the_interior_point_refuses_what_is_too_large():
    n = 4001
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    wide = Problem(np.broadcast_to(0.0, (n, 5000)), y, np.ones(n))
    with pytest.raises(NotSupportedError, match="Train on fewer samples or features"):
        solve(wide, InteriorPoint())
    assert InteriorPoint().accepts(Problem(np.zeros((n, 2)), y, np.ones(n))) is None
    assert InteriorPoint().accepts(Problem(np.zeros((n, 2)), y, np.ones(n), kernel=RBF(gamma=1.0))) is not None


def test_auto_leaves_the_refusal_to_the_solver_it_chose():
    with pytest.raises(NotSupportedError, match="hinge and the squared hinge"):
        solve(replace(LINE, loss=Ramp()))


# -- nothing hangs ----------------------------------------------------------------------------------------------------

HOPELESS = {
    "a contradiction": problem([[1, 2], [1, 2]], "+-", np.inf),
    "a contradiction among others": problem([[0, 0], [1, 0], [1, 0], [5, 5]], "-+-+", np.inf),
    "all the same": problem(np.ones((6, 2)), "+-+-+-", np.inf),
    "all zero": problem(np.zeros((4, 3)), "+-+-", np.inf),
    "between": problem([[0], [1], [2]], "+-+", np.inf),
    "xor": problem([[0, 0], [1, 1], [0, 1], [1, 0]], "++--", np.inf),
    "through the origin": problem([[1], [2]], "+-", np.inf, bias=Bias.none()),
    "a kernel's contradiction": problem([[1, 2], [1, 2], [3, 3]], "+-+", np.inf, kernel=RBF(gamma=1.0)),
    "an empty kernel": Problem(np.zeros((2, 2)), signs("+-"), np.full(2, np.inf), kernel=Precomputed()),
}


@pytest.mark.parametrize("solver", [InteriorPoint("primal"), InteriorPoint("dual"), ConstraintGeneration(), None], ids=repr)
@pytest.mark.parametrize("name", HOPELESS)
def test_a_hard_margin_that_cannot_be_had_is_infeasible(solver, name):
    solution = solve(HOPELESS[name], solver, tol=1e-6, budget=Budget(seconds=20.0))
    assert solution.status is Status.INFEASIBLE
    assert solution.certificate.gap == math.inf


@pytest.mark.parametrize("name", HOPELESS)
@pytest.mark.parametrize("loss", [None, SquaredHinge()], ids=["hinge", "squared hinge"])
def test_the_same_samples_have_a_soft_margin(name, loss):
    p = HOPELESS[name]
    p = replace(p, cost=np.full(p.n, 2.0), loss=p.loss if loss is None else loss)
    assert solve(p, tol=1e-8, budget=Budget(seconds=20.0)).status is Status.SOLVED


@pytest.mark.parametrize("bias", [Bias.free(), Bias.none(), Bias.penalized()], ids=repr)
def test_two_samples_are_enough(bias):
    for cost in (0.1, 10.0, np.inf):
        p = problem([[1.0, 2.0], [-1.0, 0.5]], "+-", cost, bias=bias)
        assert solve(p, tol=1e-10).status is Status.SOLVED


@examples(60)
@given(problems(max_n=12))
def test_soft_margins_are_solved_by_whatever_auto_chooses(p):
    solution = solve(p, tol=1e-8)
    assert solution.status is Status.SOLVED
    assert reference.judge(p, solution.w, solution.b, solution.beta).gap <= 2e-8 * solution.certificate.primal


@examples(40)
@given(separable_problems(max_n=12))
def test_hard_margins_are_solved_by_whatever_auto_chooses(p):
    assert solve(p, tol=1e-8).status is Status.SOLVED
