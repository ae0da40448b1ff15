"""What the ramp loss leaves out, and what it proves."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from maxmargin import SVC, LinearSVC, certify
from tests.problems import clouds

by_name = {"ids": repr}


def test_the_ramp_forgets_what_drags_the_hinge_along():
    # the last sample is worth more to the hinge than the two beside it, whatever the line
    X, labels = np.array([[-2.0], [-1.0], [1.0], [2.0], [9.0]]), np.array([-1, -1, 1, 1, -1])
    hinge, ramp = LinearSVC(C=10).fit(X, labels), LinearSVC(C=10, loss="ramp", n_starts=5).fit(X, labels)
    assert hinge.score(X[:4], labels[:4]) < 1.0
    assert ramp.score(X[:4], labels[:4]) == 1.0
    np.testing.assert_array_equal(ramp.outliers_, [4])


def test_flipped_labels_are_among_the_outliers():
    X, labels, _ = clouds(seed=3, n=200, flips=30)
    ramp = LinearSVC(loss="ramp").fit(X, labels)
    assert np.isin(ramp.outliers_, np.arange(30)).mean() > 0.7
    z = labels * ramp.decision_function(X)
    np.testing.assert_array_equal(ramp.outliers_, np.flatnonzero(z < 0))
    assert ramp.objective_ >= ramp.objective_bound_ == 0.0
    assert not hasattr(ramp.set_params(loss="hinge").fit(X, labels), "outliers_")


def test_more_than_two_classes_have_outliers_each():
    X, y = load_iris(return_X_y=True)
    for model in (LinearSVC(loss="ramp"), SVC(loss="ramp"), SVC(loss="ramp", kernel="linear")):
        model.fit(X, y)
        assert len(model.outliers_) == len(model.objective_) == 3
        assert certify(model, X, y).worst.relative_gap <= 1e-3
        assert model.score(X, y) > 0.8


@pytest.mark.parametrize("model", [LinearSVC(loss="ramp", warm_start=True), SVC(loss="ramp", warm_start=True)], **by_name)
def test_a_warm_start_begins_at_the_last_outliers(model):
    X, labels, _ = clouds()
    first = clone(model).fit(X, labels).objective_
    model = clone(model).fit(X, labels).fit(X, labels)
    assert model.objective_ <= first * (1 + 1e-3)


def test_the_exact_search_proves_its_bound():
    X, labels, _ = clouds(n=12, d=2, flips=2)
    model = LinearSVC(loss="ramp", solver="exact", tol=1e-4).fit(X, labels)
    assert model.objective_ * (1 - 1e-4) <= model.objective_bound_ <= model.objective_
    assert model.objective_ <= LinearSVC(loss="ramp", tol=1e-8).fit(X, labels).objective_ * (1 + 1e-6)
