"""``maxmargin cv`` and ``search``: scikit-learn's folds, exact leave-one-out, and what is tried."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from maxmargin import SVC, LinearSVC, certify, leave_one_out, load
from maxmargin.cli.validation import GRID
from maxmargin.io import read_data
from tests.cli.conftest import two_clouds


def split(k=5, seed=0):
    return StratifiedKFold(k, shuffle=True, random_state=seed)


def test_cv_is_scikit_learns_cross_validation_of_the_whole_pipeline(call, flowers):
    found = call("cv", flowers, "-k", "4", "--seed", "7", "--scale", "standard", "-C", "3", "--json", code=0).json
    data = read_data(flowers)
    scores = cross_val_score(make_pipeline(StandardScaler(), SVC(C=3)), data.X, data.y, cv=split(4, 7))
    assert [one["accuracy"] for one in found["folds"]] == pytest.approx(scores.tolist())
    assert found["accuracy"] == pytest.approx(scores.mean())
    assert found["spread"] == pytest.approx(scores.std(ddof=1))
    assert sum(one["samples"] for one in found["folds"]) == len(data.y)
    assert all(one["reached"] and one["relative_gap"] <= 1e-3 for one in found["folds"])
    assert (found["estimator"], found["scaler"], found["seed"]) == ("SVC", "StandardScaler()", 7)
    assert found["seconds"] > 0 <= found["compile_seconds"]


def test_cv_shows_the_spread_and_each_fold_on_request(call, clouds):
    done = call("cv", clouds, "-e", "linear", code=0)
    assert "Accuracy: " in done.out
    assert "standard deviation of the folds" in done.out
    assert "right" not in done.out
    assert call("cv", clouds, "-e", "linear", "--per-fold", code=0).out.count("%") == 2 + 5


def test_cv_ends_with_3_where_a_fit_did_not_reach_its_gap(call, clouds):
    done = call("cv", clouds, "-e", "linear", "--solver", "dual_cd", "--tol", "1e-9", "--max-iter", "1", code=3)
    assert "5 of 5 fits did not reach their gap." in done.err


def test_a_perceptron_has_nothing_to_reach(call, clouds):
    found = call("cv", clouds, "-e", "perceptron", "--max-iter", "2", "--json", code=0).json
    assert all(one["relative_gap"] is None for one in found["folds"])


def test_search_by_folds_finds_what_grid_search_finds(call, flowers):
    options = ["--by", "cv", "-k", "3", "--C", "0.1,1,10", "--gamma", "0.01,0.1,scale", "--scale", "minmax"]
    found = call("search", flowers, *options, "--json", code=0).json
    data = read_data(flowers)
    grid = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1, "scale"]}
    twin = GridSearchCV(make_pipeline(MinMaxScaler(), SVC()), grid, cv=split(3)).fit(data.X, data.y)
    assert [one["accuracy"] for one in found["trials"]] == pytest.approx(twin.cv_results_["mean_test_score"].tolist())
    assert [one["spread"] for one in found["trials"]] == pytest.approx(twin.cv_results_["std_test_score"].tolist())
    assert found["best"]["C"] == twin.best_params_["svc__C"]
    assert found["best"]["gamma"] == twin.best_params_["svc__gamma"]
    assert found["seconds"] > 0 <= found["compile_seconds"]


def test_search_by_leave_one_out_tells_the_exact_errors(call, clouds):
    found = call("search", clouds, "--C", "0.1,mean:60", "--gamma", "0.5", "--json", code=0).json
    X, y = two_clouds()
    assert found["by"] == "loo"
    assert [one["C"] for one in found["trials"]] == [0.1, "mean:60"]
    errors = [leave_one_out(SVC(C=C, gamma=0.5), X, y).error for C in (0.1, 1.0)]
    assert [1 - one["accuracy"] for one in found["trials"]] == pytest.approx(errors)


def test_by_default_it_tries_powers_of_2_and_then_closer_around_the_best(call, clouds):
    found = call("search", clouds, "--json", code=0).json
    coarse = len(GRID["C"]) * len(GRID["gamma"])
    first, later = found["trials"][:coarse], found["trials"][coarse:]
    assert {one["C"] for one in first} == {2.0**k for k in GRID["C"]}
    assert {one["gamma"] for one in first} == {2.0**k for k in GRID["gamma"]}
    best = max(first, key=lambda one: one["accuracy"])
    assert 8 <= len(later) <= 16
    assert {np.log2(one["C"] / best["C"]) for one in later[:8]} == {-2, 0, 2}
    assert {np.log2(one["gamma"] / best["gamma"]) for one in later[:8]} == {-2, 0, 2}
    assert len({(one["C"], one["gamma"]) for one in found["trials"]}) == len(found["trials"])
    assert found["best"]["accuracy"] == max(one["accuracy"] for one in found["trials"])
    assert len(call("search", clouds, "--refine", "0", "--json", code=0).json["trials"]) == coarse


def test_the_best_is_trained_on_all_samples_and_saved_with_its_scaling(call, flowers):
    done = call("search", flowers, "-e", "linear", "--scale", "standard", "--C", "0.01,1", "-o", "m.maxmargin", code=0)
    assert "Best: -C 1," in done.out
    assert "Features were scaled once, by all samples." in done.out
    assert "Model: m.maxmargin" in done.out
    model, data = load("m.maxmargin"), read_data(flowers)
    assert type(model[-1]) is LinearSVC
    assert model[-1].C == 1
    assert certify(model[-1], StandardScaler().fit_transform(data.X), data.y).worst.is_certified
    assert "Not saved: use -o MODEL." in call("search", flowers, "-e", "linear", "--C", "1", code=0).out


@pytest.mark.parametrize(
    ("options", "by"),
    [((), "loo"), (("--loss", "ramp"), "cv"), (("-e", "linear", "--penalty", "l1"), "cv"), (("-e", "pegasos"), "cv")],
)
def test_what_has_no_exact_leave_one_out_is_searched_by_folds(call, clouds, options, by):
    gamma = () if "-e" in options else ("--gamma", "0.1")
    assert call("search", clouds, "--C", "1", *gamma, *options, "-q", "--json").json["by"] == by


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cv", "-k", "1"], "--folds must be from 2 to 30"),
        (["cv", "-k", "31"], "--folds must be from 2 to 30"),
        (["search", "--by", "luck"], "--by must be loo or cv"),
        (["search", "--refine", "-1"], "--refine must be 0 or more"),
        (["search", "-C", "1,x"], "Use a positive number"),
        (["search", "-C", "1,0"], "a number > 0 is wanted"),
        (["search", "-g", "-1"], "gamma"),
        (["search", "-e", "linear", "-g", "1"], "LinearSVC has no parameter gamma"),
        (["search", "-e", "perceptron"], "no C, and no γ"),
        (["search", "-s", "max_iter=3"], "exact solutions, without a budget"),
    ],
)
def test_wrong_usage_has_exit_code_2(call, clouds, arguments, words):
    command, *options = arguments
    done = call(command, clouds, *options, code=2)
    assert words in done.err
    assert done.is_one_line
    found = call(command, clouds, *options, "--json", code=2).json
    assert (found["command"], found["exit_code"]) == (command, 2)
    assert words in found["error"]
