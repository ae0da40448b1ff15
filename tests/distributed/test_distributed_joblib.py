"""Leave-one-out, one-vs-rest and searches for C on joblib's backends, Dask's included."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'maxmargin[dask]'")

import joblib
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier

from distributed import Client, LocalCluster
from maxmargin import LeaveOneOutSearch, LinearSVC, leave_one_out
from tests.distributed.collections_of import noisy


@pytest.fixture(scope="module", params=["dask", "loky"])
def backend(request):
    if request.param == "loky":
        with joblib.parallel_config("loky", n_jobs=2):
            yield request.param
        return
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
        joblib.parallel_config("dask", n_jobs=2),
    ):
        yield request.param


@pytest.fixture(scope="module")
def data():
    return noisy(60, 3, n_classes=3)


def test_one_vs_rest_gives_the_same_model(backend, data):
    with joblib.parallel_config("threading"):
        expected = LinearSVC(tol=1e-8).fit(*data)
    model = LinearSVC(tol=1e-8).fit(*data)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert OneVsRestClassifier(LinearSVC(), n_jobs=2).fit(*data).predict(data[0]).shape == (60,)


def test_leave_one_out_gives_the_same_labels(backend, data):
    with joblib.parallel_config("threading"):
        expected = leave_one_out(LinearSVC(), *data)
    found = leave_one_out(LinearSVC(), *data)
    np.testing.assert_array_equal(found.predictions, expected.predictions)
    assert found.n_retrained == expected.n_retrained
    assert found.is_certain.all()


def test_searches_for_c_find_the_same_c(backend, data):
    Cs = [0.01, 1.0]
    with joblib.parallel_config("threading"):
        expected = LeaveOneOutSearch(LinearSVC(), Cs=Cs).fit(*data)
    search = LeaveOneOutSearch(LinearSVC(), Cs=Cs).fit(*data)
    assert search.best_params_ == expected.best_params_
    grid = GridSearchCV(LinearSVC(), {"C": Cs}, cv=3).fit(*data)
    assert grid.best_params_["C"] in Cs
