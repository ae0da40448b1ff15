"""The campaign's judges: they find what is false, and nothing else."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import HardMarginSVC, LinearSVC, NotSeparable, Perceptron, Status, leave_one_out, separability
from maxmargin.core import Certificate
from maxmargin.core.certificate.certify import Groups
from maxmargin.core.penalties import L1
from tests import reference
from tests.campaign import FAMILIES, Case, check_progress, draw, judge, large, oracles
from tests.campaign.__main__ import main
from tests.campaign.checks import (
    check_not_separable,
    check_perceptron,
    contradictions,
    exact_machine,
    left_out_interval,
    stored,
    theorems,
)
from tests.campaign.oracles import Machine
from tests.campaign.rivals import rivals
from tests.campaign.runs import Outcome, Tally, TookTooLongError, _fitted, limited, run
from tests.problems import KNOWN
from tests.strategies import examples, problems, weights_and_bias


def machine_of(problem):
    return exact_machine(problem.X, problem)


def claim(primal, dual):
    """A certificate with these values and the gap and relative gap between them."""
    gap = primal - dual
    return Certificate(primal, dual, gap, gap / primal, 0.0, Groups(0, 0, 0), 1.0, 0.0)


def column(*values):
    return np.array(values, dtype=float)[:, None]


# -- the objective ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_the_objective_of_a_problem_worked_out_by_hand_has_its_value(known):
    machine, _ = machine_of(known.problem)
    value = machine.primal(machine.point(known.w), known.b)
    beta = oracles.feasible(machine, np.array(known.beta, dtype=float))
    assert float(value.low) == float(value.high) == pytest.approx(known.value, rel=1e-14)
    assert float(oracles.dual(machine, beta).low) == pytest.approx(known.value, rel=1e-14)


@given(st.data())
@examples(40)
def test_the_objective_is_that_of_the_slow_twin(data):
    problem = data.draw(problems(kernels=("linear",)))
    w, b = data.draw(weights_and_bias(problem))
    machine, _ = exact_machine(reference.dense(problem.X), problem)
    twin = reference.judge(problem, w, b, np.zeros(problem.n))
    assert float(machine.primal(machine.point(w), b).low) == pytest.approx(twin.primal, rel=1e-15)


@given(st.data())
@examples(25)
def test_rivals_with_the_l1_penalty_are_as_good_as_the_slow_twin(data):
    problem = data.draw(problems(kernels=("linear",), penalty=L1(), scales=(1.0,)))
    machine, rows = exact_machine(reference.dense(problem.X), problem)
    w, b, value, _ = reference.solve_l1(problem)
    found = {rival.name: float(rival.value.high) for rival in rivals(machine, w, b, rows)}
    assert float(machine.primal(machine.point(w), b).low) == pytest.approx(value, rel=1e-9)
    assert found["another solver"] <= value * (1 + 1e-6)


def test_the_l1_penalty_counts_the_weight_of_a_penalised_bias():
    X = oracles.exact_rows(np.array([[1.0, 1.0]]))
    machine = Machine(y=np.ones(1), cost=np.ones(1), is_l1=True, bias="penalized", scale=2.0, X=X)
    # |3| + |−6| + |4|/2, and yF = 3 − 6 + 4 = 1 costs nothing
    assert machine.primal(machine.point([3.0, -6.0]), 4.0).low == 11


def test_sums_that_doubles_lose_are_kept():
    X = np.array([[1e16, 1.0, -1e16]])
    machine = Machine(y=np.ones(1), cost=np.array([0.1]), bias="none", X=oracles.exact_rows(X))
    # yF = 0.25, slack 0.75; ½‖w‖² = ½ (1 + 1/16 + 1)
    value = machine.primal(machine.point([1.0, 0.25, 1.0]), 0.0)
    assert value.low == value.high == Fraction(33, 32) + Fraction(0.1) * Fraction(3, 4)


def test_sparse_rows_have_the_objective_of_dense_ones():
    case = draw("words", 0)
    dense = case.X.toarray() if hasattr(case.X, "toarray") else case.X
    w = np.random.default_rng(0).standard_normal(dense.shape[1])
    y = np.where(case.y == 1, 1.0, -1.0)
    values = {
        Machine(y=y, cost=np.ones(len(y)), X=rows).point(w).f.floats().tobytes()
        for rows in (oracles.exact_rows(case.X), oracles.dyadic(dense))
    }
    assert len(values) == 1


def test_exp_and_tanh_have_sixty_digits():
    X = column(0.0, 1.0)
    e = Fraction("0.36787944117144232159552377016146086744581113103176783450783680169746149574489980")
    tanh = Fraction("0.76159415595576488811945828260479359041276859725793655159681050012195324457663848")
    K = oracles.rbf(X, 1.0)
    assert abs(K.values.whole[0, 1] * K.values.unit - e) <= K.error
    K = oracles.sigmoid(X, 1.0, 0.0)
    assert abs(K.values.whole[1, 1] * K.values.unit - tanh) <= K.error


def test_a_far_offset_does_not_change_distances():
    X = column(0.0, 0.5, 3.0)
    assert (oracles.rbf(X + 2.0**40, 0.5).values.whole == oracles.rbf(X, 0.5).values.whole).all()


@pytest.mark.parametrize("is_squared", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_other_bias_is_better_than_the_best(seed, is_squared):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(9) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = oracles.exact_rows(rng.integers(-3, 4, size=(9, 2)).astype(float))
    machine = Machine(y=y, cost=rng.choice([0.0, 0.5, 3.0], size=9) + 0.1, is_squared=is_squared, X=X)
    point = machine.point(rng.standard_normal(2))
    best = machine.best_bias(point)
    value = machine.primal(point, best).high
    others = [best + Fraction(1, 10**9), best - Fraction(1, 10**9), *(Fraction(int(k), 4) for k in range(-12, 13))]
    assert all(machine.primal(point, b).low >= value for b in others)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_rivals_are_close_to_the_optimum_and_never_below_it(known):
    machine, rows = machine_of(known.problem)
    found = rivals(machine, np.array(known.w), known.b, np.asarray(rows, dtype=float))
    values = {rival.name: float(rival.value.high) for rival in found}
    assert values["another solver"] == pytest.approx(known.value, rel=1e-6)
    assert min(values.values()) >= known.value * (1 - 1e-14)


# -- certificates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("primal", "dual", "found"),
    [
        (2.5, 1.5, set()),
        (2.0, 2.0, set()),
        (np.nextafter(2.0, 0), 1.5, {"primal"}),
        (2.5, np.nextafter(2.0, 3), {"dual"}),
        (np.nan, 1.5, {"not a number"}),
    ],
)
def test_a_certificate_is_denied_where_it_is_false_and_only_there(primal, dual, found):
    assert {failure.check for failure in theorems(claim(primal, dual), Fraction(2), [("a rival", Fraction(2))])} == found


def test_a_gap_that_a_rival_disproves_is_found():
    # P(w, b) = 2, a rival has 1.5, and only 0.25 is claimed to be missing
    claimed = replace(claim(2.0, 1.0), gap=0.25, relative_gap=0.125)
    found = {failure.check for failure in theorems(claimed, Fraction(2), [("a rival", Fraction(3, 2))])}
    assert found == {"gap", "relative gap"}


def test_a_convex_problem_must_not_be_called_anything_else():
    claimed = replace(claim(2.5, 1.5), convex=False)
    assert [failure.check for failure in theorems(claimed, Fraction(2), [])] == ["convex"]


def test_a_status_that_contradicts_its_model_is_found():
    case = Case("linear", 0, "plain", column(0.0, 1.0, 2.0, 3.0), np.array([0, 0, 1, 1]), None, HardMarginSVC())
    model = case.fit()
    model.status_ = Status.INFEASIBLE
    assert "status" in {failure.check for failure in judge(case, model)}
    model.status_, model.tol = Status.SOLVED, -1.0
    assert "status" in {failure.check for failure in judge(case, model)}


def test_one_unit_in_the_last_place_of_a_large_bias_is_found():
    X = 1.7e9 + np.random.default_rng(0).integers(0, 50, size=(200, 1))
    y = (X[:, 0] > 1.7e9 + 25).astype(int)
    case = Case("linear", 0, "timestamps", X, y, None, LinearSVC(C=1e4))
    model = case.fit()
    one = next(stored(case, model))
    point = one.machine.point(one.w)
    biases = [np.nextafter(one.b, end) for end in (-np.inf, np.inf)]
    values = [float(one.machine.primal(point, b).high) for b in biases]
    P = max(values)
    model.intercept_ = np.array([biases[values.index(P)]])
    model.certificate_ = replace(model.certificate_, primal=P * (1 + 1e-12), dual=0.0, gap=1e-11, relative_gap=1e-11)
    assert {failure.check for failure in judge(case, model)} == {"gap", "relative gap"}


def test_extended_precision_holds_the_exact_value_within_its_error():
    rng = np.random.default_rng(3)
    for offset in (0.0, 1e4, 1e7):
        X = rng.standard_normal((40, 3)) + offset * (np.arange(40) % 2)[:, None]
        y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
        beta, cost = y * rng.random(40), np.ones(40)
        machine = Machine(y=y, cost=cost, gram=oracles.rbf(X, 0.7))
        exact = machine.primal(machine.point(beta), 0.3)
        found = large.judged(X, y, cost, 0.7, beta, 0.3)
        assert found.primal.low <= exact.low <= exact.high <= found.primal.high
        assert found.primal.error < 1e-12
        gain = oracles.dual(machine, oracles.feasible(machine, beta))
        assert float(gain.low) == pytest.approx(found.dual.value, rel=0.2)
        assert min(rival.value.high for rival in found.rivals) <= exact.high


def test_a_false_certificate_of_many_samples_is_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    X[::2] += 1e7
    case = Case("large", 0, "two baselines", X, np.where(rng.random(300) < 0.5, 1, -1), None, draw("large", 0).estimator)
    model = case.fit()
    P = model.certificate_.primal * 1.5
    model.certificate_ = replace(model.certificate_, primal=P, dual=P * (1 - 1e-6), gap=P * 1e-6, relative_gap=1e-6)
    assert "dual" in {failure.check for failure in judge(case, model)}


# -- progress, witnesses, leave-one-out -------------------------------------------------------------------------------


def test_a_stall_where_another_solver_goes_on_is_found():
    case = Case(
        "linear", 0, "plain", column(0.0, 1.0, 2.0, 3.0), np.array([0, 0, 1, 1]), None, LinearSVC(C=10.0, solver="interior_point")
    )
    model = case.fit()
    assert not list(check_progress(case, model, 5.0))
    model.status_, true = Status.STALLED, model.certificate_
    model.certificate_ = replace(true, gap=0.01, relative_gap=0.005)
    assert [failure.check for failure in check_progress(case, model, 5.0)] == ["stall"]
    model.certificate_ = replace(true, gap=np.inf, relative_gap=np.inf, rounding=np.inf)
    assert [failure.check for failure in check_progress(case, model, 5.0)] == ["stall"]
    model.certificate_ = replace(true, gap=0.01, relative_gap=0.005, rounding=0.01)  # its own rounding is no excuse
    assert [failure.check for failure in check_progress(case, model, 5.0)] == ["stall"]
    model.certificate_ = replace(true, gap=true.gap + 0.5 * true.rounding)  # that of the other one is
    assert not list(check_progress(case, model, 5.0))


def test_a_false_witness_is_found_either_way():
    X, y = column(0.0, 1.0, 2.0), np.array([0, 1, 0])
    case = Case("linear", 0, "grid", X, y, None, Perceptron())
    true = separability(X, y)
    assert isinstance(true, NotSeparable)
    assert not list(check_not_separable(case, true))
    false = replace(true, exact={0: Fraction(1, 4), 1: Fraction(1), 2: Fraction(3, 4)})
    assert [failure.check for failure in check_not_separable(case, false)] == ["witness"]
    case = Case("linear", 0, "grid", X, np.array([0, 0, 1]), None, Perceptron())
    model = case.fit()
    assert not list(check_perceptron(case, model))
    model.witness_ = replace(model.witness_, b=0.0)
    assert [failure.check for failure in check_perceptron(case, model)] == ["witness"]


@pytest.mark.parametrize("seed", range(6))
def test_intervals_of_left_out_samples_hold_what_retraining_gives(seed):
    case = draw("left_out", seed)
    one = next(stored(case, case.fit()))
    for i in one.machine.on:
        ends = left_out_interval(one, int(i))
        if ends is not None and np.isfinite(ends[0]):
            assert ends[0] - 1e-5 <= reference.left_out_decision(one.problem, int(i)) <= ends[1] + 1e-5


def test_a_wrong_label_of_a_left_out_sample_is_found():
    case = draw("left_out", 1)
    model = case.fit()
    one, result = next(stored(case, model)), leave_one_out(model, case.X, case.y, case.sample_weight)
    assert not contradictions(one, model.classes_, result)
    others = np.where(result.predictions == model.classes_[0], model.classes_[1], model.classes_[0])
    assert contradictions(one, model.classes_, replace(result, predictions=others))
    assert contradictions(one, model.classes_, replace(result, lower=result.upper + 1.0, upper=result.upper + 2.0))


# -- draws and runs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_a_number_stands_for_one_problem(family):
    one, two = draw(family, 5), draw(family, 5)
    assert one.title == two.title
    assert oracles.dense(one.X).tobytes() == oracles.dense(two.X).tobytes()
    assert np.array_equal(one.y, two.y)
    assert len(np.unique(one.y)) >= 2


@pytest.mark.parametrize(("family", "seeds"), [("linear", range(12)), ("kernels", range(4)), ("left_out", range(2))])
def test_a_few_problems_of_each_family_pass(family, seeds):
    for seed in seeds:
        found = [failure for _, failure in run(family, 5 * seed).failures]
        assert not found, (family, 5 * seed, found)


def test_the_printed_lines_reproduce_a_failure(capsys):
    case = draw("left_out", 3)
    exec(case.reproduction(), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed == [str(failure) for failure in judge(case, case.fit())]


def test_an_error_that_is_not_documented_is_a_failure_and_a_documented_one_is_not():
    class Broken(LinearSVC):
        def fit(self, X, y):
            raise self.C

    for error, check in ((KeyError("a"), ["crash"]), (RuntimeWarning("b"), ["crash"])):
        outcome = Outcome(Case("linear", 0, "plain", column(0.0, 1.0), np.array([0, 1]), None, Broken(C=error)))
        assert _fitted(outcome) is None
        assert [failure.check for _, failure in outcome.failures] == check
    outcome = Outcome(Case("linear", 0, "plain", column(0.0, np.nan), np.array([0, 1]), None, LinearSVC(C=-1.0)))
    assert _fitted(outcome) is None


def test_what_hangs_is_ended_by_an_alarm():
    with pytest.raises(TookTooLongError), limited(0.05):
        time.sleep(60)


def test_the_table_counts_every_failure():
    tally = Tally()
    outcome = run("left_out", 0)
    tally.add(outcome)
    assert tally.n_failures == len(outcome.failures)
    assert "left_out         1" in tally.table()


def test_a_campaign_ends_in_time_and_its_exit_code_says_whether_all_is_well(capsys):
    code = main(["0.01", "4", "--only", "left_out"])
    assert ("no failures" in capsys.readouterr().out) == (code == 0)
    code = main(["exact", "--linear", "3", "--kernels", "1", "--seed", "4"])
    printed = capsys.readouterr().out
    assert ("no failures" in printed) == (code == 0)
    assert "linear           3" in printed


# -- what campaigns have found ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
@pytest.mark.parametrize(
    ("family", "number"),
    [
        ("kernels", 51000224),
        ("kernels", 53000191),
        ("linear", 52000025),
        ("linear", 54000472),
        ("linear", 54000623),
    ],
)
def test_weights_that_differ_by_twenty_four_orders_of_magnitude_do_not_stall(family, number):
    """Some solver proves tol on each of them, if it begins."""
    case = draw(family, number)
    model = replace(case, estimator=case.estimator.set_params(max_seconds=60.0)).fit()
    assert model.status_ is Status.SOLVED


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
@pytest.mark.parametrize("number", [11001544, 11002803, 11003129])
def test_costs_near_the_end_of_the_range_of_float64_overflow_nowhere(number):
    """Units of 1e-31 to 1e-45 with the C that belongs to them: far from the optimum the squared hinge leaves the range."""
    case = draw("units", number)
    assert judge(case, case.fit()) == []
