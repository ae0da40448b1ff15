"""`certify` on an estimator: the stored model is judged, on its training data."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from maxmargin import HardMarginSVC, InvalidInputError, certify

IRIS = load_iris()
X, Y = IRIS.data[IRIS.target < 2], IRIS.target[IRIS.target < 2]
SETTINGS = [
    {},
    {"fit_intercept": False},
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
]


@pytest.mark.parametrize("parameters", SETTINGS)
def test_a_fitted_model_has_the_certificate_that_it_carries(parameters):
    model = HardMarginSVC(**parameters).fit(X, Y)
    assert certify(model, X, Y) == model.certificate_
    assert model.certificate_.relative_gap <= 1e-6


def test_wide_data_have_the_same_certificate_to_the_last_bit():
    wide = np.random.default_rng(0).standard_normal((20, 50_000))
    model = HardMarginSVC().fit(wide, np.arange(20) % 2)
    assert certify(model, wide, np.arange(20) % 2) == model.certificate_


def test_several_classes_have_a_certificate_each():
    model = HardMarginSVC(kernel="rbf", gamma=2.0).fit(IRIS.data, IRIS.target_names[IRIS.target])
    found = certify(model, IRIS.data, IRIS.target_names[IRIS.target])
    assert found == model.certificate_
    assert len(found) == 3
    assert found.worst == model.certificate_.worst
    assert found.worst.relative_gap == max(certificate.relative_gap for certificate in found)


def test_the_gap_is_the_primal_minus_the_dual():
    """By hand for x = −1, 2: w = 2/3, b = −1/3, α = 2/9, ½w² = 2/9."""
    model = HardMarginSVC().fit([[-1.0], [2.0]], [0, 1])
    certificate = certify(model, [[-1.0], [2.0]], [0, 1])
    assert certificate.primal == pytest.approx(0.5 * (2 / 3) ** 2)
    assert certificate.dual == pytest.approx(2 * (2 / 9) - 0.5 * (2 / 3) ** 2)
    assert certificate.gap == pytest.approx(0.0, abs=1e-14)
    assert certificate.margin == pytest.approx(1.5)
    assert certificate.groups == (0, 2, 0)


@pytest.mark.parametrize("parameters", [SETTINGS[0], SETTINGS[2]])
def test_a_tampered_intercept_has_a_larger_gap(parameters):
    model = HardMarginSVC(**parameters).fit(X, Y)
    honest = certify(model, X, Y)
    gaps = []
    for change in (1e-6, 1e-3, 0.1):
        model.intercept_ = HardMarginSVC(**parameters).fit(X, Y).intercept_ + change
        gaps.append(certify(model, X, Y).relative_gap)
    assert honest.relative_gap < gaps[0] < gaps[1] < gaps[2]
    model.intercept_ = model.intercept_ + 10.0
    lost = certify(model, X, Y)
    assert lost.gap == np.inf
    assert "does not separate" in str(lost)


def test_tampered_weights_have_a_larger_gap():
    model = HardMarginSVC().fit(X, Y)
    honest = model.certificate_.relative_gap
    model._weights = model.coef_.copy()
    model._weights[0, 1] += 0.01
    assert certify(model, X, Y).relative_gap > max(1e-6, honest)


def test_tampered_duals_have_a_larger_gap():
    model = HardMarginSVC().fit(X, Y)
    model.dual_coef_ = 0.9 * model.dual_coef_
    assert certify(model, X, Y).relative_gap > 1e-3


def test_the_gap_bounds_how_much_better_any_model_can_be():
    best = HardMarginSVC().fit(X, Y)
    worse = HardMarginSVC().fit(X, Y)
    worse.intercept_ = worse.intercept_ + 0.2
    certificate = certify(worse, X, Y)
    rounding = 1e-14 * certificate.primal  # of the subtraction
    assert certificate.primal - certificate.gap - rounding <= best.certificate_.primal <= certificate.primal


def test_other_data_are_noticed():
    model = HardMarginSVC().fit(X, Y)
    with pytest.raises(InvalidInputError, match=r"The training data are needed.*\(100, 4\).*got \(99, 4\)"):
        certify(model, X[:-1], Y[:-1])
    with pytest.raises(InvalidInputError, match="The training data are needed"):
        certify(model, X[:, :3], Y)
    with pytest.raises(InvalidInputError, match=r"The training data are needed.*classes"):
        certify(model, X, Y + 1)
    with pytest.raises(InvalidInputError, match=r"The training data are needed.*classes"):
        certify(model, IRIS.data[:100], np.arange(100) % 3)


def test_other_data_of_the_same_shape_have_a_gap():
    model = HardMarginSVC().fit(X, Y)
    assert certify(model, X[::-1], Y).gap == np.inf
    assert certify(model, X + 0.01 * np.cos(np.arange(100))[:, None], Y).relative_gap > 1e-4


def test_only_fitted_models_of_this_library_are_certified():
    with pytest.raises(NotFittedError):
        certify(HardMarginSVC(), X, Y)
    with pytest.raises(InvalidInputError, match="Write: from maxmargin import SVC"):
        certify(SVC().fit(X, Y), X, Y)


def test_certifying_changes_nothing():
    model = HardMarginSVC().fit(X, Y)
    before = dict(vars(model))
    certify(model, X, Y)
    assert vars(model) == before


def test_a_parameter_changed_after_the_fit_does_not_change_what_is_judged():
    model = HardMarginSVC(kernel="rbf", gamma=0.7).fit(X, Y)
    expected = model.certificate_
    model.set_params(gamma=5.0)
    assert certify(model, X, Y) == expected


def test_it_reads_as_sentences():
    text = str(HardMarginSVC().fit(X, Y).certificate_)
    assert text.startswith("Optimal to rounding: the objective ")
    assert "from the hyperplane, on its right side." in text
    assert text.endswith("0 inside it or wrong.")
