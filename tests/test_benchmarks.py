"""The benchmarks' own arithmetic: means, slopes, the search for a tolerance, verdicts, the picture."""

import os
import sys
from argparse import ArgumentTypeError

import numpy as np
import pytest

from benchmarks import online, picture, results
from benchmarks.calibration import Trial, calibrate, hinge_objective, relative_gap, run_once
from benchmarks.capture import call_and_read
from benchmarks.contenders import LINEAR
from benchmarks.datasets import zipf
from benchmarks.linear_growth import slope
from benchmarks.options import case_name, parse_cases, parse_names, select
from benchmarks.summary import geometric_mean, means, verdicts
from maxmargin import LinearSVC, Regularization

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
        assert -1e-9 <= online._excess(learner.train(X, y, 0.1, 20), X, y, 0.1, best) < 0.05


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
        line for line in verdicts(rows) if line["against"] == "scikit-learn" and line["case"] == "C=1, gap 1e-3"
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
