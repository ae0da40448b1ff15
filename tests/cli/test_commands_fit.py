"""``maxmargin fit``: what is trained, saved, written and said."""

import numpy as np
import pytest

from maxmargin import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron, Regularization, certify, load
from maxmargin.io import read_data
from tests.cli.conftest import two_clouds


def test_a_model_is_trained_proved_and_saved(call, flowers):
    done = call("fit", flowers, "-o", "m.maxmargin", "-C", "10", code=0)
    assert "proved to be within a relative" in done.out
    assert "Model: m.maxmargin" in done.out
    assert done.err == ""
    model = load("m.maxmargin")
    data = read_data(flowers)
    assert type(model) is SVC
    assert model.C == 10
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.feature_names_in_.tolist() == list(data.feature_names)
    assert certify(model, data.X, data.y).worst.relative_gap <= 1e-3


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["-e", "svc", "-k", "poly", "-d", "2", "--gamma", "0.5", "--coef0", "1"],
         SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0)),
        (["-e", "linear", "--loss", "squared_hinge", "--no-intercept"], LinearSVC(loss="squared_hinge", fit_intercept=False)),
        (["--penalty", "l1", "-C", "mean:60"], LinearSVC(penalty="l1", C=Regularization.mean(60.0))),
        (["-e", "hard-margin", "-k", "rbf", "-g", "2"], HardMarginSVC(kernel="rbf", gamma=2)),
        (["-e", "pegasos", "-C", "pegasos:0.1", "--set", "method=sgd", "--set", "average=true"],
         PegasosSVC(C=Regularization.pegasos(0.1), method="sgd", average=True)),
        (["-e", "perceptron", "--set", "output=averaged", "-k", "rbf", "-g", "2", "--set", "eta=0.5"],
         Perceptron(output="averaged", kernel="rbf", gamma=2, eta=0.5)),
        (["--tol", "1e-6", "-j", "1", "--solver", "interior_point", "-s", "random_state=3", "-w", "-1=2,1=0.5"],
         SVC(tol=1e-6, n_jobs=1, solver="interior_point", random_state=3, class_weight={-1: 2.0, 1: 0.5})),
        (["-w", "balanced", "--max-iter", "100000", "--max-seconds", "100", "-s", "cache-size=50"],
         SVC(class_weight="balanced", max_iter=100000, max_seconds=100.0, cache_size=50)),
    ],
)  # fmt: skip
def test_every_estimator_and_parameter_can_be_reached(call, clouds, options, wanted):
    call("fit", clouds, "-o", "m.maxmargin", "-q", *options, code=0)
    model = load("m.maxmargin")
    assert type(model) is type(wanted)
    assert model.get_params() == wanted.get_params()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kernel", "foo"], "kernel='foo' is unknown. Use one of 'linear', 'poly'"),
        (["-e", "forest"], "one of auto, svc, linear"),
        (["-e", "perceptron", "--tol", "1"], "Perceptron has no parameter tol; it has coef0, "),
        (["-C", "0"], "C = 0 where a number > 0 is wanted"),
        (["-C", "lasso:1"], "Use one of sum, mean, tikhonov"),
        (["--tol", "much"], "--tol"),
        (["--tol", "-1"], "must be a number ≥ 0, got -1.0"),
        (["--set", "kernel"], "NAME=VALUE"),
        (["--set", "colour=3"], "SVC has no parameter colour"),
        (["--set", "C=3", "-C", "2"], "C was given twice"),
        (["--class-weight", "7=3"], "the labels are -1, 1"),
        (["--class-weight", "1"], "label=weight"),
        (["--solver", "magic"], "'smo'"),
    ],
)
def test_wrong_usage_names_the_choices(call, clouds, options, words):
    done = call("fit", clouds, "-o", "m.maxmargin", *options, code=2)
    assert done.is_one_line
    assert words in done.err
    assert done.err.endswith("See maxmargin fit --help.\n")
    assert not (clouds.parent / "m.maxmargin").exists()


def test_wide_data_get_a_linear_machine_and_it_says_why(call, tmp_path):
    (tmp_path / "wide.svm").write_text("1 1:1 6000:1\n-1 2:1\n1 1:2\n-1 2:3\n")
    done = call("fit", "wide.svm", "-o", "m.maxmargin", code=0)
    assert "LinearSVC was chosen, because there are 6000 features" in done.err
    assert type(load("m.maxmargin")) is LinearSVC
    assert call("fit", "wide.svm", "--kernel", "rbf", code=0).err == ""


def test_alphas_are_signed_dual_variables_in_training_order(call, clouds):
    call("fit", clouds, "-k", "linear", "-o", "m.maxmargin", "--alphas", "alphas.txt", code=0)
    X, y = two_clouds()
    beta = np.array([float(line) for line in (clouds.parent / "alphas.txt").read_text().splitlines()])
    assert beta.shape == y.shape
    assert (beta * y >= 0).all()
    assert (beta * y <= 1 + 1e-12).all()
    assert abs(beta.sum()) < 1e-9
    np.testing.assert_allclose(X.T @ beta, load("m.maxmargin").coef_.toarray()[0], atol=1e-9)


def test_alphas_of_several_classes_have_a_column_a_pair(call, flowers):
    call("fit", flowers, "-a", "alphas.txt", "-q", code=0)
    beta = np.loadtxt(flowers.parent / "alphas.txt")
    y = read_data(flowers).y
    assert beta.shape == (len(y), 3)
    assert (beta[y == "setosa", 2] == 0).all()
    assert (beta[y == "setosa", :2] >= 0).all()
    assert (beta[y == "virginica", 1:] <= 0).all()
    np.testing.assert_allclose(beta.sum(axis=0), 0, atol=1e-9)


def test_a_budget_that_runs_out_is_exit_code_3_and_the_model_is_saved(call, tmp_path):
    np.savez(tmp_path / "d.npz", **dict(zip("Xy", two_clouds(700, 6), strict=True)))
    done = call("fit", "d.npz", "--tol", "1e-9", "--max-iter", "1", "-o", "m.maxmargin", code=3)
    assert "The budget of iterations ran out first" in done.err
    assert "Not certified. This is the best model so far; it was saved to m.maxmargin" in done.err
    assert done.out.splitlines()[2].startswith("Not certified: the gap is ")
    found = call("fit", "d.npz", "--tol", "1e-9", "--max-iter", "1", "--json", code=3).json
    assert (found["certified"], found["tol"], found["data"], found["exit_code"]) == (False, 1e-9, None, 3)
    assert load("m.maxmargin").certificate_.relative_gap > 1e-9


def test_a_perceptron_says_its_updates(call, clouds, flowers, tmp_path):
    done = call("fit", flowers, "-e", "perceptron", "--max-iter", "3", code=3)
    assert "1 of 3 classes are separated from the rest" in done.out
    (tmp_path / "easy.csv").write_text("0,no\n1,no\n3,yes\n4,yes\n")
    done = call("fit", "easy.csv", "-e", "perceptron", code=0)
    assert "updates in" in done.out
    assert "Separable" in done.out
    done = call("fit", clouds, "-e", "perceptron", "--max-iter", "2", "--json", code=3)
    assert done.json["epochs"] == 2
    assert done.json["proofs"] == []
    assert done.json["certified"] is False
    assert "Not certified" not in done.err


def test_json_tells_everything(call, clouds):
    found = call("fit", clouds, "-C", "inf", "-k", "rbf", "-g", "5", "--json", "-o", "m.maxmargin", code=0).json
    assert found["estimator"] == "SVC"
    assert found["parameters"]["C"] == "inf"
    assert found["status"] == "SOLVED"
    assert found["saved"] == "m.maxmargin"
    assert (found["samples"], found["features"]) == (60, 4)
    assert found["proofs"][0]["problem"] == "1 against -1"
    assert found["proofs"][0]["groups"]["inside"] == 0
    assert found["relative_gap"] <= 1e-3
    assert (found["certified"], found["tol"], found["data"]) == (True, 1e-3, None)
    assert found["rounding"] >= 0


def test_quiet_is_quiet(call, clouds):
    done = call("fit", clouds, "-q", code=0)
    assert (done.out, done.err) == ("", "")


@pytest.mark.parametrize("suffix", ["svmlight", "libsvm"])
def test_a_model_may_be_saved_for_others(call, clouds, suffix):
    call("fit", clouds, "-o", f"m.{suffix}", code=0)
    mine = call("predict", f"m.{suffix}", clouds, code=0).out
    call("fit", clouds, "-o", "m.maxmargin", code=0)
    assert call("predict", "m.maxmargin", clouds, code=0).out == mine


def test_an_interrupt_without_a_place_keeps_nothing_and_says_so(call, clouds, monkeypatch):
    whole = SVC.fit

    def interrupted(self, X, y):
        whole(self, X, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(SVC, "fit", interrupted)
    done = call("fit", clouds, code=130)
    assert "it was not saved, because -o was not given" in done.err
    assert "proved to be within" in " ".join(done.out.split())


def test_an_interrupt_before_there_is_a_model_writes_nothing(call, clouds, monkeypatch):
    def interrupted(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(SVC, "fit", interrupted)
    done = call("fit", clouds, "-o", "m.maxmargin", code=130)
    assert done.err == "maxmargin: Interrupted before there was a model; nothing was written.\n"
    assert not (clouds.parent / "m.maxmargin").exists()
