"""HardMarginSVC against scikit-learn's SVC with a huge C, and the shapes of its answers."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import SVC

from maxmargin import HardMarginSVC, NotSeparableError, Status, UndecidedError
from maxmargin.core import Certificate
from tests.campaign import draw, judge

FITTED = ("classes_", "coef_", "intercept_", "support_", "support_vectors_", "dual_coef_", "n_support_", "n_iter_")


def clouds(n_classes=2, n=12, d=2, seed=0, apart=6.0):
    """Well separated clouds around the corners of a regular polygon, shuffled."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(n_classes) / n_classes
    centres = np.zeros((n_classes, d))
    centres[:, 0] = apart * np.cos(angle)
    if d > 1:
        centres[:, 1] = apart * np.sin(angle)
    y = rng.permutation(np.arange(n * n_classes) % n_classes)
    return centres[y] + rng.uniform(-1, 1, size=(len(y), d)), y


def reference(**parameters):
    return SVC(C=1e10, tol=1e-10, **parameters)


KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.1},
    "rbf scale": {"kernel": "rbf", "gamma": "scale"},
    "rbf auto": {"kernel": "rbf", "gamma": "auto"},
}


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", KERNELS)
def test_it_is_sklearns_svc_with_infinite_c(name, n_classes):
    X, y = clouds(n_classes, seed=n_classes)
    ours, theirs = HardMarginSVC(**KERNELS[name]).fit(X, y), reference(**KERNELS[name]).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-5)
    if name == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    grid = np.random.default_rng(1).uniform(-8, 8, size=(40, 2))
    np.testing.assert_allclose(ours.decision_function(grid), theirs.decision_function(grid), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(grid), theirs.predict(grid))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_attributes_have_sklearns_names_shapes_and_dtypes(n_classes):
    X, y = clouds(n_classes)
    ours, theirs = HardMarginSVC().fit(X, y), reference(kernel="linear").fit(X, y)
    for name in FITTED:
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert type(mine) is type(other), name
        assert mine.dtype == other.dtype, name
        assert mine.shape == other.shape, name
    assert ours.shape_fit_ == theirs.shape_fit_ == X.shape
    assert ours.fit_status_ == theirs.fit_status_ == 0
    assert ours.n_features_in_ == theirs.n_features_in_
    assert (ours.n_iter_ >= 1).all()


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), (3, 7), ("a", "b"), (False, True), (0.0, 2.0)])
def test_labels_of_any_kind_come_back_and_the_second_is_positive(labels):
    X, y = clouds(2)
    named = np.array(labels)[y]
    model = HardMarginSVC().fit(X, named)
    assert model.classes_.dtype == named.dtype
    np.testing.assert_array_equal(model.classes_, np.array(sorted(labels)))
    np.testing.assert_array_equal(model.predict(X), named)
    assert model.predict(X).dtype == named.dtype
    assert ((model.decision_function(X) > 0) == (named == model.classes_[1])).all()
    np.testing.assert_array_equal(model.coef_, HardMarginSVC().fit(X, y).coef_)


def test_labels_may_be_objects():
    X, y = clouds(2)
    named = np.array(["no", "yes"], dtype=object)[y]
    np.testing.assert_array_equal(HardMarginSVC().fit(X, named.tolist()).predict(X), named)
    np.testing.assert_array_equal(HardMarginSVC().fit(X, named).predict(X), named)


def test_swapping_the_labels_turns_the_hyperplane_round():
    X, y = clouds(2)
    one, other = HardMarginSVC().fit(X, y), HardMarginSVC().fit(X, 1 - y)
    np.testing.assert_allclose(one.coef_, -other.coef_, rtol=1e-9)
    np.testing.assert_allclose(one.intercept_, -other.intercept_, rtol=1e-9, atol=1e-12)


def test_a_sample_on_the_hyperplane_gets_the_first_class():
    model = HardMarginSVC().fit([[-1.0], [1.0]], ["first", "second"])
    assert model.decision_function([[0.0]]) == [0.0]
    assert model.predict([[0.0]]) == ["first"]


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [3, 4])
def test_decision_functions_of_several_classes_have_sklearns_shape_and_signs(shape, n_classes):
    X, y = clouds(n_classes)
    ours = HardMarginSVC(decision_function_shape=shape).fit(X, y)
    theirs = reference(kernel="linear", decision_function_shape=shape).fit(X, y)
    grid = np.random.default_rng(2).uniform(-8, 8, size=(60, 2))
    columns = n_classes if shape == "ovr" else n_classes * (n_classes - 1) // 2
    assert ours.decision_function(grid).shape == (60, columns)
    np.testing.assert_allclose(ours.decision_function(grid), theirs.decision_function(grid), rtol=1e-5, atol=1e-5)


def test_ties_between_classes_are_broken_as_in_sklearn():
    X, y = clouds(3, n=4, seed=1)
    grid = np.random.default_rng(3).uniform(-1.0, 1.0, size=(20_000, 2))
    tied = HardMarginSVC().fit(X, y)
    broken = HardMarginSVC(break_ties=True).fit(X, y)
    np.testing.assert_array_equal(broken.predict(grid), broken.decision_function(grid).argmax(axis=1))
    np.testing.assert_array_equal(broken.predict(grid), reference(kernel="linear", break_ties=True).fit(X, y).predict(grid))
    np.testing.assert_array_equal(tied.predict(grid), reference(kernel="linear").fit(X, y).predict(grid))
    assert (tied.predict(grid) != broken.predict(grid)).any(), "no tie among these points: the test tests nothing"


def test_the_pairs_of_several_classes_are_told_in_sklearns_order_with_their_worst():
    X, y = clouds(4)
    model = HardMarginSVC().fit(X, y)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    assert len(model.certificate_) == len(model.status_) == len(model.trace_) == len(model.solver_) == len(pairs)
    for k, (i, j) in enumerate(pairs):
        alone = HardMarginSVC().fit(X[(y == i) | (y == j)], y[(y == i) | (y == j)] == i)
        assert model.certificate_[k].margin == pytest.approx(alone.certificate_.margin, rel=1e-9)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-7, atol=1e-9)
    gaps = [certificate.relative_gap for certificate in model.certificate_]
    assert model.certificate_.worst.relative_gap == max(gaps)
    assert isinstance(model.certificate_.worst, Certificate)


def test_the_margin_of_the_widest_street_is_one_over_the_norm():
    X, y = clouds(2)
    model = HardMarginSVC().fit(X, y)
    closest = np.abs(model.decision_function(X)).min()
    assert closest == pytest.approx(1.0, rel=1e-9)
    assert model.certificate_.margin == pytest.approx(1.0 / np.linalg.norm(model.coef_), rel=1e-9)
    assert model.certificate_.relative_gap <= model.tol
    assert model.status_ is Status.SOLVED
    assert "ConstraintGeneration" in model.solver_
    assert model.trace_[-1].relative_gap == model.certificate_.relative_gap


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("solver", ["interior_point", "constraint_generation"])
def test_both_solvers_find_the_same_street_through_the_origin_or_not(solver, kernel):
    X, y = clouds(2, n=250)
    for fit_intercept in (True, False):
        model = HardMarginSVC(kernel=kernel, gamma=0.2, fit_intercept=fit_intercept, solver=solver).fit(X, y)
        auto = HardMarginSVC(kernel=kernel, gamma=0.2, fit_intercept=fit_intercept).fit(X, y)
        assert model.certificate_.margin == pytest.approx(auto.certificate_.margin, rel=1e-6)
        np.testing.assert_allclose(model.decision_function(X), auto.decision_function(X), rtol=1e-5, atol=1e-5)
        assert fit_intercept or model.intercept_ == [0.0]


def test_two_samples_are_split_in_the_middle():
    u, v = np.array([1.0, 2.0]), np.array([4.0, 6.0])
    model = HardMarginSVC().fit([u, v], [0, 1])
    np.testing.assert_allclose(model.coef_[0], 2 * (v - u) / ((v - u) @ (v - u)), rtol=1e-12)
    assert model.certificate_.margin == pytest.approx(np.linalg.norm(v - u) / 2)
    assert model.decision_function([(u + v) / 2]) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(model.support_, [0, 1])


def test_one_feature_is_split_between_the_two_nearest_samples():
    x = np.array([-5.0, -1.25, 0.5, 7.0])
    model = HardMarginSVC().fit(x[:, None], [1, 1, 2, 2])
    assert model.intercept_[0] / model.coef_[0, 0] == pytest.approx(-(x[1] + x[2]) / 2)
    assert model.certificate_.margin == pytest.approx((x[2] - x[1]) / 2)
    np.testing.assert_array_equal(model.support_, [1, 2])


def test_more_features_than_samples_are_no_obstacle():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((50, 5000)), np.arange(50) % 2
    model, theirs = HardMarginSVC().fit(X, y), reference(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-5, atol=1e-9)
    assert model.certificate_.relative_gap <= 1e-10


def test_breast_cancer_is_separated_without_scaling():
    """The margin is 1e-8 of the data's size: SVC with a huge C does not converge here."""
    X, y = load_breast_cancer(return_X_y=True)
    model = HardMarginSVC().fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    assert 0 < model.certificate_.margin < 1e-6 * np.abs(X).max()
    assert model.score(X, y) == 1.0
    z = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert z.min() == pytest.approx(1.0, rel=1e-6)


def test_the_iris_pair_that_overlaps_is_refused_with_an_exact_witness():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], load_iris().target_names[y[y > 0]]
    with pytest.raises(NotSeparableError, match=r"^No hyperplane separates 'virginica' from 'versicolor'\. ") as caught:
        HardMarginSVC().fit(X, y)
    witness = caught.value.witness
    assert witness.check()
    assert witness.check().is_exact
    difference = witness.weights @ (np.where(y == "virginica", 1.0, -1.0)[:, None] * X)
    np.testing.assert_allclose(difference, 0.0, atol=1e-12)


def test_one_inseparable_pair_of_several_classes_is_enough_to_refuse():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotSeparableError, match="No hyperplane separates") as caught:
        HardMarginSVC().fit(X, y)
    assert caught.value.witness.check()
    assert HardMarginSVC(kernel="rbf", gamma=0.5).fit(X, y).score(X, y) == 1.0


def test_an_inseparable_pair_of_several_classes_is_named():
    iris = load_iris()
    with pytest.raises(NotSeparableError, match=r"versicolor.*virginica|virginica.*versicolor"):
        HardMarginSVC().fit(iris.data, iris.target_names[iris.target])


def test_coef_exists_for_the_linear_kernel_only():
    X, y = clouds(2)
    assert not hasattr(HardMarginSVC(kernel="rbf").fit(X, y), "coef_")
    with pytest.raises(AttributeError, match="linear kernel only"):
        _ = HardMarginSVC(kernel="rbf").fit(X, y).coef_


def test_scaling_the_features_scales_the_margin():
    X, y = clouds(2)
    small, large = HardMarginSVC().fit(X, y), HardMarginSVC().fit(1024.0 * X, y)
    assert large.certificate_.margin == pytest.approx(1024.0 * small.certificate_.margin, rel=1e-10)
    np.testing.assert_allclose(large.coef_ * 1024.0, small.coef_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_hardly_separable_data_are_never_given_a_wrong_model():
    rng = np.random.default_rng(8)
    X, y = rng.uniform(-1, 1, size=(40, 3)), np.arange(40) % 2
    X[:, 0] = np.where(y == 1, 1, -1) * (1e-13 + np.abs(X[:, 0]) * (rng.random(40) > 0.3))
    try:
        model = HardMarginSVC().fit(X, y)
    except UndecidedError:
        return
    assert model.score(X, y) == 1.0


def test_what_only_the_witness_of_separability_separates_is_solved_from_there():
    case = draw("linear", 403000029)  # near duplicates, a margin of 3e-9: constraint generation finds it infeasible
    case.estimator.set_params(max_seconds=60.0)
    model = case.fit()
    assert model.status_ is Status.SOLVED
    assert list(judge(case, model)) == []
