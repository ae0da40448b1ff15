"""Who goes on where a solver crawls, stalls or ends; and what may be called a stall."""

import math
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.core import L1, Bias, Hinge, Problem, SquaredHinge, Status
from maxmargin.core.candidate import to_candidate
from maxmargin.kernels import RBF
from maxmargin.solvers import SOLVERS, Budget, InteriorPoint, Progress, Solver, auto, solve
from maxmargin.solvers.auto import Offer, offers
from maxmargin.solvers.base import DRIVER, Pulse
from maxmargin.solvers.linear.dual_cd import DualCD
from maxmargin.solvers.linear.proximal_newton import ProximalNewton
from maxmargin.solvers.refine import RefineTuning
from maxmargin.solvers.smo.smo import SMO
from maxmargin.solvers.smo.state import SMOTuning
from tests.problems import bag_of_words, problem

WINDOW = DRIVER.window
LINE = problem([[0], [1], [2], [3]], "--++", 10)
OPTIMUM = np.array([0.0, -2.0, 2.0, 0.0])


@dataclass(frozen=True)
class Scripted(Solver):
    """Its candidate after k rounds is share(k) of the optimum of LINE; all else that it reports is made up."""

    share: object = field(default=lambda k: 0.5)
    gap: float = math.inf
    dual: object = field(default=lambda k: -math.inf)
    to_come: float = 0.0
    last: float = math.inf

    def accepts(self, problem):
        return None

    def init(self, problem, workspace, warm):
        return {"k": 0}

    def step(self, state, tol, clock):
        state["k"] += 1
        k = state["k"]
        return Progress(self.gap, is_final=k == self.last, dual=self.dual(k), to_come=self.to_come)

    def finish(self, state, tol):
        return to_candidate(LINE, self.share(state["k"]) * OPTIMUM)


@dataclass(frozen=True)
class AnotherScripted(Scripted):
    """The same by another name."""


@pytest.fixture
def only(monkeypatch):
    """Let nobody go on but those given."""

    def restrict(*solvers, price=math.inf):
        monkeypatch.setattr(auto, "offers", lambda problem, present: [Offer(solver, price) for solver in solvers])

    return restrict


# -- what a stall is ------------------------------------------------------------------------------------------------


def test_a_dual_that_stands_still_hands_the_problem_over():
    solution = solve(LINE, Scripted(), tol=1e-6)
    assert solution.status is Status.SOLVED
    assert solution.solver == "Scripted, then ActiveSet: asked for"


def test_a_rising_dual_is_never_called_a_stall_however_slowly_it_rises(only):
    only()
    slow = Scripted(lambda k: 1.0 - 0.5 / (1 + 1e-4 * k))
    solution = solve(LINE, slow, tol=1e-6, budget=Budget(iterations=20 * WINDOW))
    assert solution.status is Status.ITERATION_BUDGET


def test_no_certificate_is_asked_for_while_a_reported_dual_rises(only):
    only()
    rising = Scripted(dual=lambda k: 1.0 + 1e-9 * k)
    solution = solve(LINE, rising, tol=1e-6, budget=Budget(iterations=WINDOW))
    assert solution.status is Status.ITERATION_BUDGET
    assert len(solution.trace) == 1


def test_a_dual_that_rises_by_rounding_only_is_a_stall(only):
    only()
    noisy = Scripted(lambda k: 0.5 + 1e-17 * (k % 7), dual=lambda k: 1.0 + 1e-16 * (k % 7))
    solution = solve(LINE, noisy, tol=1e-6)
    assert solution.status is Status.UNREACHED  # the arithmetic is not to blame
    assert solution.n_iter <= 2 * 3 * WINDOW  # few samples: it begins twice


def test_rounding_that_adds_up_in_a_reported_dual_does_not_go_on_for_ever(only):
    only()
    solution = solve(LINE, Scripted(dual=lambda k: 1.0 + 1e-12 * k), tol=1e-6, budget=Budget(iterations=50 * WINDOW))
    assert solution.status is Status.UNREACHED  # the arithmetic is not to blame


def test_a_gap_that_the_solver_makes_up_declares_nothing(only):
    only()
    for gap in (1.0, 1e-9):  # it may claim as often as it likes
        solution = solve(LINE, Scripted(gap=gap), tol=1e-6)
        assert solution.status is Status.UNREACHED  # the arithmetic is not to blame
        assert WINDOW < solution.n_iter <= 2 * 3 * WINDOW


def test_a_stall_needs_all_other_solvers_to_do_no_better(only):
    only(AnotherScripted())
    solution = solve(LINE, Scripted(), tol=1e-6)
    assert solution.status is Status.UNREACHED  # the arithmetic is not to blame
    assert solution.solver.startswith("Scripted, then AnotherScripted")
    only(AnotherScripted(), InteriorPoint())
    solution = solve(LINE, Scripted(), tol=1e-6)
    assert solution.status is Status.SOLVED
    assert solution.solver == "Scripted, then AnotherScripted, then InteriorPoint: asked for"


def test_a_solver_that_ends_far_from_the_goal_is_not_said_to_be_at_the_precision_of_the_arithmetic(only):
    only()
    solution = solve(LINE, Scripted(last=3), tol=1e-6)
    assert solution.status is Status.UNREACHED
    assert "arithmetic" not in str(solution.status)


def test_a_solver_that_says_it_has_ended_is_followed_by_another():
    solution = solve(LINE, Scripted(last=3), tol=1e-6)
    assert solution.status is Status.SOLVED
    assert solution.solver.startswith("Scripted, then ")


def test_a_solver_that_is_asked_for_its_steps_is_left_to_its_budget():
    p = replace(LINE, bias=Bias.penalized())
    solution = solve(p, SOLVERS["pegasos"](), tol=0.0, budget=Budget(iterations=20 * WINDOW))
    assert solution.status is Status.ITERATION_BUDGET
    assert solution.solver == "Pegasos: asked for"


@pytest.mark.parametrize("name", ["dual_cd", "proximal_newton", "smo", "interior_point"])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_a_tolerance_of_zero_ends_at_the_level_of_rounding(name, loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(200) > 0, 1.0, -1.0)
    solution = solve(Problem(X, y, np.ones(200), loss=loss), SOLVERS[name](), tol=0.0, budget=Budget(seconds=60))
    assert solution.status in (Status.STALLED, Status.SOLVED)
    assert solution.certificate.relative_gap <= 1e-12


def said(dual, relative_gap, gap=0.0):
    """What a pulse takes from a certificate."""
    return SimpleNamespace(dual=dual, relative_gap=relative_gap, gap=gap)


def test_a_dual_value_that_would_take_a_million_windows_has_not_risen():
    pulse = Pulse(size=10)
    pulse.certified(said(0.0, 1.0, gap=60.0), 1)
    pulse.certified(said(1e-11, 1.0, gap=60.0), 2)
    assert pulse.rose == 1
    pulse.certified(said(1e-3, 1.0, gap=60.0), 3)
    assert pulse.rose == 3


def test_what_is_known_of_the_pulse_tells_rounding_from_progress():
    pulse = Pulse(size=1000)
    pulse.certified(said(1.0, 0.5), 1)
    pulse.certified(said(1.0 + 1e-14, 0.5), 2)
    assert pulse.rose == 1
    pulse.certified(said(1.0 + 1e-11, 0.5), 3)
    assert pulse.rose == 3
    pulse.certified(said(0.5, 0.44), 4)  # the dual may be worse where the gap is a tenth better
    assert (pulse.rose, pulse.dual) == (4, 1.0 + 1e-11)
    assert not pulse.is_missing(4 + WINDOW)
    assert pulse.is_missing(5 + WINDOW)
    assert pulse.has_risen_since_the_last_end()
    assert not pulse.has_risen_since_the_last_end()


# -- crawling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("to_come", "spent"), [(99.0, None), (101.0, 40), (math.inf, 40)])
def test_a_crawl_ends_when_another_solver_takes_less_and_the_pace_is_known(only, to_come, spent):
    only(InteriorPoint(), price=100.0)
    crawling = Scripted(lambda k: 1.0 - 0.5 / k, to_come=to_come)
    events = []
    solution = solve(LINE, crawling, tol=1e-6, budget=Budget(iterations=60), observe=events.append)
    if spent is None:
        assert solution.status is Status.ITERATION_BUDGET
    else:
        assert solution.solver == "Scripted, then InteriorPoint: asked for"
        assert next(event.iteration for event in events if event.certificate is not None) == spent


def test_a_solver_that_goes_on_begins_at_the_best_candidate(only):
    begun = []

    class Heir(AnotherScripted):
        def init(self, problem, workspace, warm):
            begun.append(None if warm is None else warm.beta)
            return super().init(problem, workspace, warm)

    only(Heir())
    solve(LINE, Scripted(lambda k: 0.9 if k <= WINDOW + 1 else 0.8), tol=1e-6)
    np.testing.assert_allclose(begun[0], 0.9 * OPTIMUM)
    assert len(begun) == 1 or begun[1] is None  # where that did not help it begins anew


def test_a_solver_that_goes_on_is_not_misled_by_a_candidate_that_proves_nothing(only):
    begun = []

    class Heir(AnotherScripted):
        def init(self, problem, workspace, warm):
            begun.append(warm)
            return super().init(problem, workspace, warm)

    only(Heir())
    solve(LINE, Scripted(lambda k: 0.1), tol=1e-6)
    assert begun[0] is None


# -- the list of those who go on --------------------------------------------------------------------------------------


def names(p, present=None):
    return [offer.solver.name for offer in offers(p, present or DualCD())]


def wide(n=40, d=5000):
    return Problem(sp.csr_array((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0), np.ones(n))


def test_each_kind_of_problem_has_those_who_go_on():
    assert names(LINE)[:2] == ["ActiveSet", "ProximalNewton"]
    assert names(wide())[:3] == ["ActiveSet", "SMO", "InteriorPoint"]
    assert names(replace(LINE, kernel=RBF(gamma=1.0))) == ["ActiveSet", "SMO", "InteriorPoint"]
    assert names(replace(LINE, cost=np.full(4, np.inf))) == ["ActiveSet", "ConstraintGeneration", "InteriorPoint"]
    assert set(names(replace(LINE, penalty=L1()))) == {"LinearProgram", "PrimalCD"}


def test_whatever_auto_chooses_has_somebody_to_go_on_if_others_take_the_problem():
    for p in (LINE, wide(), wide(400), replace(LINE, kernel=RBF(gamma=1.0)), replace(LINE, cost=np.full(4, np.inf))):
        chosen, _ = auto.Auto().choose(p)
        assert chosen.name in names(p)
        assert any(offer.solver.accepts(p) is None for offer in offers(p, chosen) if offer.solver.name != chosen.name)


def test_those_who_go_on_keep_the_seed_and_the_threads():
    solvers = [offer.solver for offer in offers(LINE, DualCD(seed=7, n_threads=2))]
    assert ProximalNewton(7, 2) in solvers
    assert SMO(n_threads=2) in solvers


# -- twins in wide sparse text ----------------------------------------------------------------------------------------


BIASES = [Bias.free(), Bias.none(), Bias.penalized()]


@pytest.mark.parametrize("bias", BIASES, ids=lambda bias: bias.kind)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("name", ["dual_cd", "smo"])
def test_twins_of_both_classes_in_text_are_no_stall(bias, loss, name, monkeypatch):
    # As if there were more than 4000 samples, which the interior point and the search for the last digits refuse.
    monkeypatch.setattr("maxmargin.solvers.interior.interior_point.MAX_SAMPLES", 0)
    monkeypatch.setattr("maxmargin.solvers.interior.interior_point.MAX_WORK", 0.0)
    monkeypatch.setattr("maxmargin.solvers.linear.dual_cd.REFINE", RefineTuning(small=0))
    X, y = bag_of_words()
    p = Problem(X, y, np.full(len(y), 1e4), loss=loss, bias=bias)
    monkeypatch.setattr(SMO, "tuning", SMOTuning(few=0))
    solution = solve(p, SOLVERS[name](), tol=1e-3, budget=Budget(seconds=20))
    assert solution.status is Status.SOLVED
