"""What `fit` takes and refuses, lazy predictions, budgets and watching."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'maxmargin[dask]'")

import dask.array as da
import dask.dataframe as dd
import pandas as pd

import maxmargin.distributed
from maxmargin import ConvergenceWarning, InvalidInputError, MissingExtraError, NotSupportedError, certify
from maxmargin import LinearSVC as OnOneMachine
from maxmargin.distributed import LinearSVC
from tests.distributed.collections_of import dask_array, noisy, rows_of, wide


@pytest.fixture(scope="module")
def data():
    return noisy(300, 4, seed=1)


@pytest.fixture(scope="module")
def expected(data):
    return OnOneMachine(tol=1e-8).fit(*data)


def frame_of(X, y):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return frame.assign(label=np.where(y == 1, "yes", "no"), weight=1.0)


def test_dataframes_by_column_or_by_series(data, expected):
    frame = dd.from_pandas(frame_of(*data), npartitions=3)
    model = LinearSVC(tol=1e-8).fit(frame, "label", "weight")
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    features = frame[["a", "b", "c", "d"]]
    series = LinearSVC(tol=1e-8).fit(features, frame["label"])
    np.testing.assert_allclose(series.coef_, model.coef_, atol=1e-6)
    labels = series.predict(features)
    assert isinstance(labels, da.Array)
    assert (labels.compute() == series.predict(frame_of(*data)[["a", "b", "c", "d"]])).all()


@pytest.mark.parametrize("kind", ["npz", "parquet", "csv"])
def test_files_of_each_format(data, expected, tmp_path, kind):
    paths = []
    for i, (X, y) in enumerate(zip(rows_of(data[0], 3), rows_of(data[1], 3), strict=True)):
        paths.append(tmp_path / f"{i}.{kind}")
        frame = frame_of(X, y).drop(columns="weight")
        if kind == "npz":
            np.savez(paths[-1], X=X, y=frame["label"].to_numpy().astype(str))
        elif kind == "parquet":
            frame.to_parquet(paths[-1])
        else:
            frame.to_csv(paths[-1], index=False)
    model = LinearSVC(tol=1e-8).fit(paths)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    weighed = LinearSVC(tol=1e-8).fit(paths, sample_weight=[np.full(100, 2.0)] * 3)
    assert weighed.certificate_.primal > model.certificate_.primal


def test_ordinary_arrays_are_one_partition(data, expected):
    model = LinearSVC(tol=1e-8).fit(*data)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    assert model.certificate_.relative_gap <= 1e-8


def test_predictions_are_lazy_and_those_of_one_machine(data):
    X, y = wide(n=90)
    for classes in (y, np.arange(90) % 3):
        model = LinearSVC(tol=1e-2).fit(dask_array(X, 3), dask_array(classes, 3))
        lazy = model.decision_function(dask_array(X, 3))
        assert isinstance(lazy, da.Array)
        assert lazy.shape == ((90,) if model.coef_.shape[0] == 1 else (90, 3))
        np.testing.assert_allclose(lazy.compute(), model.decision_function(X))
        np.testing.assert_array_equal(model.predict(dask_array(X, 3)).compute(), model.predict(X))
        assert model.score(X, classes) > 0.5


def test_columns_may_be_cut_too(data):
    X = da.from_array(data[0], chunks=(100, 2))
    model = LinearSVC().fit(X, da.from_array(data[1], chunks=150))
    assert model.predict(X).compute().shape == (300,)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (lambda X, y: (X, y[:-1]), "X has 300 samples but y has 299"),
        (lambda X, y: (X, y.compute()), "y must be one too"),
        (lambda X, y: (X.compute(), y), "Pass both of them"),
        (lambda X, y: (X, 0 * y), "got 1 class"),
        (lambda X, y: (X, y, 0.0 * y), "at least one non-zero"),
        (lambda X, y: (X, y, -1.0 * y), "Negative values"),
        (lambda X, y: (X, y, 1.0 * y), "No sample of class 0"),
        (lambda X, y: (da.where(X > 2, np.nan, X), y), r"Partition \d+ .*NaN"),
        (lambda X, y: (X, X[:, 0]), r"Partition \d+ .*continuous"),
        (lambda X, y: (X[:, 0], y), "two dimensions"),
    ],
)
def test_bad_input_is_refused_with_words(data, arguments, words):
    X, y = dask_array(data[0], 3), dask_array(data[1], 3)
    model = LinearSVC()
    with pytest.raises(InvalidInputError, match=words):
        model.fit(*arguments(X, y))
    assert not hasattr(model, "classes_"), "a fit that failed left something behind"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "ramp"}, "loss must be one of"),
        ({"C": np.inf}, "hard margin"),
        ({"tol": -1}, "tol"),
        ({"n_blocks": 0}, "n_blocks"),
        ({"keep": "yes"}, "keep"),
        ({"fit_intercept": False, "intercept_scaling": 1.0}, "no intercept"),
        ({"max_iter": -2}, "max_iter"),
    ],
)
def test_bad_parameters_are_refused(data, settings, words):
    with pytest.raises(InvalidInputError, match=words):
        LinearSVC(**settings).fit(*data)


def test_a_budget_that_runs_out_leaves_the_best_model_and_a_warning():
    X, y = wide(n=300)
    model = LinearSVC(max_iter=2, tol=1e-8, n_blocks=2)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(dask_array(X, 2), dask_array(y, 2))
    assert 0 < model.certificate_.relative_gap <= 1.0
    assert model.status_.name == "ITERATION_BUDGET"


def test_verbose_tells_the_certified_gap(data, capfd):
    LinearSVC(verbose=True).fit(*data)
    assert "certified" in capfd.readouterr().err


def test_models_are_cloned_and_pickled(data):
    model = LinearSVC(C=2.0, n_blocks=2).fit(*data)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))
    assert clone(model).get_params() == model.get_params()


def test_what_needs_dual_variables_is_refused_with_words(data):
    model = LinearSVC().fit(*data)
    with pytest.raises(NotSupportedError, match="no dual variables"):
        certify(model, *data)


def test_float32_data_stay_so():
    X, y = noisy(200, 3)
    single = X.astype(np.float32)
    model = LinearSVC(tol=1e-6).fit(dask_array(single, 2), dask_array(y, 2))
    best = OnOneMachine(tol=1e-9).fit(single, y).certificate_
    assert best.dual <= model.certificate_.primal * (1 + 1e-9)
    sparse = LinearSVC(tol=1e-6).fit(dask_array(sp.csr_array(single), 2), dask_array(y, 2))
    assert sparse.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-5)


def test_without_dask_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(maxmargin.distributed, "find_spec", lambda name: None)
    monkeypatch.delitem(vars(maxmargin.distributed), "LinearSVC", raising=False)
    with pytest.raises(MissingExtraError, match=r"maxmargin\[dask\]"):
        _ = maxmargin.distributed.LinearSVC
