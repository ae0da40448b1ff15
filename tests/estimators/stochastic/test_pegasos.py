"""PegasosSVC: against its pseudo-code, LinearSVC's optimum, streams in pieces, and within scikit-learn."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import (
    ConvergenceWarning,
    InvalidInputError,
    LinearSVC,
    PegasosSVC,
    Regularization,
    Status,
    certify,
)
from maxmargin.core import Bias, Problem
from maxmargin.solvers.stochastic.samples import epochs_of
from tests import reference
from tests.test_bad_input import DATA, WEIGHTS, unchanged_after

CANCER, IRIS = load_breast_cancer(), load_iris()
X, Y = StandardScaler().fit_transform(CANCER.data), CANCER.target
LAM = Regularization.pegasos(0.01)
SMALL_X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]])
SMALL_Y = np.array([0, 0, 1, 1])
EXPECTED = {f"check_sample_weight_equivalence_on_{form}_data": "the visits are other ones" for form in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_scikit_learns_checks_pass_but_for_weights_as_copies():
    results = check_estimator(PegasosSVC(n_epochs=1000), expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


@pytest.mark.parametrize("n", [569, 50])
def test_the_defaults_do_not_miss_their_own_tolerance(n):
    """The steps to a gap do not grow with the number of samples: few samples take many epochs, and get them."""
    rows = np.random.default_rng(0).permutation(569)[:n]
    model = PegasosSVC(max_seconds=60).fit(X[rows], Y[rows])  # a ConvergenceWarning is an error here
    assert model.status_ is Status.SOLVED
    assert certify(model, X[rows], Y[rows]).relative_gap <= model.tol == 1e-2


def test_the_default_epochs_are_those_of_the_rate_and_never_endless():
    rows = slice(0, 50)
    problem = Problem(X[rows], np.where(Y[rows] == 1, 1.0, -1.0), cost=np.full(50, 200.0), bias=Bias.penalized())
    square = (X[rows] ** 2).sum(axis=1).max() + 1
    epochs = {lam: PegasosSVC(C=Regularization.pegasos(lam))._allowance(replace(problem, cost=np.full(50, 1 / (50 * lam))))
              for lam in (1e-3, 1e-4, 1.0, 1e-12)}  # fmt: skip
    assert epochs[1e-3].iterations == np.ceil(square / (1e-3 * 1e-2) / 50)
    assert epochs[1.0].iterations == 1000
    assert epochs[1e-12].iterations == 10**9 // (50 * (30 + 1))
    assert PegasosSVC(tol=None)._allowance(problem).iterations == 1000
    assert PegasosSVC(n_epochs=7)._allowance(problem).iterations == 7


def test_the_default_lambda_is_the_papers():
    one = PegasosSVC(tol=None, n_epochs=2).fit(X, Y)
    two = PegasosSVC(C=Regularization.pegasos(1e-4), tol=None, n_epochs=2).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("method", ["pegasos", "sgd"])
@pytest.mark.parametrize("average", [False, True, "tail"])
def test_it_proves_its_gap_and_certify_finds_the_same(method, average):
    model = PegasosSVC(C=LAM, method=method, average=average, tol=0.05).fit(X, Y)
    assert model.status_ is Status.SOLVED
    assert model.certificate_.relative_gap <= 0.05
    assert certify(model, X, Y) == model.certificate_
    best = LinearSVC(C=LAM, intercept_scaling=1.0, tol=1e-8).fit(X, Y).certificate_
    assert best.primal * (1 - 1e-7) <= model.certificate_.primal <= best.primal * 1.06
    assert model.certificate_.dual <= best.primal


def test_without_a_tolerance_it_is_the_pseudo_code_and_warns_of_nothing():
    x = X[:40, :3]
    y = Y[:40]
    model = PegasosSVC(C=LAM, average=False, tol=None, n_epochs=3, fit_intercept=False, random_state=5).fit(x, y)
    seed = int(np.random.RandomState(5).randint(2**31 - 1))
    visits = epochs_of(np.arange(40), "permuted", seed)
    order = np.concatenate([next(visits) for _ in range(3)])
    iterates, _ = reference.pegasos(x, np.where(y > 0, 1, -1), 0.01, order[:, None], is_exact=False)
    np.testing.assert_allclose(model.coef_[0], iterates[-1], rtol=1e-11)
    assert (model.n_iter_, model.t_) == (3, 120)


def test_sgd_gives_the_mean_that_the_textbook_asks_for():
    x, y = X[:30, :2], Y[:30]
    model = PegasosSVC(C=LAM, method="sgd", average=True, tol=None, n_epochs=4, fit_intercept=False).fit(x, y)
    visits = epochs_of(np.arange(30), "uniform", 0)
    draws = np.concatenate([next(visits) for _ in range(4)])
    iterates, _ = reference.sgd(x, np.where(y > 0, 1, -1), 0.01, draws, is_exact=False)
    np.testing.assert_allclose(model.coef_[0], np.mean(iterates, axis=0), rtol=1e-11)


@pytest.mark.parametrize(
    "C", [Regularization.tikhonov(0.005), Regularization.mean(100.0), Regularization.sum(100.0 / 569), 100.0 / 569]
)
def test_each_spelling_of_the_trade_off_is_the_same_problem(C):
    one = PegasosSVC(C=LAM, tol=None, n_epochs=3).fit(X, Y)
    two = PegasosSVC(C=C, tol=None, n_epochs=3).fit(X, Y)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-9)
    assert two.certificate_.primal == pytest.approx(one.certificate_.primal)


@pytest.mark.parametrize("form", [sp.csr_array, np.asfortranarray, lambda x: x.astype(np.float32)])
@pytest.mark.parametrize("average", [False, "tail"])
def test_every_form_of_the_data_gives_the_same(form, average):
    x = np.round(4 * X) / 4
    one = PegasosSVC(C=LAM, average=average, tol=None, n_epochs=4).fit(x, Y)
    two = PegasosSVC(C=LAM, average=average, tol=None, n_epochs=4).fit(form(x), Y)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-9, atol=1e-12)


def test_a_kernel_is_certified_and_agrees_with_its_features():
    x, y = X[:120, :4], Y[:120]
    settings = {"C": LAM, "tol": None, "n_epochs": 5}
    one, two = PegasosSVC(**settings).fit(x, y), PegasosSVC(kernel="precomputed", **settings).fit(x @ x.T, y)
    np.testing.assert_allclose(two.decision_function(x @ x.T), one.decision_function(x), rtol=1e-8, atol=1e-8)
    model = PegasosSVC(C=LAM, kernel="rbf", tol=0.05).fit(x, y)
    assert model.certificate_.relative_gap <= 0.05
    assert certify(model, x, y).relative_gap == pytest.approx(model.certificate_.relative_gap, rel=1e-6)
    assert model.score(x, y) > 0.9
    with pytest.raises(AttributeError, match="linear kernel only"):
        _ = model.coef_


def test_the_projection_keeps_w_in_the_ball_that_holds_the_optimum():
    model = PegasosSVC(C=LAM, project=True, average=False, tol=None, n_epochs=1).fit(X, Y)
    assert np.hypot(np.linalg.norm(model.coef_), model.intercept_[0]) <= 10.0 * (1 + 1e-9)
    without = PegasosSVC(C=Regularization.pegasos(1e-5), average=False, tol=None, n_epochs=1).fit(X, Y)
    assert np.linalg.norm(without.coef_) > 10.0


def test_more_classes_are_told_from_the_rest_each_with_its_certificate():
    x = StandardScaler().fit_transform(IRIS.data)
    model = PegasosSVC(C=LAM, tol=0.02).fit(x, IRIS.target_names[IRIS.target])
    assert model.coef_.shape == (3, 4)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert len(model.certificate_) == 3
    assert model.certificate_.worst.relative_gap <= 0.02
    alone = PegasosSVC(C=LAM, tol=0.02).fit(x, IRIS.target == 1)
    np.testing.assert_array_equal(model.coef_[1], alone.coef_[0])
    assert model.score(x, IRIS.target_names[IRIS.target]) > 0.85


def test_budgets_end_it_with_a_warning_and_the_best_so_far():
    with pytest.warns(ConvergenceWarning, match="n_epochs.*Not certified: the gap is"):
        model = PegasosSVC(n_epochs=3, tol=1e-6).fit(X, Y)
    assert model.status_ is Status.ITERATION_BUDGET
    assert model.n_iter_ == 3
    with pytest.warns(ConvergenceWarning, match="seconds"):
        PegasosSVC(n_epochs=10**9, tol=1e-9, max_seconds=0.2).fit(X, Y)


def test_ctrl_c_leaves_the_best_model_so_far(monkeypatch):
    from maxmargin.solvers import Pegasos

    step, count = Pegasos.step, [0]

    def interrupted(self, *others):
        count[0] += 1
        if count[0] == 4:
            raise KeyboardInterrupt
        return step(self, *others)

    monkeypatch.setattr(Pegasos, "step", interrupted)
    model = PegasosSVC(tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.status_ is Status.INTERRUPTED
    assert certify(model, X, Y) == model.certificate_


def test_weights_of_zero_are_absent_and_balanced_classes_count_the_same():
    weights = np.r_[np.ones(100), np.zeros(20)]
    one = PegasosSVC(C=LAM, tol=None, n_epochs=3).fit(X[:120], Y[:120], weights)
    two = PegasosSVC(C=LAM, tol=None, n_epochs=3).fit(X[:100], Y[:100])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9)
    model = PegasosSVC(C=LAM, class_weight="balanced", tol=0.05).fit(X, Y)
    peer = LinearSVC(C=LAM, class_weight="balanced", intercept_scaling=1.0, tol=1e-6).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(peer.certificate_.primal, rel=0.06)


# -- streams ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True, "tail"])
@pytest.mark.parametrize("settings", [{}, {"project": True}, {"batch_size": 4}, {"fit_intercept": False}])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_stream_in_pieces_is_one_pass_in_the_given_order(average, settings, form):
    new = {"C": LAM, "average": average, "shuffle": False} | settings
    whole, pieces = PegasosSVC(**new), PegasosSVC(**new)
    whole.partial_fit(form(X), Y, classes=[0, 1])
    cuts = [0, 4, 100, 104, 400, 569]
    for start, end in pairwise(cuts):
        pieces.partial_fit(form(X[start:end]), Y[start:end], classes=[0, 1])
    np.testing.assert_array_equal(pieces.coef_, whole.coef_)
    np.testing.assert_array_equal(pieces.intercept_, whole.intercept_)
    assert pieces.t_ == whole.t_ == -(-569 // settings.get("batch_size", 1))
    once = PegasosSVC(**new, n_epochs=1, tol=None).fit(X, Y)
    np.testing.assert_allclose(once.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(once.intercept_, whole.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("project", [False, True])
def test_a_stream_may_store_a_value_in_parts(project):
    """CSR adds up what it stores twice; ‖w‖², which the projection needs, is that of the sums."""
    y = [0, 1, 1, 0]
    whole = sp.csr_array([[1.0, 2.0], [3.0, -1.0], [0.5, -2.0], [0.0, 4.0]])
    columns, values = [0, 1, 1, 0, 1, 0, 1, 1, 1], [1.0, 0.5, 1.5, 3.0, -1.0, 0.5, -2.0, 3.0, 1.0]
    parts = sp.csr_array((values, columns, [0, 3, 5, 7, 9]), shape=(4, 2))
    models = [
        PegasosSVC(C=Regularization.pegasos(0.1), project=project).partial_fit(X, y, classes=[0, 1]) for X in (whole, parts)
    ]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-12)


def test_a_stream_goes_on_from_a_fit():
    both = PegasosSVC(C=LAM, average=False, shuffle=False, tol=None, n_epochs=1).fit(X[:300], Y[:300])
    both.partial_fit(X[300:], Y[300:])
    once = PegasosSVC(C=LAM, average=False, shuffle=False, tol=None, n_epochs=1).fit(X, Y)
    np.testing.assert_allclose(both.coef_, once.coef_, rtol=1e-9)
    assert both.t_ == 569
    assert not hasattr(both, "certificate_")


def test_a_stream_of_several_classes_survives_a_pickle():
    x, names = StandardScaler().fit_transform(IRIS.data), IRIS.target_names[IRIS.target]
    order = np.random.default_rng(0).permutation(150)
    model = PegasosSVC(C=LAM)
    for piece in np.array_split(order, 5):
        model = pickle.loads(pickle.dumps(model.partial_fit(x[piece], names[piece], classes=IRIS.target_names)))
    assert model.coef_.shape == (3, 4)
    assert model.t_ == 150
    assert model.score(x, names) > 0.7


def test_weights_in_a_stream_are_factors_of_the_losses():
    heavy = PegasosSVC(C=LAM, average=False).partial_fit([[2.0]], [1], [0, 1], sample_weight=[3.0])
    light = PegasosSVC(C=LAM, average=False).partial_fit([[2.0]], [1], [0, 1])
    assert heavy.coef_[0, 0] == pytest.approx(3 * light.coef_[0, 0]) == pytest.approx(600.0)


@pytest.mark.parametrize(
    ("settings", "arguments", "match"),
    [
        ({"C": 1.0}, {"classes": [0, 1]}, "depends on the number of samples"),
        ({"C": Regularization.ridge(0.1)}, {"classes": [0, 1]}, "depends on the number of samples"),
        ({}, {}, "classes must be passed on the first call"),
        ({}, {"classes": [1]}, "at least two classes"),
        ({}, {"classes": [1, 2]}, r"Labels \[0\] are none of classes"),
        ({"class_weight": "balanced"}, {"classes": [0, 1]}, "needs all samples"),
        ({}, {"classes": [0, 1], "sample_weight": [1, 1, 1, -1]}, "Negative values in sample_weight"),
        ({"batch_size": 0}, {"classes": [0, 1]}, "batch_size must be an integer"),
    ],
)
def test_a_stream_that_cannot_be_learned_from_is_refused(settings, arguments, match):
    model = PegasosSVC(**settings)
    unchanged_after(InvalidInputError, match, lambda m: m.partial_fit(SMALL_X, SMALL_Y, **arguments), model)


def test_the_classes_of_a_stream_stay_and_kernels_have_none():
    model = PegasosSVC().partial_fit(SMALL_X, SMALL_Y, classes=[0, 1])
    with pytest.raises(InvalidInputError, match="is not what the first call had"):
        model.partial_fit(SMALL_X, SMALL_Y, classes=[0, 1, 2])
    assert not hasattr(PegasosSVC(kernel="rbf"), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        PegasosSVC(kernel="rbf").partial_fit(SMALL_X, SMALL_Y)


# -- lessons ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(
    "settings", [{}, {"average": False}, {"batch_size": 2}, {"method": "sgd", "average": True}, {"project": True}]
)
def test_the_steps_are_those_of_fit(kernel, settings):
    x, y = X[:12, :2], Y[:12].copy()
    y[0] = 1
    model = PegasosSVC(C=Regularization.pegasos(0.1), kernel=kernel, gamma=0.5, n_epochs=4, tol=None, **settings)
    steps = list(model.steps(x, y))
    assert not hasattr(model, "classes_")
    model.fit(x, y)
    assert [step.t for step in steps] == list(range(1, model.t_ + 1))
    assert all(((step.scores < 1) >= step.is_violation).all() for step in steps)
    assert all(step.dual <= step.primal for step in steps)
    last, factor = steps[-1], 0.1
    assert last.primal == pytest.approx(model.certificate_.primal * factor)
    assert last.dual == pytest.approx(model.certificate_.dual * factor)
    assert last.b == pytest.approx(model.intercept_[0])
    if kernel == "linear":
        np.testing.assert_allclose(last.w, model.coef_[0], rtol=1e-12)


def test_steps_end_at_the_tolerance_and_are_of_two_classes():
    model = PegasosSVC(C=Regularization.pegasos(0.5), tol=0.1)
    last = list(model.steps(SMALL_X, SMALL_Y))[-1]
    assert (last.primal - last.dual) / last.primal <= 0.1
    with pytest.raises(InvalidInputError, match="steps shows two classes, got 3"):
        next(model.steps(IRIS.data, IRIS.target))


# -- within scikit-learn, and bad input ---------------------------------------------------------------------------------------


def test_it_works_in_a_search_over_a_pipeline():
    grid = {"pegasossvc__C": [Regularization.pegasos(lam) for lam in (1e-3, 1e-1)]}
    search = GridSearchCV(make_pipeline(StandardScaler(), PegasosSVC(tol=None, n_epochs=5)), grid, cv=2)
    assert search.fit(CANCER.data, Y).best_score_ > 0.9
    assert clone(search.best_estimator_).get_params().keys() == search.best_estimator_.get_params().keys()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": -1.0}, "C = -1.0 where a number > 0 is wanted"),
        ({"C": np.inf}, "is the hard margin. Use HardMarginSVC"),
        ({"method": "adam"}, "method must be one of"),
        ({"average": "all"}, "average must be one of"),
        ({"n_epochs": 0}, "n_epochs must be an integer"),
        ({"n_epochs": 1.5}, "n_epochs must be an integer"),
        ({"batch_size": 0}, "batch_size must be an integer"),
        ({"project": 1}, "project must be True or False"),
        ({"method": "sgd", "project": True}, "project=True is a step of"),
        ({"method": "sgd", "shuffle": False}, "shuffle=False is for"),
        ({"tol": -1}, "tol is the relative gap to reach"),
        ({"max_seconds": 0}, "max_seconds must be a positive number"),
        ({"cache_size": "huge"}, "cache_size must be"),
        ({"class_weight": {0: -1.0}}, "class_weight must be positive"),
        ({"kernel": "nope"}, "kernel='nope' is unknown"),
        ({"fit_intercept": None}, "fit_intercept must be True or False"),
        ({"n_jobs": 0}, "n_jobs must be None"),
        ({"verbose": "loud"}, "verbose must be True, False or an integer"),
    ],
)
def test_wrong_parameters_are_refused_with_a_sentence(parameters, match):
    model = PegasosSVC(**parameters)
    unchanged_after(InvalidInputError, match, lambda m: m.fit(SMALL_X, SMALL_Y), model)


@pytest.mark.parametrize("name", [name for name in DATA if name not in ("identical rows", "a row with both labels")])
def test_data_that_cannot_be_used_are_refused_with_a_sentence(name):
    data, labels, error, match = DATA[name]
    unchanged_after(error, match, lambda m: m.fit(data, labels), PegasosSVC(n_epochs=1000))


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_that_cannot_be_used_are_refused_with_a_sentence(name):
    weights, error, match = WEIGHTS[name]
    unchanged_after(error, match, lambda m: m.fit(SMALL_X, SMALL_Y, sample_weight=weights), PegasosSVC(n_epochs=1000))
