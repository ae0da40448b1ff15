"""Leave-one-out of pipelines, with their steps as they stand or fitted again, and searches over any parameters."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, InvalidInputError, LeaveOneOutSearch, LinearSVC, Regularization, Status, certify, leave_one_out
from maxmargin._loops.compile_time import COMPILE_TIME

rng = np.random.default_rng(5)
Y = np.repeat(["a", "b", "c"], 8)
X = rng.normal(size=(24, 3)) + 1.2 * np.repeat(np.eye(3), 8, axis=0)
X = X * [1.0, 40.0, 0.1] + [0.0, 300.0, 5.0]
X[3] *= 20.0  # one sample that moves every scaler
TEXTS = [f"{'good fine' if k % 2 else 'bad poor'} w{k % 7} w{k % 5} {'good' if k % 5 == 0 else 'thing'}" for k in range(24)]
SENSES = np.arange(24) % 2

PIPELINES = [
    (make_pipeline(StandardScaler(), SVC(C=2.0, tol=1e-11)), X, Y),
    (make_pipeline(StandardScaler(), LinearSVC(tol=1e-11)), X, Y),
    (make_pipeline("passthrough", make_pipeline(StandardScaler(), PCA(2)), SVC(tol=1e-11)), X[:16], Y[:16]),
    (make_pipeline(SelectKBest(k=2), StandardScaler(), LinearSVC(C=Regularization.mean(3.0), tol=1e-11)), X, Y),
    (make_pipeline(StandardScaler(), SVC(class_weight="balanced", tol=1e-11)), X[:20], Y[:20]),
    (make_pipeline(TfidfVectorizer(), LinearSVC(tol=1e-11)), TEXTS, SENSES),
    (make_pipeline(TfidfVectorizer(), SVC(tol=1e-11)), TEXTS, SENSES),
]


@pytest.mark.parametrize(("model", "rows", "labels"), PIPELINES)
def test_steps_that_are_fitted_again_give_what_n_fits_of_the_pipeline_give(model, rows, labels):
    expected = cross_val_predict(model, rows, labels, cv=LeaveOneOut())
    found = leave_one_out(model, rows, labels, refit_steps=True)
    assert found.predictions.tolist() == expected.tolist()
    assert found.is_certain.all()
    assert found.error == pytest.approx((expected != labels).mean())
    assert found.resolve == "each"
    assert "the machine by a fit of its own" in str(found)
    if "stand" in str(model).lower():
        assert "left out of" in found.steps
        assert "StandardScaler" in found.steps


@pytest.mark.parametrize(("model", "rows", "labels"), PIPELINES)
@pytest.mark.parametrize("is_fitted", [False, True])
def test_steps_that_stand_give_what_retraining_the_last_one_gives(model, rows, labels, is_fitted):
    fitted = clone(model).fit(rows, labels)
    Z, machine = fitted[:-1].transform(rows), model[-1]
    if isinstance(machine, SVC):
        machine = clone(machine).set_params(gamma=fitted[-1].kernel_.gamma)
    meant = {"resolve": "each"} if isinstance(machine, SVC) or machine.C != 1.0 else {}
    expected = cross_val_predict(machine, Z, labels, cv=LeaveOneOut())
    model = clone(fitted).set_params(**{f"{fitted.steps[-1][0]}__gamma": machine.gamma}) if isinstance(machine, SVC) else model
    found = leave_one_out(model.fit(rows, labels) if is_fitted else clone(model), rows, labels, **meant)
    assert found.predictions.tolist() == expected.tolist()
    assert "fitted on all rows, the left-out sample included" in str(found)


def test_the_two_differ_where_one_sample_moves_the_scaler():
    errors = set()
    for refit in (False, True):
        model = make_pipeline(StandardScaler(), SVC(C=2.0))
        errors.add(tuple(leave_one_out(model, X, Y, refit_steps=refit).predictions))
    assert len(errors) == 2


def test_the_decision_values_are_those_of_n_fits_of_the_pipeline():
    model, rows, labels = make_pipeline(StandardScaler(), SVC(tol=1e-11)), X[:16], Y[:16]
    found = leave_one_out(model, rows, labels, refit_steps=True, decision_values=True)
    expected = cross_val_predict(model, rows, labels, cv=LeaveOneOut(), method="decision_function")
    assert found.decision_values == pytest.approx(expected, abs=1e-4)


def test_without_steps_the_scale_of_the_kernel_is_that_of_each_fit():
    model = SVC(C=2.0, tol=1e-11)
    found = leave_one_out(model, X, Y, refit_steps=True)
    assert found.predictions.tolist() == cross_val_predict(model, X, Y, cv=LeaveOneOut()).tolist()
    with pytest.raises(InvalidInputError, match="resolve must be one of"):
        leave_one_out(model, X, Y, resolve="once", refit_steps=True)


def test_a_class_of_one_sample_and_samples_without_weight_are_left_out_too():
    labels = np.where(np.arange(24) == 9, "z", np.where(Y == "c", "b", Y))
    weights = np.where(np.arange(24) % 5 == 0, 0.0, 1.0)
    found = leave_one_out(make_pipeline(StandardScaler(), SVC()), X, labels, weights, refit_steps=True)
    names = [how.name for how in found.settled_by]
    assert names[9] == "LAST_OF_ITS_CLASS"
    assert found.predictions[9] in ("a", "b")
    assert [name == "ABSENT" for name in names] == (weights == 0).tolist()


def test_the_estimates_of_refitted_steps_are_those_of_the_machine_on_all_rows():
    model = make_pipeline(StandardScaler(), SVC(C=2.0))
    once, each = (leave_one_out(model, X, Y, refit_steps=refit).xi_alpha for refit in (False, True))
    assert [one.error for one in once] == [one.error for one in each]


def test_an_observer_counts_samples_and_ends_the_work():
    seen = []
    model = make_pipeline(StandardScaler(), SVC())
    found = leave_one_out(model, X, Y, refit_steps=True, observe=lambda progress: seen.append(progress) or len(seen) == 6)
    assert [progress.done for progress in seen] == [0, 1, 2, 3, 4, 5]
    assert seen[-1].total == 24
    assert found.status is Status.STOPPED
    assert [how.name == "INTERRUPTED" for how in found.settled_by] == [False] * 5 + [True] * 19


def test_ctrl_c_in_a_step_keeps_what_is_known():
    class Interrupted(StandardScaler):
        n_fits = 0

        def fit(self, X, y=None, sample_weight=None):
            Interrupted.n_fits += 1
            if Interrupted.n_fits == 4:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    found = leave_one_out(make_pipeline(Interrupted(), SVC()), X, Y, refit_steps=True)
    assert found.status is Status.INTERRUPTED
    assert [how.name == "INTERRUPTED" for how in found.settled_by] == [False] * 2 + [True] * 22


def test_a_pipeline_that_was_fitted_on_other_rows_is_not_said_to_have_seen_these():
    model = make_pipeline(StandardScaler(), SVC()).fit(X[:20], Y[:20])
    assert "perhaps on other rows" in leave_one_out(model, X, Y).meaning
    assert "perhaps on other rows" in leave_one_out(model, X[:20] * 2.0, Y[:20]).meaning
    order = rng.permutation(20)
    assert "fitted on all rows" in leave_one_out(model, X[order], Y[order]).meaning


def test_what_a_search_has_chosen_is_said():
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.5, 2.0]}, cv=2).fit(X, Y)
    found = leave_one_out(search, X, Y)
    assert found.predictions.tolist() == leave_one_out(search.best_estimator_, X, Y).predictions.tolist()
    assert "GridSearchCV chose the parameters before any sample was left out." in str(found)
    assert "GridSearchCV" in leave_one_out(search, X, Y, refit_steps=True).steps


# -- searches -----------------------------------------------------------------------------------------------------------


def test_a_grid_finds_what_leave_one_out_finds_for_each_candidate():
    grid = [{"C": [0.3, 3.0], "gamma": [0.1, 1.0]}, {"kernel": ["linear"], "C": [1.0]}]
    Z = StandardScaler().fit_transform(X)
    search = LeaveOneOutSearch(SVC(), param_grid=grid).fit(Z, Y)
    same = GridSearchCV(SVC(), grid, cv=2).fit(Z, Y)
    assert search.cv_results_["params"] == same.cv_results_["params"]
    for name in ("param_C", "param_gamma", "param_kernel"):
        assert search.cv_results_[name].tolist() == same.cv_results_[name].tolist()
    errors = [leave_one_out(SVC(**params), Z, Y).error for params in search.cv_results_["params"]]
    assert search.cv_results_["mean_test_score"] == pytest.approx(1.0 - np.array(errors))
    assert search.best_params_ == search.cv_results_["params"][int(np.argmin(errors))]
    assert search.best_estimator_.get_params()["gamma"] == search.best_params_.get("gamma", "scale")


def test_a_search_on_a_pipeline_takes_nested_names_and_refits_its_steps():
    grid = {"pca__n_components": [1, 2], "svc__C": [0.3, 3.0], "svc__gamma": [0.1, 1.0]}
    model = make_pipeline(StandardScaler(), PCA(), SVC())
    search = LeaveOneOutSearch(model, param_grid=grid).fit(X, Y)
    errors = [leave_one_out(clone(model).set_params(**one), X, Y).error for one in search.cv_results_["params"]]
    assert search.cv_results_["mean_test_score"] == pytest.approx(1.0 - np.array(errors))
    assert (search.predict(X) == search.best_estimator_.predict(X)).all()
    assert search.n_features_in_ == 3
    assert search.results_[0].steps.startswith("StandardScaler, PCA: fitted on all rows")
    assert all(one.data is None for one in certify(search, X, Y))
    replaced = LeaveOneOutSearch(model, param_grid={"pca": ["passthrough", PCA(1)], "svc": [SVC(), LinearSVC()]}).fit(X, Y)
    assert replaced.results_[0].steps.startswith("StandardScaler: fitted")
    assert len(replaced.results_) == 4


def test_each_step_is_fitted_once_for_each_choice_of_its_own_parameters():
    class Counting(StandardScaler):
        n_fits = 0

        def fit(self, X, y=None, sample_weight=None):
            Counting.n_fits += 1
            return super().fit(X, y, sample_weight)

    grid = {"svc__C": [0.3, 3.0], "counting__with_mean": [True, False], "svc__gamma": [0.1, 1.0]}
    LeaveOneOutSearch(make_pipeline(Counting(), SVC()), param_grid=grid, refit=False).fit(X, Y)
    assert Counting.n_fits == 2


def test_the_values_of_c_are_those_of_the_machine_at_the_end():
    texts = LeaveOneOutSearch(make_pipeline(TfidfVectorizer(), LinearSVC()), Cs=[0.1, 1.0]).fit(TEXTS, SENSES)
    Z = TfidfVectorizer().fit_transform(TEXTS)
    assert sp.issparse(Z)
    bare = LeaveOneOutSearch(LinearSVC(), [0.1, 1.0]).fit(Z, SENSES)
    assert texts.cv_results_["mean_test_score"].tolist() == bare.cv_results_["mean_test_score"].tolist()
    assert texts.best_params_ == {"linearsvc__C": bare.best_params_["C"]}
    assert [one["C"] for one in LeaveOneOutSearch(LinearSVC()).fit(Z, SENSES).cv_results_["params"]] == [0.01, 0.1, 1, 10, 100]


def test_a_search_works_in_a_pipeline():
    weights = rng.integers(1, 3, size=24)
    model = make_pipeline(StandardScaler(), LeaveOneOutSearch(SVC(), param_grid={"C": [0.3, 3.0], "gamma": [0.1, 1.0]}))
    model.fit(X, Y, leaveoneoutsearch__sample_weight=weights)
    Z = StandardScaler().fit_transform(X)
    assert model[-1].best_params_ == clone(model[-1]).fit(Z, Y, weights).best_params_
    assert all(one.data is None for one in certify(model, X, Y, weights))


def test_fits_along_c_start_from_each_other(monkeypatch):
    from maxmargin.estimators.leave_one_out.search import Run

    starts = []
    begun = Run.__init__

    def begin(self, machine, *rest):
        starts.append(machine.betas[0] is not None)
        begun(self, machine, *rest)

    monkeypatch.setattr(Run, "__init__", begin)
    LeaveOneOutSearch(SVC(), param_grid={"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}, refit=False).fit(X, Y)
    assert starts == [False, True, True] * 2


def test_grids_that_say_nothing_are_refused():
    for arguments, words in [
        ({"Cs": {"C": [1.0]}}, "give param_grid"),
        ({"Cs": np.ones(2), "param_grid": {"gamma": [1.0]}}, "instead of it"),
        ({"param_grid": []}, "param_grid is empty"),
        ({"param_grid": {"C": [1.0, -1.0]}}, "C = -1.0"),
    ]:
        with pytest.raises(InvalidInputError, match=words):
            LeaveOneOutSearch(SVC(), **arguments).fit(X, Y)


class CompilingScaler(StandardScaler):
    """Its fits take the time of compiling."""

    def fit(self, X, y=None, sample_weight=None):
        with COMPILE_TIME:
            time.sleep(0.05)
        return super().fit(X, y, sample_weight)


def test_the_seconds_of_steps_that_are_fitted_again_leave_out_compiling():
    seen = []
    began = time.perf_counter()
    found = leave_one_out(make_pipeline(CompilingScaler(), SVC()), X[:16], Y[:16], refit_steps=True, observe=seen.append)
    passed = time.perf_counter() - began
    assert found.compile_seconds >= 16 * 0.05
    assert found.fit_seconds <= found.seconds <= passed - 16 * 0.05
    assert seen[-1].seconds <= found.seconds
    search = LeaveOneOutSearch(make_pipeline(CompilingScaler(), SVC()), Cs=[1.0], refit=False).fit(X[:16], Y[:16])
    assert search.results_[0].compile_seconds >= 0.05
