"""What all estimators share: parameters without a written `__init__`, and one fit."""

import copy
import inspect

import numpy as np
import pytest
from dask.tokenize import tokenize
from sklearn.base import clone
from sklearn.datasets import load_iris

from maxmargin import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron
from maxmargin.core import products

X, Y = load_iris(return_X_y=True)
ALL = (SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron)


@pytest.mark.parametrize(
    ("kind", "positional"),
    [(SVC, ["C"]), (LinearSVC, ["penalty", "loss"]), *((kind, []) for kind in ALL[1:2] + ALL[3:])],
)
def test_few_parameters_may_be_given_without_their_name(kind, positional):
    parameters = inspect.signature(kind).parameters.values()
    assert [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD] == positional
    assert {one.name for one in parameters} == set(kind().get_params()) == set(vars(kind()))


@pytest.mark.parametrize("kind", ALL)
def test_every_parameter_is_explained(kind):
    for name in kind().get_params():
        assert name in kind.__doc__, name


@pytest.mark.parametrize("kind", ALL)
def test_estimators_are_compared_by_identity_and_cloned_by_parameters(kind):
    one = kind(max_seconds=7.0)
    twin = clone(one)
    assert one != twin
    assert hash(one) != hash(twin)
    assert repr(one) == repr(twin) == f"{kind.__name__}(max_seconds=7.0)"


def test_models_with_the_same_parameters_are_not_the_same_to_dask():
    one, other = SVC().fit(X, Y), SVC().fit(X[::2], Y[::2])
    assert tokenize(one) == tokenize(copy.deepcopy(one))
    assert tokenize(one) != tokenize(other)
    assert tokenize(one.predict) != tokenize(other.predict)
    assert tokenize(SVC(kernel=lambda A, B: A @ B.T)) != tokenize(SVC())


def test_certified_predictions_score_once(monkeypatch):
    model, calls, scores = LinearSVC().fit(X, Y), [], products.scores

    def counted(*arguments):
        calls.append(arguments)
        return scores(*arguments)

    monkeypatch.setattr(products, "scores", counted)
    labels, _ = model.certified_predictions(X)
    assert len(calls) == 1
    np.testing.assert_array_equal(labels, model.predict(X))


def test_a_stream_leaves_the_weights_that_it_is_given():
    weights = np.ones(len(Y))
    PegasosSVC(class_weight={0: 2.0}).partial_fit(X, Y, classes=[0, 1, 2], sample_weight=weights)
    assert (weights == 1.0).all()
