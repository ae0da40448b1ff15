"""What holds a machine is opened, in every function that takes a model: certificates are about the rows that the machine saw."""

import numpy as np
import pandas as pd
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

from maxmargin import SVC, LeaveOneOutSearch, LinearSVC, Perceptron, bounds, certify, leave_one_out, report, xi_alpha
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.estimators.wrapped import opened, unwrapped

rng = np.random.default_rng(0)
Y = np.where(np.arange(60) % 2, "yes", "no")
X = (rng.standard_normal((60, 3)) + np.where(Y == "yes", 0.9, -0.9)[:, None]) * [1.0, 30.0, 0.1] + [0.0, 500.0, 3.0]
TEXTS = [f"{'good fine' if label == 'yes' else 'bad poor'} word{k % 7} word{k % 5} thing" for k, label in enumerate(Y)]


class Undersampler:
    """As imbalanced-learn's: fit_resample and no transform."""


def pipelines():
    grid = {"C": [0.1, 1.0]}
    nested = make_pipeline("passthrough", make_pipeline(StandardScaler(), MaxAbsScaler()), make_pipeline(PCA(2), SVC(C=2.0)))
    yield "pipeline", make_pipeline(StandardScaler(), SVC())
    yield "linear", make_pipeline(StandardScaler(), LinearSVC())
    yield "nested", nested
    yield "search of a pipeline", GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}, cv=3)
    yield "pipeline of a search", make_pipeline(StandardScaler(), RandomizedSearchCV(SVC(), grid, n_iter=2, cv=3, random_state=0))
    yield "halving", HalvingGridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}, cv=3)
    yield "our search", make_pipeline(StandardScaler(), LeaveOneOutSearch(SVC(), Cs=[0.1, 1.0]))
    yield "frozen", FrozenEstimator(make_pipeline(StandardScaler(), SVC()).fit(X, Y))
    yield "frozen step", make_pipeline(FrozenEstimator(StandardScaler().fit(X)), SVC())


ALL = {name: model.fit(X, Y) for name, model in pipelines()}


@pytest.mark.parametrize("name", ALL)
def test_every_tool_gives_what_it_gives_for_the_machine_on_its_rows(name):
    model = ALL[name]
    machine, Z = opened(model, X, Y)
    assert (machine.predict(Z) == model.predict(X)).all()
    assert certify(model, X, Y) == certify(machine, Z, Y)
    assert certify(model, X, Y).data is None  # these are the rows of the fit
    assert xi_alpha(model, X, Y).error == xi_alpha(machine, Z, Y).error
    assert leave_one_out(model, X, Y).predictions.tolist() == leave_one_out(machine, Z, Y).predictions.tolist()
    assert bounds.of_model(model, X, Y).keys() == bounds.of_model(machine, Z, Y).keys()
    assert "Before the machine" in report(model, X, Y)


@pytest.mark.parametrize("machine", [SVC(), LinearSVC()])
def test_texts_are_certified_behind_their_vectorizer(machine):
    model = make_pipeline(TfidfVectorizer(), machine).fit(TEXTS, Y)
    found = certify(model, TEXTS, Y)
    assert found.data is None
    assert found.is_certified
    assert "another order" in certify(model, TEXTS[::-1], Y[::-1]).data
    assert "values differ" in certify(model, [f"{text} good" for text in TEXTS], Y).data
    assert "word3" in unwrapped(model).feature_names(None, TEXTS)


def test_rows_that_the_machine_did_not_see_are_told():
    model = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    assert "values differ" in certify(model, 2.0 * X, Y).data
    assert "values differ" in certify(model[-1], X, Y).data


def test_a_step_whose_fit_transform_rounds_otherwise_is_no_other_data():
    model = make_pipeline(PCA(2, svd_solver="full"), SVC()).fit(X, Y)
    assert (model[:-1].transform(X) != clone(model[:-1]).fit_transform(X)).any()
    assert certify(model, X, Y).data is None
    assert "values differ" in certify(model, 2.0 * X, Y).data


def test_a_step_that_gives_training_rows_other_values_is_no_other_data():
    class CrossFitted(StandardScaler):
        def fit_transform(self, X, y=None):
            return 1.1 * self.fit(X).transform(X)

    model = make_pipeline(CrossFitted(), SVC(C=5.0)).fit(X, Y)
    assert certify(model, X, Y).data is None
    assert certify(model, X, Y).is_certified
    assert not certify(model[-1], model[:-1].transform(X), Y).is_certified
    assert "values differ" in certify(model, 2.0 * X, Y).data  # fitted again the copies would give the same rows


def test_a_data_frame_goes_through_the_steps_with_its_names():
    frame = pd.DataFrame(X, columns=["age", "income", "height"])
    model = make_pipeline(StandardScaler(), LinearSVC()).fit(frame, Y)
    assert certify(model, frame, Y).data is None
    assert unwrapped(model).feature_names(None, frame).tolist() == ["age", "income", "height"]
    assert unwrapped(make_pipeline(StandardScaler(), PCA(2)).fit(frame).steps and model).feature_names(["a", "b"], frame) == [
        "a",
        "b",
    ]
    assert "income" in report(model, frame, Y)


def test_the_steps_are_one_chain():
    found = unwrapped(ALL["nested"])
    assert [type(step) for step in found.steps] == [StandardScaler, MaxAbsScaler, PCA]
    assert found.path == "pipeline-2__svc__"
    assert found.outer is ALL["nested"]
    assert unwrapped(ALL["halving"]).chosen_by == "HalvingGridSearchCV"
    bare = SVC()
    assert unwrapped(bare).machine is bare
    assert unwrapped(bare).words == ""


def test_weights_are_those_of_the_machine():
    weights = rng.integers(0, 3, size=60).astype(float)
    model = unwrapped(make_pipeline(StandardScaler(), make_pipeline("passthrough", SVC()))).fit(X, Y, weights)
    assert certify(model, X, Y, weights).data is None
    assert "weights differ" in certify(model, X, Y).data


def test_what_has_no_machine_or_several_is_refused_and_says_what_to_pass():
    inner = make_pipeline(StandardScaler(), SVC())
    several = "holds several machines"
    for refused, words in [
        (CalibratedClassifierCV(SVC(), cv=2).fit(X, Y), r"calibrated_classifiers_\[k\].estimator"),
        (CalibratedClassifierCV(SVC()), several),
        (VotingClassifier([("a", SVC()), ("b", inner)]).fit(X, Y), r"Pass estimators_\[k\]"),
        (VotingClassifier([("a", SVC()), ("b", inner)]), several),
        (StackingClassifier([("a", SVC()), ("b", inner)]), r"Pass estimators_\[k\]"),
        (FixedThresholdClassifier(SVC()).fit(X, Y), "Pass estimator_ with"),
        (svm.SVC().fit(X, Y), "This SVC comes from sklearn. Write: from maxmargin import SVC"),
        (make_pipeline(StandardScaler(), svm.LinearSVC()).fit(X, Y), "from maxmargin import LinearSVC"),
        (svm.NuSVC(), "A maxmargin estimator is needed"),
        (make_pipeline(StandardScaler(), PCA(2)), "got PCA"),
        (make_pipeline(StandardScaler(), "passthrough"), "ends in 'passthrough'"),
        (GridSearchCV(SVC(), {"C": [1.0]}, refit=False, cv=2).fit(X, Y), "refit=False"),
        ("svc", "got str"),
    ]:
        for ask in (certify, xi_alpha, leave_one_out, bounds.of_model, report):
            with pytest.raises(InvalidInputError, match=words):
                ask(refused, X, Y)
    sampled = Pipeline([("under", Undersampler()), ("svc", SVC().fit(X, Y))])
    with pytest.raises(NotSupportedError, match="Undersampler is a step of this Pipeline but has no transform"):
        certify(sampled, X, Y)


@pytest.mark.parametrize("model", [make_pipeline(StandardScaler(), SVC()), GridSearchCV(SVC(), {"C": [1.0]})])
def test_what_is_not_fitted_is_called_so(model):
    for ask in (certify, xi_alpha, bounds.of_model, report):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(clone(model), X, Y)


def test_other_machines_than_those_with_an_optimum_are_opened_too():
    apart = X + np.where(Y == "yes", 9, 0)[:, None]
    model = make_pipeline(StandardScaler(), Perceptron()).fit(apart, Y)
    assert "Before the machine" in report(model, apart, Y)
    assert "perceptron_updates" in bounds.of_model(model, apart, Y)
    with pytest.raises(NotSupportedError, match="xi_alpha takes"):
        xi_alpha(model, X, Y)
    with pytest.raises(NotSupportedError, match="leave_one_out takes"):
        leave_one_out(model, X, Y)


def test_bounds_assume_that_the_steps_did_not_look_at_the_samples():
    found, bare = bounds.of_model(ALL["pipeline"], X, Y), bounds.of_model(*opened(ALL["pipeline"], X, Y), Y)
    assert {name: one.value for name, one in found.items()} == {name: one.value for name, one in bare.items()}
    assert all("(StandardScaler) do not depend on the samples" in one.assumptions[-1] for one in found.values())
    assert "take the steps before the machine as given" in report(ALL["pipeline"], X, Y)
    fixed = make_pipeline(Normalizer(), SVC()).fit(X, Y)
    assert not any("steps" in words for one in bounds.of_model(fixed, X, Y).values() for words in one.assumptions)


def test_only_steps_that_learn_have_seen_the_left_out_sample():
    def told(model):
        return unwrapped(model).told(is_refitted=False, are_these_rows=True)

    assert told(SVC()) == told(make_pipeline(Normalizer(), SVC())) == told(ALL["frozen step"]) == ""
    assert told(ALL["nested"]).startswith("StandardScaler, MaxAbsScaler, PCA: fitted on all rows")
    assert told(ALL["search of a pipeline"]).startswith("GridSearchCV chose the parameters before any sample was left out.")
