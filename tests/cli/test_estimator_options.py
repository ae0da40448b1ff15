"""Options of estimators: what ``--scale`` makes of the data, and defaults that are said."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

import maxmargin
from maxmargin import SVC, LinearSVC, certify, leave_one_out, load
from maxmargin.cli.estimator_options import ESTIMATORS, Budgets, Learning, typed
from maxmargin.io import read_data


def scaled(rows, scaler):
    return scaler.fit_transform(rows)


@pytest.mark.parametrize(
    ("scale", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("unit", Normalizer())]
)
def test_the_scaling_is_a_part_of_the_model(call, flowers, scale, scaler):
    call("fit", flowers, "--scale", scale, "-o", "m.maxmargin", code=0)
    data, model = read_data(flowers), load("m.maxmargin")
    assert type(model[0]) is type(scaler)
    twin = SVC().fit(scaled(data.X, scaler), data.y)
    np.testing.assert_array_equal(model[-1].dual_coef_, twin.dual_coef_)
    labels = call("predict", "m.maxmargin", flowers, "--certified", "-v", code=0).out.splitlines()
    assert [line.split("\t")[0] for line in labels] == twin.predict(scaled(data.X, scaler)).tolist()
    assert call("certify", "m.maxmargin", flowers, "--json", code=0).json["data"] is None
    call("report", "m.maxmargin", flowers, "-o", "page.html", code=0)
    assert list(model.feature_names_in_) == list(data.feature_names)


def test_leave_one_out_takes_raw_data_too(call, flowers):
    found = call("loo", flowers, "--scale", "standard", "--json", code=0).json
    data = read_data(flowers)
    assert found["error"] == leave_one_out(SVC(), scaled(data.X, StandardScaler()), data.y).error
    said = call("loo", flowers, "-e", "linear", "--scale", "standard", "--refit-steps", code=0).out
    assert "left out of StandardScaler and the machine" in " ".join(said.split())


@pytest.mark.parametrize(("scale", "scaler"), [("standard", StandardScaler(with_mean=False)), ("minmax", MaxAbsScaler())])
def test_sparse_data_are_not_shifted_and_a_remark_says_so(call, tmp_path, scale, scaler):
    X = np.zeros((40, 10))
    X[np.arange(40), np.arange(40) % 10] = 1 + np.arange(40) % 3
    dump_svmlight_file(X, np.where(np.arange(40) % 2, 1, -1), str(tmp_path / "a.svm"), zero_based=False)
    done = call("fit", "a.svm", "--scale", scale, "-o", "m.maxmargin", code=0)
    assert "zeros stay zeros" in done.err
    assert repr(load("m.maxmargin")[0]) == repr(scaler)
    call("certify", "m.maxmargin", "a.svm", code=0)


def test_svmlight_data_without_zeros_are_scaled_as_dense_ones(call, clouds):
    done = call("fit", clouds, "--scale", "standard", "-e", "linear", "-o", "m.maxmargin", code=0)
    assert done.err == ""
    data, model = read_data(clouds), load("m.maxmargin")
    assert model[0].with_mean
    twin = LinearSVC().fit(scaled(data.X.toarray(), StandardScaler()), data.y)
    np.testing.assert_allclose(model[-1].coef_, twin.coef_)
    call("certify", "m.maxmargin", clouds, code=0)
    assert certify(model, data.X.toarray(), data.y).is_certified
    assert "labels are right" in call("predict", "m.maxmargin", clouds, code=0).err


def test_an_unknown_scale_is_refused(call, clouds):
    assert "--scale must be one of standard, minmax" in call("fit", clouds, "--scale", "much", code=2).err


@pytest.mark.parametrize("group", [Learning, Budgets])
def test_the_defaults_of_help_are_those_of_the_estimators(group):
    """Each option says "Default: a; name: b.", of the estimators that have the parameter."""
    for parameter, hint in group.__annotations__.items():
        said = hint.__metadata__[0].help.partition("Default: ")[2].rstrip(".")
        for name, kind in ESTIMATORS.items():
            known = getattr(maxmargin, kind)().get_params()
            if parameter not in known or not said:
                continue
            first, *others = said.split("; ")
            special = {one: value for names, _, value in (o.partition(": ") for o in others) for one in names.split(", ")}
            wanted, actual = special.get(name, first), known[parameter]
            if wanted in ("no limit", "those that BLAS may use"):
                assert actual in (None, -1), (parameter, name)
            elif parameter == "class_weight":
                assert actual is None
            elif parameter == "C" and ":" in wanted:
                assert wanted == "pegasos:1e-4"
                assert "None is λ = 1e-4" in " ".join(maxmargin.PegasosSVC.__doc__.split())
            else:
                assert typed(wanted) == actual, (parameter, name)


def test_fit_says_training_accuracy_and_that_nothing_was_saved(call, clouds):
    done = call("fit", clouds, code=0)
    data = read_data(clouds)
    right = int((SVC().fit(data.X, data.y).predict(data.X) == data.y).sum())
    assert f"Training accuracy: {right / 60:.2%} ({right} of 60)" in done.out
    assert done.out.endswith("Not saved: use -o MODEL.\n")
    assert call("fit", clouds, "--json", code=0).json["training_accuracy"] == right / 60


def test_an_interrupted_fit_is_saved_with_its_scaling(call, flowers, monkeypatch):
    whole = SVC.fit

    def interrupted(self, X, y):
        whole(self, X, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(SVC, "fit", interrupted)
    done = call("fit", flowers, "--scale", "standard", "-o", "m.maxmargin", code=130)
    assert "it was saved to m.maxmargin" in done.err
    assert "labels are right" in call("predict", "m.maxmargin", flowers, code=0).err
