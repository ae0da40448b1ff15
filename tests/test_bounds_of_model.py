"""`bounds.of_model`: the theorems on numbers measured on a fitted model."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from maxmargin import HardMarginSVC, InvalidInputError, bounds

X = np.array([[-3.0], [-2.0], [2.0], [4.0]])
Y = np.array([0, 0, 1, 1])


def homogeneous():
    """x = −3, −2, 2, 4 through the origin: w = ½, γ = 2, ρ = 4, support −2 and 2."""
    return bounds.of_model(HardMarginSVC(fit_intercept=False).fit(X, Y), X, Y, delta=0.1)


def test_the_hard_margin_bound_by_hand():
    found = homogeneous()["hard_margin"]
    assert float(found) == pytest.approx(math.sqrt(4 * (4 / 2) ** 2 / 4) + math.sqrt(2 * math.log(2 / 0.1) / 4))
    assert dict(found.inputs) == pytest.approx({"rho": 4.0, "gamma": 2.0, "m": 4, "delta": 0.1})


def test_the_perceptron_bound_by_hand():
    found = homogeneous()["perceptron_updates"]
    assert int(found) == (4 // 2) ** 2
    assert not found.plug_in, "it speaks of the very samples that were measured"


def test_the_soft_margin_bound_by_hand():
    """ρB = 4 · ½, no hinge loss."""
    assert float(homogeneous()["soft_margin_best"]) == pytest.approx(math.sqrt(8 * (4 * 0.5) ** 2 / 4))


def test_the_support_vectors_are_counted():
    model = HardMarginSVC(fit_intercept=False).fit(X, Y)
    found = bounds.of_model(model, X, Y)["leave_one_out_support"]
    assert float(found) == len(model.support_) / 4
    assert dict(found.inputs) == {"n_support": len(model.support_), "m": 4}


def test_a_bias_is_one_more_dimension():
    assert float(homogeneous()["vc_rate"]) == pytest.approx(math.sqrt(1 / 4))
    with_bias = bounds.of_model(HardMarginSVC().fit(X, Y), X, Y)["vc_rate"]
    assert float(with_bias) == pytest.approx(math.sqrt(2 / 4))


def test_figures_measured_on_a_sample_say_so():
    found = homogeneous()
    plug_in = {name for name, bound in found.items() if bound.plug_in}
    assert plug_in == {"hard_margin", "soft_margin_best", "leave_one_out_support"}
    assert all("plug-in figure" in str(found[name]) for name in plug_in)


def test_few_samples_make_vacuous_bounds_and_many_do_not():
    found = homogeneous()
    assert found["hard_margin"].vacuous
    assert "vacuous" in str(found["hard_margin"])
    assert not found["leave_one_out_support"].vacuous
    assert not found["perceptron_updates"].vacuous
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    many = (2 * y - 1)[:, None] * np.array([2.0, 0.0]) + rng.uniform(-1, 1, size=(4000, 2))
    assert not bounds.of_model(HardMarginSVC(fit_intercept=False).fit(many, y), many, y)["hard_margin"].vacuous


def test_the_probability_of_failure_is_passed_on():
    model = HardMarginSVC().fit(X, Y)
    loose, strict = (bounds.of_model(model, X, Y, delta=delta)["hard_margin"] for delta in (0.5, 0.01))
    assert float(loose) < float(strict)
    assert loose.inputs["delta"] == 0.5
    with pytest.raises(InvalidInputError, match="delta"):
        bounds.of_model(model, X, Y, delta=1.5)


@pytest.mark.parametrize("shift", [-7.0, -0.3, 0.0, 0.4, 25.0])
def test_the_bias_is_the_weight_of_the_best_constant_feature(shift):
    """min over s of √(ρ² + s²)·√(‖w‖² + b²/s²) = ρ‖w‖ + |b|, found here by searching for s."""
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    data = rng.standard_normal((20, 3)) + 4.0 * (2 * y - 1)[:, None]
    data[:, 0] += shift
    model = HardMarginSVC().fit(data, y)
    rho, norm, b = np.linalg.norm(data, axis=1).max(), np.linalg.norm(model.coef_), abs(model.intercept_[0])
    searched = minimize_scalar(
        lambda log_s: math.hypot(rho, math.exp(log_s)) * math.hypot(norm, b / math.exp(log_s)),
        bounds=(-12, 12),
        method="bounded",
        options={"xatol": 1e-10},
    ).fun
    found = bounds.of_model(model, data, y)
    inputs = found["soft_margin_best"].inputs
    assert inputs["rho"] * inputs["B"] == pytest.approx(searched, rel=1e-6)
    assert inputs["rho"] * inputs["B"] == pytest.approx(rho * norm + b, rel=1e-9)
    hard = found["hard_margin"].inputs
    assert hard["rho"] / hard["gamma"] == pytest.approx(searched, rel=1e-6), "the closest sample has y F = 1"


def test_the_constant_feature_really_separates_with_that_margin():
    """With the constant feature added the data are separated through the origin, with the claimed γ within the claimed ρ."""
    shifted = X + 1.5
    model = HardMarginSVC().fit(shifted, Y)
    inputs = bounds.of_model(model, shifted, Y)["hard_margin"].inputs
    s = math.sqrt(inputs["rho"] ** 2 - (shifted**2).max())
    wide = np.hstack([shifted, np.full((4, 1), s)])
    best = HardMarginSVC(fit_intercept=False).fit(wide, Y)
    assert inputs["gamma"] <= best.certificate_.margin * (1 + 1e-9)
    assert np.linalg.norm(wide, axis=1).max() == pytest.approx(inputs["rho"])


def test_a_model_with_a_zero_radius_or_bias_is_no_exception():
    found = bounds.of_model(HardMarginSVC().fit([[-1.0], [1.0]], [0, 1]), [[-1.0], [1.0]], [0, 1])
    assert found["hard_margin"].inputs["rho"] == pytest.approx(1.0)
    assert found["hard_margin"].inputs["gamma"] == pytest.approx(1.0)


def test_a_kernel_has_its_own_radius_and_no_dimension():
    model = HardMarginSVC(kernel="rbf", gamma=0.5, fit_intercept=False).fit(X, Y)
    found = bounds.of_model(model, X, Y)
    assert "vc_rate" not in found
    assert found["hard_margin"].inputs["rho"] == pytest.approx(1.0), "k(x, x) = 1"
    assert found["hard_margin"].inputs["gamma"] == pytest.approx(model.certificate_.margin)


def test_a_model_that_does_not_separate_has_no_hard_margin_bound():
    model = HardMarginSVC().fit(X, Y)
    model.intercept_ = model.intercept_ + 10.0
    found = bounds.of_model(model, X, Y)
    assert "hard_margin" not in found
    assert "perceptron_updates" not in found
    z = np.where(Y == 1, 1, -1) * model.decision_function(X)
    assert found["soft_margin_best"].inputs["hinge_loss"] == pytest.approx(np.maximum(0, 1 - z).mean())


def test_several_classes_are_refused():
    data, labels = load_iris(return_X_y=True)
    model = HardMarginSVC(kernel="rbf", gamma=2.0).fit(data, labels)
    with pytest.raises(InvalidInputError, match="two classes, this model has 3"):
        bounds.of_model(model, data, labels)


def test_other_models_and_other_data_are_refused():
    with pytest.raises(InvalidInputError, match="maxmargin estimator is needed"):
        bounds.of_model(SVC().fit(X, Y), X, Y)
    with pytest.raises(NotFittedError):
        bounds.of_model(HardMarginSVC(), X, Y)
    with pytest.raises(InvalidInputError, match="training data are needed"):
        bounds.of_model(HardMarginSVC().fit(X, Y), X[1:], Y[1:])


def test_the_functions_on_numbers_are_here_too():
    from maxmargin.analysis import bounds as on_numbers
    from maxmargin.bounds import hard_margin

    assert hard_margin is on_numbers.hard_margin
    assert set(on_numbers.__all__) - {"Kind"} <= set(bounds.__all__)
