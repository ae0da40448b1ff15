"""SVC on bad and odd input: what is wrong is said, nothing is changed, and what is merely odd is solved."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from maxmargin import SVC, ConvergenceWarning, InvalidInputError, NotSeparableError, NotSupportedError, Status, certify
from maxmargin.solvers import InteriorPoint
from tests.test_bad_input import DATA, PARAMETERS, WEIGHTS, X, Y, unchanged_after

REFUSED = [name for name, (_, _, error, _) in DATA.items() if error is not NotSeparableError]
OWN_PARAMETERS = [
    ({"C": 0.0}, "C = 0.0 where a number > 0 is wanted"),
    ({"C": -1.0}, "C = -1.0 where a number > 0 is wanted"),
    ({"C": np.nan}, "C = nan"),
    ({"C": "large"}, "C = 'large'"),
    ({"loss": "log"}, r"loss must be one of \('hinge', 'squared_hinge', 'ramp'\), got 'log'"),
    ({"class_weight": {0: -1.0}}, "class_weight must be positive for every class"),
    ({"warm_start": 1}, "warm_start must be True or False, got 1"),
    ({"shrinking": "yes"}, "shrinking must be True or False, got 'yes'"),
    ({"verbose": -2}, "verbose must be True, False or an integer ≥ 0, got -2"),
    ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
    ({"solver": "interior"}, "solver must be 'auto', one of"),
]


@pytest.fixture(params=["fresh", "fitted"])
def model(request):
    return SVC() if request.param == "fresh" else SVC().fit(X, Y)


@pytest.mark.parametrize("name", REFUSED)
def test_data_that_cannot_be_used_are_refused_with_a_sentence(name, model):
    data, labels, error, match = DATA[name]
    unchanged_after(error, match, lambda m: m.fit(data, labels), model)


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_that_cannot_be_used_are_refused_with_a_sentence(name, model):
    weights, error, match = WEIGHTS[name]
    unchanged_after(error, match, lambda m: m.fit(X, Y, sample_weight=weights), model)


@pytest.mark.parametrize(("parameters", "match"), PARAMETERS + OWN_PARAMETERS, ids=str)
def test_wrong_parameters_are_refused_with_a_sentence(parameters, match, model):
    model.set_params(**parameters)
    unchanged_after(InvalidInputError, match, lambda m: m.fit(X, Y), model)


def test_a_solver_that_cannot_take_a_kernel_says_so():
    with pytest.raises(NotSupportedError, match="linear"):
        SVC(solver="dual_cd").fit(X, Y)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_nothing_is_predicted_before_a_fit(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(SVC(), method)(X)


def test_new_rows_must_look_like_the_training_data(model):
    model.fit(X, Y)
    unchanged_after(ValueError, "X has 1 features, but SVC is expecting 2", lambda m: m.predict(X[:, :1]), model)
    unchanged_after(ValueError, "Input X contains NaN", lambda m: m.predict(X * np.nan), model)


# ------------------------------------------------------------------------------------------------- odd, but good, input


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_identical_rows_with_both_labels_are_solved(kernel):
    model = SVC(kernel=kernel).fit(np.ones((6, 2)), [0, 0, 0, 0, 1, 1])
    assert (model.predict(np.ones((3, 2))) == 0).all()
    assert model.status_ is Status.SOLVED


def test_a_row_with_both_labels_costs_its_slack():
    model = SVC(kernel="linear", tol=1e-9).fit(X[[0, 0, 2, 2]], [0, 1, 1, 1])
    assert model.certificate_.relative_gap <= 1e-9


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_large_and_small_scales_are_solved(scale, kernel):
    C = 1.0 if kernel == "rbf" else 1.0 / scale**2
    if kernel == "linear" and not 1e-250 < C < 1e250:
        pytest.skip("such a cost is beyond float64")
    plain, scaled = SVC(kernel=kernel).fit(X, Y), SVC(C, kernel=kernel).fit(scale * X, Y)
    assert scaled.certificate_.relative_gap <= 1e-3
    np.testing.assert_allclose(scaled.decision_function(scale * X), plain.decision_function(X), rtol=1e-5)


def test_subnormal_values_among_others_do_no_harm():
    tiny = np.column_stack([X, [1e-310, 0.0, -1e-310, 5e-324]])
    model = SVC(gamma=1.0, tol=1e-9).fit(tiny, Y)
    np.testing.assert_allclose(model.decision_function(tiny), SVC(gamma=1.0, tol=1e-9).fit(X, Y).decision_function(X), atol=1e-9)


@pytest.mark.parametrize("columns", [1, 2])
def test_constant_features_and_single_features_are_solved(columns):
    data = np.column_stack([X[:, :columns], np.full(4, 7.0)])
    assert SVC(C=100).fit(data, Y).score(data, Y) == 1.0
    assert SVC(C=100).fit(X[:, :1], Y).score(X[:, :1], Y) == 1.0


def test_nothing_but_constant_features_predict_the_heavier_class():
    data = np.full((5, 2), 3.0)
    assert (SVC().fit(data, [0, 1, 1, 1, 0]).predict(data) == 1).all()


def test_repeated_rows_are_weights():
    twice = SVC(C=0.5, gamma=1.0, tol=1e-9).fit(np.vstack([X, X]), np.append(Y, Y))
    once = SVC(C=1.0, gamma=1.0, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(twice.decision_function(X), once.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("form", ["read-only", "fortran", "strided", "list", "float32", "integers", "int64 indices"])
def test_every_form_of_the_same_data_has_the_same_answer(form):
    data = X.copy()
    expected = SVC(gamma=1.0, tol=1e-9).fit(data, Y).decision_function(X)
    if form == "read-only":
        data.flags.writeable = False
    elif form == "int64 indices":
        data = sp.csr_array(data)
        data.indices, data.indptr = data.indices.astype(np.int64), data.indptr.astype(np.int64)
    else:
        wide = np.zeros((4, 4))
        wide[:, ::2] = X
        data = {
            "fortran": np.asfortranarray(X),
            "strided": wide[:, ::2],
            "list": X.tolist(),
            "float32": X.astype(np.float32),
            "integers": X.astype(int),
        }[form]
    np.testing.assert_allclose(SVC(gamma=1.0, tol=1e-9).fit(data, Y).decision_function(X), expected, atol=1e-6)


# ------------------------------------------------------------------------------------------------------------- budgets


def overlapping(n_classes=2):
    rng = np.random.default_rng(0)
    return rng.standard_normal((300, 3)), rng.integers(0, n_classes, 300)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_spent_budget_gives_a_certified_model_and_one_warning_a_problem(n_classes):
    data, labels = overlapping(n_classes)
    with pytest.warns(ConvergenceWarning, match="Not certified: the gap is"):
        model = SVC(C=10.0, max_seconds=1e-6, tol=1e-9).fit(data, labels)
    assert model.fit_status_ == 1
    assert certify(model, data, labels) == model.certificate_
    assert model.predict(data).shape == labels.shape


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_model_does_not_depend_on_the_threads(n_classes):
    data, labels = overlapping(n_classes)
    one, two = (SVC(n_jobs=n_jobs).fit(data, labels) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


def test_verbose_names_the_pairs_on_stderr(capsys):
    SVC(verbose=True).fit(*overlapping(3))
    assert "SVC, 0 against 1: gap" in capsys.readouterr().err


@pytest.mark.parametrize("solver", ["auto", "interior_point"])
def test_without_shrinking_the_optimum_is_the_same(solver):
    data = overlapping(2)
    a, b = (SVC(shrinking=s, solver=solver, tol=1e-6).fit(*data).certificate_.primal for s in (True, False))
    assert a == pytest.approx(b, rel=2e-6)


def test_a_switch_that_the_solver_has_reaches_it():
    @dataclass(frozen=True)
    class Switched(InteriorPoint):
        shrinking: bool = True

        def init(self, *args):
            assert not self.shrinking
            return super().init(*args)

    assert SVC(shrinking=False, solver=Switched()).fit(X, Y).score(X, Y) == 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_interrupted_fit_keeps_the_best_model_so_far(monkeypatch, n_classes):
    def pressed(*args):
        raise KeyboardInterrupt

    data, labels = overlapping(n_classes)
    monkeypatch.setattr(InteriorPoint, "step", pressed)
    model = SVC(solver="interior_point")
    with pytest.raises(KeyboardInterrupt):
        model.fit(data, labels)
    certificates = model.certificate_ if n_classes > 2 else (model.certificate_,)
    assert all(np.isfinite(certificate.gap) for certificate in certificates)
    assert certify(model, data, labels) == model.certificate_
