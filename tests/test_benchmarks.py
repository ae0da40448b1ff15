"""The benchmarks' own arithmetic: means, slopes, the search for a tolerance, verdicts, the picture."""

import os
import sys
import time
from argparse import ArgumentTypeError
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from benchmarks import (
    datasets,
    kernel,
    kernel_contenders,
    kernel_growth,
    kernel_prediction,
    loo,
    loo_sets,
    online,
    picture,
    proof_share,
    results,
    reuters_capacity,
    reuters_loo,
    small,
    small_contenders,
    small_growth,
    small_tables,
    timing,
)
from benchmarks.calibration import Trial, calibrate, hinge_objective, relative_gap, run_once
from benchmarks.capture import call_and_read
from benchmarks.contenders import LINEAR
from benchmarks.datasets import zipf
from benchmarks.kernel_contenders import KERNEL, certified_gap
from benchmarks.linear_growth import slope
from benchmarks.memory import data_megabytes, peak_megabytes
from benchmarks.options import Options, case_name, parse_cases, parse_names, select
from benchmarks.race import Task, known_tolerances
from benchmarks.summary import KERNEL_FLOORS, LINEAR_FLOORS, OWN_C, geometric_mean, means, verdicts
from maxmargin import SVC, LinearSVC, Regularization, certify
from maxmargin.solvers.smo import smo

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the benchmarks are for POSIX")


def row(contender, ratio, C=1.0, gap=1e-3, reached=True, data="a9a", our_gap=1e-4):
    return {
        "data": data,
        "C": C,
        "gap": gap,
        "ours": 1.0,
        "our gap": our_gap,
        "contender": contender,
        "seconds": ratio,
        "reached": reached,
        "ratio": ratio,
    }


def fake(gap_of, epochs_of=lambda tol: 1, seconds=0.0):
    """A contender whose gap and epochs are functions of its tolerance, and the runs it was asked for."""
    runs = []

    def attempt(tol, epochs):
        runs.append((tol, epochs))
        is_capped = epochs_of(tol) > epochs
        return Trial(tol, epochs, seconds, 1.0 if is_capped else gap_of(tol), is_capped)

    return attempt, runs


def test_the_geometric_mean_of_a_number_and_its_inverse_is_one():
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)


def test_the_slope_is_the_exponent():
    sizes = np.array([1.0, 2.0, 4.0, 8.0])
    assert slope(sizes, 3.0 * sizes**1.5) == pytest.approx(1.5)


@pytest.mark.parametrize("factor", [0.01, 0.3, 1.0, 30.0])
def test_the_tolerance_found_is_the_loosest_to_a_factor_of_two(factor):
    attempt, _ = fake(lambda tol: factor * tol)
    found = calibrate(attempt, 1e-3, 30.0, 1000)
    assert found.gap <= 1e-3
    assert 2 * found.tol * factor > 1e-3 or found.tol >= 1.0


@pytest.mark.parametrize("first", [1e-6, 1e-4, 0.3])
def test_wherever_the_search_starts_it_ends_at_the_loosest_tolerance(first):
    attempt, _ = fake(lambda tol: tol)
    found = calibrate(attempt, 1e-3, 30.0, 1000, first_tol=first)
    assert found.gap <= 1e-3 < 2 * found.tol


def test_a_search_starts_where_the_last_one_ended():
    task = Task("small", None, None, 1.0, 1e-3)
    row = {"data": "small", "C": 1.0, "gap": 1e-3, "contender": "scikit-learn", "its tol": 0.125}
    rows = [row, row | {"data": "other"}, row | {"contender": "Snap ML", "its tol": ""}, row | {"C": 2.0}]
    assert known_tolerances(rows, task) == {"scikit-learn": 0.125}


def test_a_run_that_its_epochs_ended_gets_more_of_them():
    attempt, _ = fake(lambda tol: tol, epochs_of=lambda tol: 1 / tol)
    found = calibrate(attempt, 1e-3, 30.0, 20_000)
    assert found.gap <= 1e-3
    assert found.epochs >= 1 / found.tol


def test_the_search_gives_up_at_the_most_epochs_there_are():
    attempt, runs = fake(lambda tol: tol, epochs_of=lambda tol: 1 / tol)
    found = calibrate(attempt, 1e-6, 30.0, 1000)
    assert found.is_capped
    assert max(epochs for _, epochs in runs) == 1000


def test_the_search_gives_up_when_a_run_takes_too_long():
    attempt, runs = fake(lambda tol: 1.0, seconds=31.0)
    assert calibrate(attempt, 1e-3, 30.0, 1000).gap > 1e-3
    assert len(runs) == 1


def test_the_search_ends_where_no_tolerance_helps():
    attempt, _ = fake(lambda tol: float("nan"))
    assert not calibrate(attempt, 1e-3, 30.0, 1000).gap <= 1e-3


def test_what_is_printed_below_python_is_read():
    result, text = call_and_read(lambda: os.write(1, b"below"))
    assert (result, text) == (5, "below")


@pytest.mark.parametrize("name", list(LINEAR))
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_a_contender_solves_our_problem_and_shows_a_true_dual_value(name, C):
    peer = LINEAR[name]
    if peer.version() is None:
        pytest.skip(f"{peer.package} is not installed")
    X, y = zipf(300, 80, 8)
    y = 2 * y - 1
    optimum = LinearSVC(C=C, tol=1e-9, fit_intercept=False).fit(X, y).certificate_
    data = peer.prepare(X, y)
    found = calibrate(lambda tol, epochs: run_once(peer, *data, C, tol, epochs), 1e-2, 30.0, peer.most_epochs)
    assert -1e-9 <= found.gap <= 1e-2
    model, printed = call_and_read(lambda: peer.train(*data, C, found.tol, found.epochs, loud=True))
    answer = peer.read(model, printed, y, C)
    assert answer.dual <= optimum.primal * (1 + 1e-6)
    assert hinge_objective(X, y, answer.w, C) >= optimum.dual * (1 - 1e-9)


def test_the_relative_gap_is_the_certificates():
    X, y = zipf(100, 30, 5)
    y = 2 * y - 1
    model = LinearSVC(tol=1e-2, fit_intercept=False).fit(X, y)
    proof = model.certificate_
    assert relative_gap(hinge_objective(X, y, model.coef_[0], 1.0), proof.dual) == pytest.approx(proof.relative_gap)


@pytest.mark.parametrize("is_stream", [False, True])
def test_the_online_learners_solve_the_same_problem(is_stream):
    X, y = zipf(400, 50, 6)
    y = 2 * y - 1
    best = LinearSVC(C=Regularization.pegasos(0.1), fit_intercept=False, tol=1e-9).fit(X, y).certificate_.dual * 0.1
    for learner in online._learners(is_stream):
        model, seconds = learner.train(X, y, 0.1, 20)
        assert -1e-9 <= online._excess(model, X, y, 0.1, best) < 0.05
        assert seconds > 0


def test_options_are_read_and_unknown_names_refused():
    assert parse_cases("1:1e-3, 100:1e-6") == ((1.0, 1e-3), (100.0, 1e-6))
    assert parse_names("a9a, covtype") == ("a9a", "covtype")
    assert case_name(100.0, 1e-6) == "C=100, gap 1e-6"
    assert select((), ("a", "b")) == ("a", "b")
    with pytest.raises(SystemExit, match="unknown: c"):
        select(("c",), ("a", "b"))
    with pytest.raises(ArgumentTypeError, match="C:gap"):
        parse_cases("1")


def test_a_mean_with_a_gap_not_reached_is_a_lower_bound():
    table = means([row("Snap ML", 4.0), row("Snap ML", 1.0, data="mnist", reached=False)])
    assert table == [{"contender": "Snap ML", "C=1, gap 1e-3": "≥ 2.00"}]


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([row("scikit-learn", 1.1), row("scikit-learn", 2.0, data="mnist")], "met"),
        ([row("scikit-learn", 0.9), row("scikit-learn", 2.0, data="mnist")], "not met: a9a"),
        ([row("scikit-learn", 0.9, reached=False)], "not shown: a9a"),
        ([row("scikit-learn", 2.0, our_gap=1e-2)], "not met: our gap is too large on a9a"),
        ([row("Snap ML", 2.0)], "not run"),
    ],
)
def test_a_floor_is_judged(rows, verdict):
    first = next(
        line for line in verdicts(rows, LINEAR_FLOORS) if line["against"] == "scikit-learn" and line["case"] == "C=1, gap 1e-3"
    )
    assert first["verdict"] == verdict


def test_saved_rows_come_back_and_can_be_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    rows = [row("scikit-learn", 2.5), row("LIBLINEAR", 0.5, C=100.0, reached=False)]
    missing = row("ReHLine", "") | {"seconds": "not installed"}
    results.save("some", [*rows, missing])
    assert results.load("some") == [*rows, missing]
    assert results.load("none") == []
    pytest.importorskip("matplotlib")
    assert picture.draw(results.load("some"), tmp_path / "some.png")
    assert (tmp_path / "some.png").read_bytes().startswith(b"\x89PNG")


# ------------------------------------------------------------------------------------------------------ kernel suites

SMALL = datasets.clusters(150, 3, 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gap_of_a_stored_model_is_that_of_certify(n_classes):
    X, y = datasets.clusters(120, 3, n_classes)
    model = SVC(5.0, solver="interior_point").fit(X, y)
    proof = certify(model, X, y)
    assert certified_gap(model, X, y, 5.0) == pytest.approx(getattr(proof, "worst", proof).relative_gap, abs=1e-12)


@pytest.mark.parametrize("name", list(KERNEL))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_kernel_contender_solves_our_problem(name, n_classes):
    peer = KERNEL[name]
    if peer.version() is None:
        pytest.skip(f"{peer.package} is not installed")
    X, y = datasets.clusters(150, 3, n_classes)
    loose, tight = (kernel_contenders.run_once(peer, X, y, 1.0, tol, 10**6) for tol in (1.0, 1e-5))
    assert 0 <= tight.gap <= 1e-4 < loose.gap
    assert not tight.is_capped


def test_a_limit_of_iterations_that_ends_a_fit_is_noticed():
    trial = kernel_contenders.run_once(KERNEL["scikit-learn"], *SMALL, 1.0, 1e-6, 10)
    assert trial.is_capped
    assert trial.gap == np.inf


def test_the_tasks_of_the_kernel_suite_name_their_case():
    first, second = kernel.tasks(("letter",), Options(rows=130))
    assert (first.C, first.gap, first.notes["case"]) == (10.0, 1e-3, OWN_C)
    assert (second.C, second.gap, second.notes["case"]) == (100.0, 1e-5, "C=100, gap 1e-5")
    assert first.X.shape == (130, 16)
    (only,) = kernel.tasks(("letter_a",), Options(rows=130, cases=((10.0, 1e-3),)))
    assert only.notes["case"] == OWN_C


def test_a_race_has_a_row_for_each_contender_and_its_floors_are_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(datasets, "kernel_set", lambda name, n=None: SMALL)
    kernel.run(Options(repeats=1, data=("letter",), contenders=("scikit-learn",), cases=((10.0, 1e-3),)))
    (found,) = results.load("kernel_part")
    assert found["contender"] == "scikit-learn"
    assert found["reached"]
    assert found["its gap"] <= 1e-3
    lines = verdicts([found], KERNEL_FLOORS)
    assert [line["sets"] for line in lines if line["against"] == "scikit-learn"] == [1, 1]


def test_predictions_of_all_contenders_are_compared():
    X, y = SMALL
    models = {name: SVC().fit(X.astype(kind), y) for name, kind in (("ours", float), ("ours, float32", np.float32))}
    rows = kernel_prediction.measure("small", models, X, repeats=1)
    assert [row["contender"] for row in rows] == ["ours", "ours, float32"]
    assert rows[0]["ratio"] == 1.0
    assert rows[1]["other labels"] < 0.02  # another fit: both are as near to the optimum as they were asked to be


def test_growth_has_a_row_for_each_size_and_two_slopes():
    rows = kernel_growth.along("samples", [(60, 0.7), (120, 0.7)], 1.0, 1e-3, repeats=1)
    assert [row["samples"] for row in rows] == [60, 120]
    assert np.isfinite([value for key, value in rows[0].items() if key.startswith("slope")]).all()


def test_the_share_of_the_certificate_counts_the_scores_that_a_solver_makes_for_it(monkeypatch):
    X, y = datasets.clusters(300, 5, 2)
    scored = smo.scored

    def slow(*arguments):
        time.sleep(0.2)
        return scored(*arguments)

    monkeypatch.setattr(smo, "scored", slow)
    row = proof_share.measure(partial(SVC, solver="smo"), X, y, 1)
    assert row["proof share"] > 0.2 / row["seconds"] * 0.9


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the mark cannot be reset")
def test_the_peak_of_a_call_holds_what_it_allocates():
    block = np.ones(4 * 2**20)
    # what other threads give back meanwhile lowers a peak
    peak = max(peak_megabytes(block.copy) for _ in range(3))
    assert peak == pytest.approx(data_megabytes(block), rel=0.3)


# -------------------------------------------------------------------------------------------------------- small suites


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_penalized_bias_is_judged_on_the_same_problem_as_ours(n_classes):
    X, y = datasets.clusters(150, 3, n_classes)
    peer = small_contenders.PenalizedBias()
    loose, tight = (small_contenders.run_once(peer, X, y, 1.0, tol, 10**6) for tol in (1.0, 1e-6))
    assert 0 <= tight.gap <= 1e-5 < loose.gap
    ours = LinearSVC(intercept_scaling=1.0, tol=1e-9).fit(X, y)
    theirs = peer.train(X, y, 1.0, 1e-8, 10**6)
    np.testing.assert_allclose(
        np.column_stack([theirs.coef_, theirs.intercept_]), np.column_stack([ours.coef_, ours.intercept_]), atol=1e-3
    )


def test_short_calls_are_repeated_in_turn_and_long_ones_are_not(monkeypatch):
    monkeypatch.setattr(timing, "EACH_SECONDS", 0.02)
    order = []
    calls = {"a": lambda: order.append("a") or time.sleep(0.002), "b": lambda: order.append("b") or time.sleep(0.004)}
    seconds = timing.in_turn(calls, 3)
    assert order[:4] == ["a", "b", "a", "b"]
    assert len(seconds["a"]) == len(seconds["b"]) >= 3
    assert sum(seconds["a"]) >= 0.02
    monkeypatch.setattr(timing, "MOST_SECONDS", 0.0)
    assert len(timing.in_turn(calls, 50)["a"]) == timing.FEWEST_RUNS


@pytest.mark.parametrize("name", list(small_tables.TABLES))
def test_a_small_table_has_the_shape_that_it_says(name, monkeypatch):
    monkeypatch.setattr(datasets, "SHARED", Path("nowhere"))
    X, y = small_tables.table(name)
    found = small_tables.TABLES[name]
    assert X.shape == (found.n, found.d)
    assert len(set(y)) == found.n_classes
    assert np.abs(X).max() <= 30
    assert small_tables.half(name) == ("n-z" if name in ("wine", "satimage", "sonar") else "a-m")


def test_small_fits_predictions_and_searches_are_measured_and_summarized(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(timing, "EACH_SECONDS", 0.0)
    monkeypatch.setattr(small, "COSTS", (1.0,))
    points = ({"C": 1.0}, {"C": 10.0})
    monkeypatch.setattr(small, "MODELS", tuple(replace(model, points=points, grids=("iris",)) for model in small.MODELS))
    monkeypatch.setattr(small, "JOBS", small.JOBS[:1])
    small.run(Options(repeats=1, data=("iris",)))
    rows = results.load("small_part")
    linear = "LinearSVC, penalized bias"
    assert {row["what"] for row in rows if row["model"] == "SVC"} == {"fit", "predict 1", "predict 100", "grid"}
    assert {row["what"] for row in rows if row["model"] == linear} == {"fit", "predict 1", "predict 100", "grid"}
    assert {row["what"] for row in rows if row["model"] == "LinearSVC, free bias"} == {"fit", "grid"}
    assert all(row["our gap"] <= 1e-3 and row["its gap"] <= 1e-3 and row["reached"] for row in rows)
    assert [line["of"] for line in results.load("small_summary_part")] == [1.0] * len(rows)


def measured(ratio, seconds=1.0, data="iris", our_gap=1e-4):
    half = small_tables.half(data)
    return {"data": data, "half": half, "model": "SVC", "what": "fit", "seconds": seconds, "ratio": ratio, "our gap": our_gap}


@pytest.mark.parametrize(
    ("row", "is_met"),
    [
        (measured(1.0), True),
        (measured(0.9), False),
        (measured(0.9, seconds=1e-4), True),
        (measured(0.7, seconds=1e-4), False),
        (measured(2.0, our_gap=2e-3), False),
    ],
)
def test_the_floor_is_lower_where_a_call_takes_next_to_nothing(row, is_met):
    assert small.is_met(row) == is_met


def test_the_summary_names_the_lowest_ratio_and_keeps_the_halves_apart():
    (line,) = small.summarize([measured(4.0), measured(0.25, data="wine")])
    assert (line["mean"], line["mean a-m"], line["mean n-z"]) == pytest.approx((1.0, 4.0, 0.25))
    assert (line["lowest"], line["on"], line["below the floor"], line["of"]) == (0.25, "wine", 1, 2)


def test_cliffs_that_lead_up_and_down_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "EACH_SECONDS", 0.0)

    class Cliff(LinearSVC):
        def fit(self, X, y):
            time.sleep(0.3 if len(y) == 100 else 0.0)
            return super().fit(X, y)

    monkeypatch.setitem(small_growth.MODELS, "LinearSVC", Cliff)
    rows = small_growth.along("LinearSVC", *datasets.clusters(150, 3, 2), (50, 75, 100, 150), repeats=1)
    assert [row["rows"] for row in rows] == [50, 75, 100, 150]
    assert {row["at"] for row in rows} == {100}
    assert rows[0]["largest step"] == rows[2]["step"] > 2
    assert rows[0]["over a larger size"] == rows[2]["seconds"] / rows[3]["seconds"] > 2
    pytest.importorskip("matplotlib")
    assert small_growth.draw([{"data": "clusters", **row} for row in rows], tmp_path / "small_growth.png")


# ------------------------------------------------------------------------------------------------------ leave-one-out


def test_leave_one_out_is_measured_beside_folds_retrainings_and_estimates(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(loo_sets, "is_real", lambda name: False)
    loo.run(Options(repeats=1, data=("reuters:earn", "german"), rows=150))
    rows = results.load("loo_part")
    assert [row["bias"] for row in rows] == ["free", "penalized", "none", "free"]
    assert all("synthetic" in row["data"] for row in rows)
    assert all(row["n"] == 150 for row in rows)
    assert rows[2]["ξα %"] >= rows[2]["error %"]  # without a bias the lemma is a theorem


def test_the_experiment_of_the_lecture_has_a_row_for_each_cost_and_its_bound_is_above(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(reuters_loo, "is_real", lambda name: False)
    monkeypatch.setattr(reuters_loo, "SPLITS", 2)
    monkeypatch.setattr(reuters_loo, "COSTS", (0.05, 0.5))
    reuters_loo.run(Options(data=("reuters:earn",), rows=120))
    rows = results.load("reuters_loo_part")
    assert [row["C"] for row in rows] == [0.05, 0.5]
    for row in rows:
        assert row["n"] == 60
        assert "synthetic" in row["data"]
        assert row["differ, retrained"] == 0
        assert row["his error %"] <= row["bound %"]
        assert row["published retrained %"] == 0.58


def test_the_two_halves_of_a_split_share_no_document_and_the_share_of_the_topic():
    X, y = reuters_loo.zipf(200, 50, 5)
    for split in reuters_loo.splits(X, y):
        assert split.X.shape[0] == split.X_validation.shape[0] == 100
        assert abs(split.y.sum() - split.y_validation.sum()) <= 1
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    rows = reuters_loo.unit_rows(scipy.sparse.csr_matrix(counts)).toarray()
    wanted = counts[0] * np.log(3 / np.array([1, 2, 1]))
    np.testing.assert_allclose(rows[0], wanted / np.linalg.norm(wanted))
    assert rows[1].tolist() == [0.0, 1.0, 0.0]
    assert not rows[2].any()


def test_capacity_is_measured_for_both_kinds_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(loo_sets, "is_real", lambda name: False)
    reuters_capacity.run(Options(data=("earn",), rows=150))
    rows = results.load("reuters_capacity_part")
    assert len(rows) == 4
    assert all(row["ρ²B²"] == pytest.approx(row["ρ²"] * row["B²"]) for row in rows)
