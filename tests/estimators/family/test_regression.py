"""What all regressors share: targets, the tube, the score."""

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.metrics import r2_score

from maxmargin import SVR, NuSVR


def noisy(n=200):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(n)


@pytest.mark.parametrize("model", [SVR(), NuSVR()], ids=str)
def test_the_score_is_r_squared(model):
    X, t = noisy()
    assert is_regressor(model)
    assert model.fit(X, t).score(X, t) == pytest.approx(r2_score(t, model.predict(X)))


@pytest.mark.parametrize("kind", [list, np.asarray, lambda t: t.astype(np.float32), lambda t: np.round(t).astype(int)])
def test_targets_are_numbers_of_any_kind(kind):
    X, t = noisy(40)
    assert SVR().fit(X, kind(t)).predict(X).dtype == np.float64


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epsilon": -0.1}, "epsilon must be a finite number ≥ 0"),
        ({"epsilon": np.nan}, "epsilon must be a finite number ≥ 0"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"C": np.inf}, "finite costs"),
        ({"C": -1.0}, "C"),
        ({"shrinking": 2}, "shrinking"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_wrong_parameters_are_refused_in_words(parameters, words):
    X, t = noisy(20)
    with pytest.raises(ValueError, match=words):
        SVR(**parameters).fit(X, t)


@pytest.mark.parametrize("t", [np.full(20, np.nan), np.full(20, 1e200), np.full(20, 1e-200), ["a"] * 20], ids=str)
def test_targets_that_cannot_be_used_are_refused(t):
    with pytest.raises(ValueError, match=r"NaN|square|convert"):
        SVR().fit(noisy(20)[0], t)
