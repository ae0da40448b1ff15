"""Perceptron: against its pseudo-code, its bound, scikit-learn's, and within scikit-learn."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import (
    ConvergenceWarning,
    InvalidInputError,
    NotSupportedError,
    Perceptron,
    bounds,
    certify,
    load,
    report,
    save,
)
from maxmargin.kernels import RBF
from tests import reference
from tests.strategies import examples, generators
from tests.test_bad_input import DATA, unchanged_after

IRIS = load_iris()
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [-1.0, 0.0]])
Y = np.array([0, 0, 1, 1, 0])


@st.composite
def separable(draw):
    """Whole numbers that a hyperplane off the origin separates."""
    rng = draw(generators())
    n, d = draw(st.integers(3, 12)), draw(st.integers(1, 3))
    x = rng.integers(-4, 5, size=(n, d)).astype(float)
    y = (x[:, 0] > 0).astype(int)
    x[:, 0] += np.where(y > 0, 1.0, -1.0)
    x[:2], y[:2] = 0.0, (0, 1)
    x[1, 0] = 3.0
    return x, y


@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_scikit_learns_checks_pass():
    check_estimator(Perceptron(max_iter=100), on_skip=None)


@examples(30)
@given(data=separable(), output=st.sampled_from(["last", "averaged"]), eta=st.sampled_from([1.0, 0.5]))
def test_primal_and_dual_make_the_same_updates_and_the_same_model(data, output, eta):
    x, y = data
    primal = Perceptron(output=output, eta=eta, max_iter=-1).fit(x, y)
    dual = Perceptron(kernel="precomputed", output=output, eta=eta, max_iter=-1).fit(x @ x.T, y)
    np.testing.assert_array_equal(primal.mistakes_, dual.mistakes_)
    assert primal.n_updates_ == dual.n_updates_ == len(primal.mistakes_)
    np.testing.assert_allclose(primal.decision_function(x), dual.decision_function(x @ x.T), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(primal.dual_coef_, dual.dual_coef_)
    np.testing.assert_allclose(Perceptron(eta=eta, max_iter=-1).fit(x, y).coef_[0], (primal.dual_coef_ @ x[primal.support_])[0])


@examples(30)
@given(data=separable())
def test_a_clean_epoch_comes_with_a_witness_within_the_computed_bound(data):
    x, y = data
    model = Perceptron(margin="compute", max_iter=-1).fit(x, y)
    assert model.score(x, y) == 1.0
    assert model.witness_.check()
    assert model.n_updates_ <= int(model.mistake_bound_)
    rho = np.sqrt(1 + (x**2).sum(axis=1).max())
    sign = np.where(y > 0, 1.0, -1.0)
    w, b = reference.widest_hyperplane(np.hstack([x, np.ones((len(x), 1))]), sign, has_bias=False)
    assert b == 0.0
    assert int(model.mistake_bound_) == pytest.approx(np.floor(rho**2 * (w @ w) + 1e-6), abs=1)


def test_a_known_margin_gives_the_bound_without_computing():
    model = Perceptron(margin=0.5, fit_intercept=False).fit([[1.0], [-2.0]], [1, 0])
    assert int(model.mistake_bound_) == 16
    assert Perceptron().fit(X, Y).mistake_bound_ is None


def test_where_nothing_separates_there_is_a_warning_and_no_witness():
    with pytest.warns(ConvergenceWarning, match=r"Perceptron: the last of 7 epochs still made \d+ mistakes"):
        model = Perceptron(max_iter=7, margin="compute").fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert model.witness_ is None
    assert model.mistake_bound_ is None
    assert model.n_iter_ == 7


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda x: x.astype(np.float32)])
def test_scikit_learns_perceptron_walks_the_same_way(form):
    rng = np.random.default_rng(0)
    x, y = rng.integers(-3, 4, size=(60, 4)).astype(float), rng.integers(0, 2, 60)
    with pytest.warns(ConvergenceWarning):
        model = Perceptron(max_iter=5, fit_intercept=False, shuffle=False).fit(form(x), y)
    peer = sklearn.linear_model.Perceptron(max_iter=5, tol=None, shuffle=False, fit_intercept=False).fit(x, y)
    np.testing.assert_array_equal(model.coef_, peer.coef_)


def test_votes_are_counted_as_freund_and_schapire_do():
    rng = np.random.default_rng(1)
    x, y = rng.integers(-3, 4, size=(25, 3)).astype(float), rng.integers(0, 2, 25)
    new = rng.integers(-3, 4, size=(40, 3)).astype(float)
    sign, order = np.where(y > 0, 1.0, -1.0), np.tile(np.arange(25), 4)
    ones = np.ones((25, 1))
    _, _, versions = reference.perceptron(np.hstack([x, ones]), sign, order)
    first = next(k for k, w in enumerate(versions) if any(w))
    votes = [np.sign(np.hstack([new, np.ones((40, 1))]) @ np.array(w, dtype=float) - 1e-12) for w in versions[first:]]
    for kernel, train, test in (("linear", x, new), ("precomputed", x @ x.T, new @ x.T)):
        with pytest.warns(ConvergenceWarning):
            model = Perceptron(kernel=kernel, output="voted", max_iter=4, shuffle=False).fit(train, y)
        np.testing.assert_allclose(model.decision_function(test), np.mean(votes, axis=0), atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", RBF(gamma=0.5)])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_steps_are_those_of_fit(kernel, shuffle):
    model = Perceptron(kernel=kernel, shuffle=shuffle, eta=0.5, random_state=3)
    steps = list(model.steps(X, Y))
    assert not hasattr(model, "classes_")
    model.fit(X, Y)
    assert [step.sample for step in steps if step.is_mistake] == model.mistakes_.tolist()
    assert [step.visit for step in steps] == list(range(1, len(steps) + 1))
    assert all((step.score <= 0) == step.is_mistake for step in steps)
    assert len(steps) == len(X) * model.n_iter_
    last = steps[-1]
    assert last.n_updates == model.n_updates_
    assert last.b == model.intercept_[0]
    np.testing.assert_array_equal(
        last.w if kernel == "linear" else last.w[model.support_],
        model.coef_[0] if kernel == "linear" else model.dual_coef_[0],
    )
    best = 1 / np.linalg.norm(np.append(*reference.widest_hyperplane(X, np.where(Y > 0, 1.0, -1.0))))
    if kernel == "linear":
        assert last.margin_bound >= best * (1 - 1e-9)


def test_more_classes_are_told_from_the_rest():
    with pytest.warns(ConvergenceWarning):
        model = Perceptron(max_iter=30, margin="compute").fit(IRIS.data, IRIS.target_names[IRIS.target])
    assert model.coef_.shape == (3, 4)
    assert [len(model.mistakes_), len(model.witness_), len(model.mistake_bound_)] == [3, 3, 3]
    assert model.witness_[0].check()
    assert model.witness_[1] is None
    alone = Perceptron(max_iter=30).fit(IRIS.data, IRIS.target == 0)
    np.testing.assert_array_equal(model.coef_[0], alone.coef_[0])
    for output in ("averaged", "voted"):
        with pytest.warns(ConvergenceWarning):
            better = Perceptron(max_iter=100, output=output).fit(IRIS.data, IRIS.target)
        assert better.score(IRIS.data, IRIS.target) > 0.65


def test_it_survives_a_pickle_and_a_clone():
    model = Perceptron(kernel="rbf", gamma=1.0, output="voted").fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert clone(model).get_params() == model.get_params()


def test_time_can_end_it():
    rng = np.random.default_rng(0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = Perceptron(max_iter=-1, max_seconds=0.2).fit(rng.standard_normal((300, 5)), np.arange(300) % 2)
    assert model.n_iter_ > 1


def test_ctrl_c_leaves_the_model_so_far(monkeypatch):
    from maxmargin.solvers.stochastic.perceptron import Run

    epoch = Run.epoch

    def interrupted(self, *others):
        if self.epochs == 3:
            raise KeyboardInterrupt
        return epoch(self, *others)

    monkeypatch.setattr(Run, "epoch", interrupted)
    rng = np.random.default_rng(0)
    model = Perceptron(max_iter=-1)
    with pytest.raises(KeyboardInterrupt), pytest.warns(ConvergenceWarning):
        model.fit(rng.standard_normal((300, 5)), np.arange(300) % 2)
    assert model.n_iter_ == 3
    assert model.coef_.any()


def test_callbacks_hear_of_each_epoch_and_may_stop_it():
    pytest.importorskip("sklearn.callback")
    heard = []

    class Stop:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            heard.append(context.task_name)
            return context.parent is not None and len(heard) == 20

    with pytest.warns(ConvergenceWarning):
        model = Perceptron(max_iter=100).set_callbacks(Stop()).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert 1 < model.n_iter_ < 100
    assert len(heard) >= 20


def test_it_has_no_gap_to_certify():
    model = Perceptron().fit(X, Y)
    with pytest.raises((NotSupportedError, ValueError), match=r"minimises nothing|not fitted"):
        certify(model, X, Y)
    with pytest.raises(TypeError):
        model.fit(X, Y, sample_weight=np.ones(5))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"eta": 0}, "eta is the learning rate"),
        ({"eta": "fast"}, "eta is the learning rate"),
        ({"output": "mean"}, "output must be one of"),
        ({"margin": -1.0}, "margin must be a positive number"),
        ({"margin": "guess"}, "margin must be one of"),
        ({"shuffle": 1}, "shuffle must be True or False"),
        ({"fit_intercept": None}, "fit_intercept must be True or False"),
        ({"max_iter": 0.5}, "max_iter must be an integer"),
        ({"max_seconds": -1}, "max_seconds must be a positive number"),
        ({"kernel": "nope"}, "kernel='nope' is unknown"),
        ({"n_jobs": 0}, "n_jobs must be None"),
    ],
)
def test_wrong_parameters_are_refused_with_a_sentence(parameters, match):
    for model in (Perceptron(), Perceptron().fit(X, Y)):
        model.set_params(**parameters)
        before = vars(model).copy()
        with pytest.raises(InvalidInputError, match=match):
            model.fit(X, Y)
        assert list(vars(model)) == list(before)
        assert all(value is before[name] for name, value in vars(model).items())


@pytest.mark.parametrize("name", [name for name in DATA if name not in ("identical rows", "a row with both labels")])
def test_data_that_cannot_be_used_are_refused_with_a_sentence(name):
    data, labels, error, match = DATA[name]
    unchanged_after(error, match, lambda m: m.fit(data, labels), Perceptron())


def test_steps_are_of_two_classes():
    with pytest.raises(InvalidInputError, match="steps shows two classes, got 3"):
        next(Perceptron().steps(IRIS.data, IRIS.target))


# -- streams ---------------------------------------------------------------------------------------------------------------


def pieces(n_classes=2, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, :n_classes].argmax(axis=1)).astype(int)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("output", ["last", "averaged"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_the_cuts_of_a_stream_do_not_change_what_is_learned(n_classes, output, form):
    X, y = pieces(n_classes)
    X = form(X)
    new = {"output": output, "eta": 0.5}
    with pytest.warns(ConvergenceWarning):
        once = Perceptron(**new, max_iter=1, shuffle=False).fit(X, y)
    cut = Perceptron(**new)
    for part in np.array_split(np.arange(len(y)), 7):
        cut = cut.partial_fit(X[part], y[part], classes=np.arange(n_classes))
    np.testing.assert_array_equal(cut.coef_, once.coef_)
    np.testing.assert_array_equal(cut.intercept_, once.intercept_)
    assert (cut.t_, cut.n_updates_) == (once.t_, once.n_updates_) == (len(y), once.n_updates_)


def test_a_stream_goes_on_from_a_fit():
    X, y = pieces()
    with pytest.warns(ConvergenceWarning):
        half = Perceptron(max_iter=1, shuffle=False, output="averaged").fit(X[:40], y[:40])
    half = half.partial_fit(X[40:], y[40:])
    whole = Perceptron(output="averaged").partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(half.coef_, whole.coef_)
    assert half.n_updates_ == whole.n_updates_


def test_a_stream_is_not_taken_for_a_proof():
    X, y = np.array([[-1.0], [1.0], [2.0]]), np.array([0, 1, 1])
    model = Perceptron().fit(X, y)
    assert model.witness_ is not None
    model.partial_fit(X, y)
    assert model.witness_ is None
    assert model.mistake_bound_ is None
    for gone in ("mistakes_", "support_", "dual_coef_", "support_vectors_"):
        assert not hasattr(model, gone)
    with pytest.raises(NotSupportedError, match="A perceptron minimises nothing"):
        certify(model, X, y)
    assert "learned from a stream, whose samples are gone" in report(model, X, y)
    assert set(bounds.of_model(model, X, y)) == {"vc_rate"}


def test_weights_of_a_stream_are_lengths_of_its_updates():
    X, y = pieces()
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], size=len(y))
    model = Perceptron(eta=0.1).partial_fit(X, y, classes=[0, 1], sample_weight=weights)
    w, b, updates = np.zeros(4), 0.0, 0
    for x, sign, weight in zip(X, 2 * y - 1, weights, strict=True):
        if weight > 0 and sign * (x @ w + b) <= 0:
            w, b, updates = w + 0.1 * weight * sign * x, b + 0.1 * weight * sign, updates + 1
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)
    assert model.intercept_[0] == pytest.approx(b)
    assert (model.n_updates_, model.t_) == (updates, (weights > 0).sum())


def test_a_stream_is_scikit_learns():
    X, y = pieces()
    ours, theirs = Perceptron(), sklearn.linear_model.Perceptron(shuffle=False)
    for part in np.array_split(np.arange(len(y)), 5):
        ours = ours.partial_fit(X[part], y[part], classes=[0, 1])
        theirs = theirs.partial_fit(X[part], y[part], classes=[0, 1])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "piece", "match"),
    [
        ({}, {"classes": None}, "classes must be passed on the first call"),
        ({}, {"classes": [0]}, "at least two classes"),
        ({}, {"y": [0, 5, 1]}, "are none of classes"),
        ({}, {"sample_weight": [1.0, -1.0, 1.0]}, "Negative"),
        ({"output": "voted"}, {}, "samples that a stream does not keep"),
        ({"margin": "compute"}, {}, "samples that a stream does not keep"),
        ({"eta": -1.0}, {}, "eta is the learning rate"),
    ],
)
def test_what_a_stream_cannot_use_is_refused_and_changes_nothing(settings, piece, match):
    model = Perceptron(**settings)
    with pytest.raises(InvalidInputError, match=match):
        model.partial_fit(**({"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 1], "classes": [0, 1]} | piece))
    assert not hasattr(model, "classes_")


def test_a_stream_keeps_its_number_of_features_and_its_classes():
    model = Perceptron().partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.partial_fit([[0.0]], [0])
    with pytest.raises(InvalidInputError, match="is not what the first call had"):
        model.partial_fit([[0.0, 1.0]], [0], classes=[0, 1, 2])
    assert model.partial_fit([[0.0, 1.0]], [0]).t_ == 3  # a piece of one class


def test_a_kernel_has_no_stream_and_says_why():
    assert not hasattr(Perceptron(kernel="rbf"), "partial_fit")
    with pytest.raises(AttributeError) as error:
        Perceptron(kernel="rbf").partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    assert "keeps no samples" in f"{error.value} {error.value.__cause__}"


def test_a_stream_goes_on_from_a_file(tmp_path):
    X, y = pieces(3)
    model = Perceptron(output="averaged").partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    save(model, tmp_path / "m.maxmargin")
    twin = load(tmp_path / "m.maxmargin").partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(twin.coef_, model.partial_fit(X[50:], y[50:]).coef_)
    assert twin.t_ == model.t_ == 90
