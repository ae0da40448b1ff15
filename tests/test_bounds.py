"""`bounds.of_model`: the theorems on numbers measured on a fitted model."""

import math

import numpy as np
import pytest
import sklearn.svm
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import maxmargin
from maxmargin import (
    ConvergenceWarning,
    HardMarginSVC,
    InvalidInputError,
    LinearSVC,
    NotSupportedError,
    PegasosSVC,
    Perceptron,
    Regularization,
    bounds,
    certify,
    export,
    load,
)

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


def circle(m=400):
    """Unit vectors with a margin: ρ = 1."""
    angle = np.random.default_rng(0).uniform(-1.2, 1.2, size=m) + np.pi * (np.arange(m) % 2)
    return np.column_stack([np.cos(angle), np.sin(angle)]), np.arange(m) % 2


def test_a_model_does_not_get_the_bound_of_another_lambda():
    """With ρ = 1, m = 400 and λ = 1e-4 the corollary has 2ρ²/(λm) = 50, whatever the best λ would give."""
    data, labels = circle()
    model = LinearSVC(C=Regularization.tikhonov(1e-4), fit_intercept=False, tol=1e-8).fit(data, labels)
    found = bounds.of_model(model, data, labels)
    z = (2 * labels - 1) * model.decision_function(data)
    by_hand = np.maximum(0, 1 - z).mean() + 1e-4 * np.linalg.norm(model.coef_) ** 2 + 2 / (1e-4 * 400)
    assert float(found["soft_margin"]) == pytest.approx(by_hand)
    assert float(found["soft_margin"]) > 50
    assert found["soft_margin"].inputs["lam"] == pytest.approx(1e-4)
    assert "soft_margin_best" not in found


def test_a_penalised_bias_is_the_weight_of_its_own_constant_feature():
    data, labels = circle(40)
    wide = np.hstack([data, np.full((40, 1), 2.0)])
    settings = {"C": Regularization.tikhonov(0.05), "tol": 1e-10}
    one = LinearSVC(intercept_scaling=2.0, **settings).fit(data, labels)
    other = LinearSVC(fit_intercept=False, **settings).fit(wide, labels)
    first, second = (bounds.of_model(*three)["soft_margin"] for three in ((one, data, labels), (other, wide, labels)))
    assert float(first) == pytest.approx(float(second), rel=1e-4)
    assert first.assumptions == second.assumptions


def test_a_free_bias_is_no_part_of_the_theorem_and_the_bound_says_so():
    data, labels = circle(40)
    data[:, 0] += 1.0
    model = LinearSVC(C=Regularization.tikhonov(0.05), tol=1e-10).fit(data, labels)
    found = bounds.of_model(model, data, labels)["soft_margin"]
    rho, norm, b = np.linalg.norm(data, axis=1).max(), np.linalg.norm(model.coef_), abs(model.intercept_[0])
    z = (2 * labels - 1) * model.decision_function(data)
    searched = minimize_scalar(
        lambda log_s: 0.05 * (b / math.exp(log_s)) ** 2 + 2 * math.exp(log_s) ** 2 / (0.05 * 40),
        bounds=(-9, 9), method="bounded", options={"xatol": 1e-10},
    ).fun  # fmt: skip
    assert float(found) == pytest.approx(np.maximum(0, 1 - z).mean() + 0.05 * norm**2 + 2 * rho**2 / 2 + searched)
    assert "does not penalise it" in str(found)
    assert "does not penalise it" in str(bounds.of_model(HardMarginSVC().fit(X, Y), X, Y)["hard_margin"])
    assert "does not penalise it" not in str(homogeneous()["hard_margin"])


UNCOVERED = {
    "squared hinge": LinearSVC(loss="squared_hinge"),
    "L1": LinearSVC(penalty="l1"),
    "ramp": LinearSVC(loss="ramp"),
    "hard margin": HardMarginSVC(),
    "unequal costs": LinearSVC(class_weight={0: 1.0, 1: 2.0}),
}


@pytest.mark.parametrize("name", UNCOVERED)
def test_a_model_that_the_corollary_does_not_cover_has_none(name):
    found = bounds.of_model(UNCOVERED[name].fit(X, Y), X, Y)
    assert not {"soft_margin", "soft_margin_best"} & set(found)
    assert ("hard_margin" in found) is (name == "hard margin")
    assert ("leave_one_out_support" in found) is (name not in ("L1", "ramp"))


def test_a_soft_margin_that_separates_is_not_the_hard_margin():
    found = bounds.of_model(LinearSVC(C=100.0).fit(X, Y), X, Y)
    assert "hard_margin" not in found
    assert "perceptron_updates" in found


def test_samples_that_the_ramp_leaves_out_still_count():
    """It leaves the last one out and separates the others: no hyperplane separates all."""
    data, labels = np.array([[-3.0], [-2.0], [2.0], [3.0], [9.0]]), np.array([0, 0, 1, 1, 0])
    model = LinearSVC(loss="ramp", C=10.0, solver="exact").fit(data, labels)
    assert model.outliers_.tolist() == [4]
    found = bounds.of_model(model, data, labels)
    assert "perceptron_updates" not in found
    assert found["vc_rate"].inputs["m"] == 5


@pytest.mark.parametrize(("size", "shift"), [(0.02, 0.05), (0.01, 0.02), (0.1, 0.2), (5.0, 1.0), (2.0, -1.5)])
def test_no_perceptron_makes_more_updates_than_its_bound(size, shift):
    """The constant feature of `Perceptron` is 1, so that of the bound is 1: the best one has (ρ‖w‖ + |b|)², too few here."""
    data = size * np.array([[0.0], [0.5], [1.0], [1.5]]) + shift
    found = bounds.of_model(HardMarginSVC().fit(data, Y), data, Y)["perceptron_updates"]
    for seed in range(3):
        learner = Perceptron(random_state=seed, max_iter=-1).fit(data, Y)
        assert learner.n_updates_ <= int(found)
        assert learner.n_updates_ <= int(bounds.of_model(learner, data, Y)["perceptron_updates"])


def test_no_perceptron_without_an_intercept_makes_more_updates_than_its_bound():
    learner = Perceptron(fit_intercept=False).fit(X, Y)
    assert learner.n_updates_ <= int(homogeneous()["perceptron_updates"])


def test_a_fitted_perceptron_is_not_called_unfitted():
    separable = Perceptron().fit(X, Y)
    assert set(bounds.of_model(separable, X, Y)) == {"perceptron_updates", "vc_rate"}
    with pytest.raises(NotSupportedError, match="A perceptron minimises nothing"):
        certify(separable, X, Y)
    mixed = np.array([0, 1, 0, 1])
    with pytest.warns(ConvergenceWarning):
        confused = Perceptron(max_iter=3).fit(X, mixed)
    assert set(bounds.of_model(confused, X, mixed)) == {"vc_rate"}
    with pytest.warns(ConvergenceWarning):
        kernel = Perceptron(kernel="rbf", gamma=1e-9, max_iter=2).fit(X, mixed)
    assert bounds.of_model(kernel, X, mixed) == {}
    for unfitted in (certify, bounds.of_model):
        with pytest.raises(NotFittedError):
            unfitted(Perceptron(), X, Y)
    data, labels = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        many = Perceptron(max_iter=2).fit(data, labels)
    with pytest.raises(InvalidInputError, match="two classes, this model has 3"):
        bounds.of_model(many, data, labels)


def test_what_a_stream_taught_is_not_called_unfitted():
    model = PegasosSVC().partial_fit(X, Y, classes=[0, 1])
    for question in (certify, bounds.of_model):
        with pytest.raises(NotSupportedError, match="learned from a stream"):
            question(model, X, Y)


def test_a_model_of_another_program_is_not_called_unfitted(tmp_path):
    export(maxmargin.SVC(kernel="linear").fit(X, Y), tmp_path / "m.libsvm")
    with pytest.raises(NotSupportedError, match="was not trained here"):
        certify(load(tmp_path / "m.libsvm"), X, Y)


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
    assert plug_in == {"hard_margin", "leave_one_out_support"}
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
    hard = found["hard_margin"].inputs
    assert hard["rho"] / hard["gamma"] == pytest.approx(searched, rel=1e-6), "the closest sample has y F = 1"
    assert hard["rho"] / hard["gamma"] == pytest.approx(rho * norm + b, rel=1e-6)


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


def test_several_classes_are_refused():
    data, labels = load_iris(return_X_y=True)
    model = HardMarginSVC(kernel="rbf", gamma=2.0).fit(data, labels)
    with pytest.raises(InvalidInputError, match="two classes, this model has 3"):
        bounds.of_model(model, data, labels)


def test_other_models_and_other_data_are_refused():
    with pytest.raises(InvalidInputError, match="from maxmargin import SVC"):
        bounds.of_model(sklearn.svm.SVC().fit(X, Y), X, Y)
    with pytest.raises(NotFittedError):
        bounds.of_model(HardMarginSVC(), X, Y)
    with pytest.raises(InvalidInputError, match="training data are needed"):
        bounds.of_model(HardMarginSVC().fit(X, Y), X[1:], Y[1:])


def test_the_functions_on_numbers_are_here_too():
    from maxmargin.analysis import bounds as on_numbers
    from maxmargin.bounds import hard_margin

    assert hard_margin is on_numbers.hard_margin
    assert set(on_numbers.__all__) - {"Kind"} <= set(bounds.__all__)
