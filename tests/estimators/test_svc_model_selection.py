"""HardMarginSVC among scikit-learn's tools: clone, pickle, pipelines, searches."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from maxmargin import HardMarginSVC, certify
from maxmargin.kernels import RBF

IRIS = load_iris()
X, Y = IRIS.data[IRIS.target < 2], IRIS.target[IRIS.target < 2]


def test_parameters_are_what_was_given():
    kernel = RBF(gamma=0.5)
    model = HardMarginSVC(kernel=kernel, tol=1e-4, break_ties=True)
    assert model.get_params()["kernel"] is kernel
    assert model.set_params(kernel="poly", degree=2) is model
    assert (model.kernel, model.degree, model.tol, model.break_ties) == ("poly", 2, 1e-4, True)
    with pytest.raises(ValueError, match="Invalid parameter 'C'"):
        model.set_params(C=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'C'"):
        HardMarginSVC(C=1.0)


def test_a_clone_has_the_parameters_and_nothing_else():
    model = HardMarginSVC(kernel=RBF(gamma=0.5), tol=1e-4).fit(X, Y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not [name for name in vars(twin) if name.endswith("_")]


@pytest.mark.parametrize("move", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("several", [False, True])
def test_a_pickled_model_is_the_same_model(move, kernel, several):
    data, labels = (IRIS.data, IRIS.target_names[IRIS.target]) if several else (X, Y)
    kernel, gamma = ("rbf", 2.0) if several else (kernel, 0.5)
    model = HardMarginSVC(kernel=kernel, gamma=gamma).fit(data, labels)
    twin = move(model)
    np.testing.assert_array_equal(twin.decision_function(data), model.decision_function(data))
    np.testing.assert_array_equal(twin.predict(data), model.predict(data))
    assert twin.certificate_ == model.certificate_
    assert certify(twin, data, labels) == model.certificate_
    assert twin.status_ == model.status_
    assert twin.trace_ == model.trace_
    if several:
        assert twin.certificate_.worst == model.certificate_.worst


def test_it_works_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), HardMarginSVC()).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(pipeline[-1].coef_, HardMarginSVC().fit(scaled, Y).coef_)
    assert pipeline.score(X, Y) == 1.0
    assert is_classifier(pipeline)


def test_set_output_hands_it_named_columns():
    frame = pd.DataFrame(X, columns=IRIS.feature_names)
    pipeline = make_pipeline(StandardScaler(), HardMarginSVC()).set_output(transform="pandas").fit(frame, Y)
    assert list(pipeline[-1].feature_names_in_) == IRIS.feature_names
    np.testing.assert_array_equal(pipeline.predict(frame), Y)


def test_a_grid_search_finds_the_kernel_that_separates():
    grid = {"kernel": ["linear", "rbf"], "gamma": [0.5, 2.0], "fit_intercept": [True, False]}
    search = GridSearchCV(HardMarginSVC(), grid, cv=3, error_score="raise").fit(X, Y)
    assert search.best_score_ == 1.0
    assert search.best_estimator_.certificate_.relative_gap <= 1e-6


def test_a_grid_search_steps_over_what_is_not_separable():
    data, labels = IRIS.data[IRIS.target > 0], IRIS.target[IRIS.target > 0]
    search = GridSearchCV(HardMarginSVC(gamma=2.0), {"kernel": ["linear", "rbf"]}, cv=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(data, labels)
    assert any("NotSeparableError" in str(warning.message) for warning in caught)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
    assert search.best_params_ == {"kernel": "rbf"}


def test_a_precomputed_kernel_is_cut_on_both_sides_by_cross_validation():
    K = RBF(gamma=0.5).block(X, X, dtype=np.float64)
    direct = cross_val_score(HardMarginSVC(kernel="rbf", gamma=0.5), X, Y, cv=3, error_score="raise")
    precomputed = cross_val_score(HardMarginSVC(kernel="precomputed"), K, Y, cv=3, error_score="raise")
    np.testing.assert_array_equal(precomputed, direct)


def test_it_can_be_calibrated():
    calibrated = CalibratedClassifierCV(HardMarginSVC(), cv=3).fit(X, Y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    assert calibrated.score(X, Y) == 1.0


def test_one_against_the_rest_is_a_wrapper_away():
    model = OneVsRestClassifier(HardMarginSVC(kernel="rbf", gamma=2.0)).fit(IRIS.data, IRIS.target)
    assert model.score(IRIS.data, IRIS.target) == 1.0


def test_weights_can_be_routed_to_it():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(MaxAbsScaler(), HardMarginSVC().set_fit_request(sample_weight=True))
        weight = np.ones(len(Y))
        weight[:10] = 0
        pipeline.fit(X, Y, sample_weight=weight)
    assert pipeline[-1].support_.min() >= 10
    assert sum(pipeline[-1].certificate_.groups) == len(Y) - 10


def test_it_shows_itself_by_what_differs_from_the_defaults():
    assert repr(HardMarginSVC(kernel="rbf", tol=1e-3)) == "HardMarginSVC(kernel='rbf', tol=0.001)"
    assert "HardMarginSVC" in HardMarginSVC().fit(X, Y)._repr_html_()
