"""LinearSVC on the data of its users' bug reports: what stalled, hung or came out wrong elsewhere."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.exceptions
import sklearn.svm
from sklearn.datasets import load_breast_cancer

from maxmargin import ConvergenceWarning, HardMarginSVC, LinearSVC, Status, certify

SOLVERS = ("dual_cd", "proximal_newton")  # "auto" takes the second: there are few features here
BIASES = {"free": {}, "none": {"fit_intercept": False}, "penalised": {"intercept_scaling": 1.0}}
LOSSES = ("hinge", "squared_hinge")

every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_bias = pytest.mark.parametrize("bias", BIASES)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def blobs(n=400, d=6, shift=0.4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    return rng.standard_normal((n, d)) + shift * y[:, None], y


def proved(model, X, y, tol):
    """The fit ended by a proof, and the proof holds when it is computed again."""
    assert model.status_ is Status.SOLVED
    again = certify(model, X, y)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert again.relative_gap <= tol
    assert model.certificate_.relative_gap <= tol
    return model


# -- the plateau above the optimum (scikit-learn #22283): more iterations, the same wrong value ------------------------------


CANCER = load_breast_cancer()


@cache
def value_of_liblinear(C):
    """The objective where it gives up, of its own problem: the bias is penalised."""
    peer = sklearn.svm.LinearSVC(C=C, loss="hinge", tol=1e-10, max_iter=20_000, random_state=0)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        peer.fit(CANCER.data, CANCER.target)
    w, b = peer.coef_[0], float(peer.intercept_[0])
    margins = (2.0 * CANCER.target - 1.0) * (CANCER.data @ w + b)
    return 0.5 * (w @ w + b * b) + C * np.maximum(0.0, 1.0 - margins).sum()


@every_solver
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_unscaled_data_on_which_liblinear_stays_above_the_optimum_are_solved(solver, C):
    X, y = CANCER.data, CANCER.target
    model = proved(LinearSVC(C=C, intercept_scaling=1.0, tol=1e-8, solver=solver).fit(X, y), X, y, 1e-8)
    assert model.certificate_.primal <= value_of_liblinear(C)
    assert value_of_liblinear(C) > 1.2 * model.certificate_.primal, "the plateau that the report is about"


# -- features of very different sizes -----------------------------------------------------------------------------------------


@every_bias
@pytest.mark.parametrize("solver", ["proximal_newton", "dual_cd"])
def test_features_from_a_millionth_to_a_billion_side_by_side_are_solved(solver, bias):
    X, y = blobs()
    X = X * np.array([1e9, 1e4, 1.0, 1e-3, 1e-6, 1e5])
    with np.errstate(all="raise", under="ignore"):
        model = LinearSVC(tol=1e-6, solver=solver, **BIASES[bias]).fit(X, y)
    proved(model, X, y, 1e-6)


@pytest.mark.parametrize(
    ("solver", "scales"),
    [
        ("dual_cd", (1e4, 1e-6)),
        ("dual_cd", (1e6, 1.0)),
        ("dual_cd", (1e6, 1e-6)),
        ("proximal_newton", (1e4, 1e-6)),
        ("proximal_newton", (1e6, 1.0)),
        ("proximal_newton", (1e6, 1e-6)),
    ],
)
def test_a_large_and_a_small_feature_beside_ordinary_ones_are_solved(solver, scales):
    X, y = blobs()
    X[:, :2] *= scales
    proved(LinearSVC(tol=1e-6, solver=solver).fit(X, y), X, y, 1e-6)


def test_sparse_features_from_a_millionth_to_ten_thousand_are_solved():
    rng = np.random.default_rng(0)
    X = sp.random(4000, 500, density=0.02, random_state=0, format="csr")
    X = sp.csr_array(X @ sp.diags_array(10.0 ** rng.uniform(-6, 4, 500)))
    X.sort_indices()
    y = rng.random(4000) < 0.5
    proved(LinearSVC(tol=1e-6).fit(X, y), X, y, 1e-6)


def test_data_far_from_the_origin_are_solved():
    X, y = blobs()
    near, far = (LinearSVC(tol=1e-8).fit(data, y) for data in (X, X + 1e4))
    proved(far, X + 1e4, y, 1e-8)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)  # a free bias takes the shift


# -- one class is rare --------------------------------------------------------------------------------------------------------


@every_solver
@every_bias
@every_loss
def test_one_positive_among_ten_thousand_is_solved(solver, bias, loss):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((10_001, 5)), np.arange(10_001) == 0
    X[0] += 3.0
    proved(LinearSVC(loss=loss, tol=1e-6, solver=solver, **BIASES[bias]).fit(X, y), X, y, 1e-6)


@pytest.mark.parametrize(
    ("class_weight", "loss"),
    [
        (None, "hinge"),
        (None, "squared_hinge"),
        ("balanced", "hinge"),
        ("balanced", "squared_hinge"),
    ],
)
def test_twenty_positives_among_twenty_thousand_are_solved(class_weight, loss):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 5)), np.arange(20_000) < 20
    X[:20] += 3.0
    model = LinearSVC(loss=loss, tol=1e-6, class_weight=class_weight, solver="proximal_newton").fit(X, y)
    proved(model, X, y, 1e-6)


# -- nothing to learn from --------------------------------------------------------------------------------------------------


@every_solver
@every_bias
def test_rows_with_both_labels_teach_nothing(solver, bias):
    """F(x) for one and −F(x) for the other: hinge(F) + hinge(−F) ≥ 2, reached by F = 0."""
    X, y = blobs()
    X, y = np.vstack([X, X]), np.concatenate([y, -y])
    model = proved(LinearSVC(tol=1e-8, solver=solver, **BIASES[bias]).fit(X, y), X, y, 1e-8)
    assert model.certificate_.primal == pytest.approx(len(y), rel=1e-8)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-3)


@every_solver
@pytest.mark.parametrize("value", [0.0, 1.0, 1e4])
def test_a_constant_feature_gets_no_weight_beside_a_free_bias(solver, value):
    X, y = blobs()
    plain = LinearSVC(tol=1e-10, solver=solver).fit(X, y)
    wider = np.column_stack([X, np.full(len(y), value)])
    model = proved(LinearSVC(tol=1e-10, solver=solver).fit(wider, y), wider, y, 1e-10)
    np.testing.assert_allclose(model.coef_[0], [*plain.coef_[0], 0.0], atol=1e-5)


@every_solver
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_zeros_cost_their_slack_and_teach_nothing_without_a_bias(solver, form):
    X, y = blobs()
    padded, labels = np.vstack([X, np.zeros((100, 6))]), np.concatenate([y, np.ones(100)])
    plain, model = (
        LinearSVC(tol=1e-10, fit_intercept=False, solver=solver).fit(form(data), target)
        for data, target in ((X, y), (padded, labels))
    )
    proved(model, form(padded), labels, 1e-10)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-5)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal + 100.0, rel=1e-9)


@every_solver
@every_bias
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_data_of_nothing_but_zeros_have_an_answer(solver, bias, form):
    X, y = form(np.zeros((50, 3))), np.arange(50) % 5 == 0
    model = proved(LinearSVC(tol=1e-9, solver=solver, **BIASES[bias]).fit(X, y), X, y, 1e-9)
    np.testing.assert_array_equal(model.coef_, np.zeros((1, 3)))


# -- costs that are next to nothing, and next to infinite ----------------------------------------------------------------------


@every_solver
def test_a_tiny_cost_gives_the_difference_of_the_sums(solver):
    """All samples are inside the margin, α = C: w = C Σ y_j x_j."""
    X, y = blobs()
    model = proved(LinearSVC(C=1e-10, fit_intercept=False, tol=1e-9, solver=solver).fit(X, y), X, y, 1e-9)
    np.testing.assert_allclose(model.coef_[0], 1e-10 * (y @ X), rtol=1e-9)


@every_solver
@every_bias
@every_loss
def test_a_tiny_cost_is_solved(solver, bias, loss):
    X, y = blobs()
    proved(LinearSVC(C=1e-10, loss=loss, tol=1e-6, solver=solver, **BIASES[bias]).fit(X, y), X, y, 1e-6)


@every_solver
def test_a_huge_cost_gives_the_hard_margin_of_separable_data(solver):
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = rng.standard_normal((200, 4))
    X[:, 0] += np.where(y == 1, 4.0, -4.0)
    model = proved(LinearSVC(C=1e10, tol=1e-6, max_iter=5000, solver=solver).fit(X, y), X, y, 1e-6)
    np.testing.assert_allclose(model.coef_, HardMarginSVC().fit(X, y).coef_, atol=1e-3)


@pytest.mark.parametrize(
    ("solver", "bias"),
    [
        ("dual_cd", "free"),
        ("dual_cd", "none"),
        ("dual_cd", "penalised"),
        ("proximal_newton", "free"),
        ("proximal_newton", "none"),
        ("proximal_newton", "penalised"),
    ],
)
@every_loss
def test_a_huge_cost_is_solved_where_the_classes_overlap(solver, bias, loss):
    X, y = blobs()
    model = LinearSVC(C=1e10, loss=loss, tol=1e-6, solver=solver, **BIASES[bias]).fit(X, y)
    proved(model, X, y, 1e-6)


# -- max_iter: a promise, not a hope --------------------------------------------------------------------------------------------


@every_solver
@pytest.mark.parametrize("max_iter", [1, 2, 5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_few_rounds_give_a_certified_model_and_a_warning(solver, max_iter, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 100)), rng.integers(0, n_classes, 600)
    model = LinearSVC(solver=solver, max_iter=max_iter, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(X, y)
    statuses, certificates = (model.status_, model.certificate_) if n_classes > 2 else ((model.status_,), (model.certificate_,))
    assert set(statuses) == {Status.ITERATION_BUDGET}
    assert certify(model, X, y) == model.certificate_
    assert all(1e-9 < certificate.relative_gap < np.inf for certificate in certificates)
    assert 1 <= model.n_iter_ <= max_iter
    assert np.isfinite(model.coef_).all()
    assert set(model.predict(X)) <= set(range(n_classes))
    labels, is_certain = model.certified_predictions(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    assert is_certain.shape == (600,)


@every_solver
def test_no_limit_of_rounds_ends_with_the_proof(solver):
    X, y = blobs(n=600, d=30, shift=0.1)
    model = proved(LinearSVC(solver=solver, max_iter=-1, tol=1e-9).fit(X, y), X, y, 1e-9)
    assert LinearSVC(solver=solver, max_iter=model.n_iter_, tol=1e-9).fit(X, y).status_ is Status.SOLVED


@pytest.mark.parametrize(
    ("solver", "n", "bound"),
    [("dual_cd", 200, 100_000), ("proximal_newton", 2000, 1000)],
)
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning", "ignore::RuntimeWarning")
def test_a_tolerance_that_cannot_be_proved_ends_all_the_same(solver, n, bound):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((n, 40)), rng.integers(0, 2, n)
    model = LinearSVC(solver=solver, tol=0.0, max_iter=bound).fit(X, y)  # the bound is for fits that never end
    assert model.status_ is not Status.ITERATION_BUDGET
    assert model.certificate_.relative_gap <= 1e-12


@pytest.mark.parametrize("solver", ["dual_cd", "proximal_newton"])
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_the_end_of_the_arithmetic_is_no_warning_of_numpy(solver):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((2000, 40)), rng.integers(0, 2, 2000)
    model = LinearSVC(solver=solver, tol=0.0, max_iter=40).fit(X, y)
    assert np.isfinite(model.certificate_.gap)


@pytest.mark.parametrize("solver", ["dual_cd", "proximal_newton"])
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_more_rounds_never_give_a_worse_model(solver):
    """The best so far comes back, and w = 0 with its gap of 1 is always at hand."""
    X, y = blobs(n=600, d=100, shift=0.05)
    models = [LinearSVC(solver=solver, max_iter=k, tol=1e-9).fit(X, y) for k in range(6)]
    gaps = [1.0 + 1e-9, *(model.certificate_.relative_gap for model in models)]
    assert gaps == sorted(gaps, reverse=True)
