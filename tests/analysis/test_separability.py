"""Can a hyperplane separate the classes? Every answer against an exact decision made here, and against its own witness."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import InvalidInputError, NotSeparable, Separable, Undecided, separability
from maxmargin.kernels import RBF

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR_LABELS = np.array([0, 0, 1, 1])


def thorough(n):
    return settings(deadline=None, max_examples=n)


# --------------------------------------------------------------------------------- an exact decision, and exact checks


def null_vector(rows):
    """The p ≠ 0 with Σ p_i rows_i = 0 where it is unique up to scale, in rational arithmetic; else None."""
    equations = [[Fraction(row[k]) for row in rows] for k in range(len(rows[0]))]
    pivots = []
    for column in range(len(rows)):
        rank = len(pivots)
        chosen = next((i for i in range(rank, len(equations)) if equations[i][column]), None)
        if chosen is None:
            continue
        equations[rank], equations[chosen] = equations[chosen], equations[rank]
        equations[rank] = [value / equations[rank][column] for value in equations[rank]]
        for i, equation in enumerate(equations):
            if i != rank and equation[column]:
                equations[i] = [a - equation[column] * b for a, b in zip(equation, equations[rank], strict=True)]
        pivots.append(column)
    free = [column for column in range(len(rows)) if column not in pivots]
    if len(free) != 1:
        return None
    p = [Fraction(0)] * len(rows)
    p[free[0]] = Fraction(1)
    for i, column in enumerate(pivots):
        p[column] = -equations[i][free[0]]
    return p


def is_separable_exactly(X, y, fit_intercept):
    """Gordan's theorem: no hyperplane separates iff some p ≥ 0, p ≠ 0 has Σ p_j y_j (x_j, 1) = 0. Tries all small sets."""
    rows = [[int(s) * Fraction(float(v)) for v in [*x, 1.0][: len(x) + fit_intercept]] for x, s in zip(X, y, strict=True)]
    for size in range(1, len(rows[0]) + 2):
        for chosen in combinations(rows, size):
            p = null_vector(chosen)
            if p is not None and (min(p) >= 0 or max(p) <= 0):
                return False
    return True


def every_sample_is_on_its_side(verdict, X, y, fit_intercept):
    """y_j(⟨w, x_j⟩ + b) > 0 without rounding."""
    w, b = [Fraction(float(v)) for v in verdict.w], Fraction(float(verdict.b))
    assert fit_intercept or b == 0
    return all(
        int(s) * (sum(u * Fraction(float(v)) for u, v in zip(w, x, strict=True)) + b) > 0 for x, s in zip(X, y, strict=True)
    )


def the_hulls_meet(verdict, X, y, fit_intercept):
    """Convex weights in each class (over all, through the origin) whose signed sum of samples is 0, without rounding."""
    p = verdict.exact
    signed = [sum(int(y[j]) * q * Fraction(float(X[j, k])) for j, q in p.items()) for k in range(X.shape[1])]
    sums = [sum((q for j, q in p.items() if y[j] == s), Fraction(0)) for s in (-1, 1)]
    near = all(abs(float(p.get(j, 0)) - verdict.weights[j]) <= 1e-15 for j in range(len(y)))
    return not any(signed) and min(p.values()) >= 0 and near and (sums == [1, 1] if fit_intercept else sum(sums) == 1)


def agrees(verdict, X, y, fit_intercept):
    """The verdict's own check, and the one made here."""
    if isinstance(verdict, Separable):
        assert verdict.is_separable is True
        assert every_sample_is_on_its_side(verdict, X, y, fit_intercept)
    else:
        assert isinstance(verdict, NotSeparable)
        assert verdict.is_separable is False
        assert the_hulls_meet(verdict, X, y, fit_intercept)
    check = verdict.check()
    assert check
    assert check.is_exact
    return True


# -------------------------------------------------------------------------------------------------------- drawn samples


@st.composite
def samples(draw, values):
    d = draw(st.integers(1, 4))
    n = draw(st.integers(2, 7))
    X = np.array([[draw(values) for _ in range(d)] for _ in range(n)], dtype=float)
    y = np.array([-1, 1] + [draw(st.sampled_from([-1, 1])) for _ in range(n - 2)])
    return X, y


floats = st.floats(-1e3, 1e3, allow_nan=False, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-100)
forms = st.sampled_from([np.asarray, sp.csr_array, np.asfortranarray])


@thorough(200)
@given(drawn=samples(st.integers(-2, 2)), fit_intercept=st.booleans(), form=forms)
def test_small_integers_are_decided_and_rightly(drawn, fit_intercept, form):
    X, y = drawn
    verdict = separability(form(X), y, fit_intercept=fit_intercept)
    assert verdict.is_separable is is_separable_exactly(X, y, fit_intercept)
    assert agrees(verdict, X, y, fit_intercept)


def test_a_sample_at_the_origin_is_judged_without_a_warning():
    verdict = separability([[0.0], [1.0], [-1.0]], [-1, 1, -1], fit_intercept=False)
    assert verdict.is_separable is False


@thorough(60)
@given(drawn=samples(st.integers(-1000, 1000)), fit_intercept=st.booleans(), form=forms)
def test_larger_integers_are_decided_and_rightly(drawn, fit_intercept, form):
    X, y = drawn
    verdict = separability(form(X), y, fit_intercept=fit_intercept)
    assert verdict.is_separable is is_separable_exactly(X, y, fit_intercept)
    assert agrees(verdict, X, y, fit_intercept)


@thorough(100)
@given(drawn=samples(floats), fit_intercept=st.booleans(), form=forms)
def test_floats_are_never_decided_wrongly(drawn, fit_intercept, form):
    X, y = drawn
    verdict = separability(form(X), y, fit_intercept=fit_intercept)
    if isinstance(verdict, Undecided):
        assert verdict.margin_bound <= 1e-6 * np.abs(X).max()
    else:
        assert verdict.is_separable is is_separable_exactly(X, y, fit_intercept)
        assert agrees(verdict, X, y, fit_intercept)


@thorough(40)
@given(drawn=samples(st.integers(-2, 2)), fit_intercept=st.booleans(), seed=st.integers(0, 2**16))
def test_the_answer_does_not_depend_on_the_order_or_the_labels_names(drawn, fit_intercept, seed):
    X, y = drawn
    order = np.random.default_rng(seed).permutation(len(y))
    first = separability(X, y, fit_intercept=fit_intercept)
    second = separability(X[order], np.where(y > 0, "a", "b")[order], fit_intercept=fit_intercept)
    assert first.is_separable is second.is_separable


def test_the_exact_decision_knows_what_is_known():
    """The twin itself, on answers that need no computing."""
    y = np.where(XOR_LABELS == 1, 1, -1)
    assert not is_separable_exactly(XOR, y, True)
    assert is_separable_exactly(XOR[:3], y[:3], True)
    assert not is_separable_exactly(XOR[[0, 2]], np.array([-1, 1]), False)
    assert is_separable_exactly(XOR[1:3], y[1:3], False)


def test_a_margin_is_half_the_distance_of_the_hulls():
    verdict = separability([[0.0, 0.0], [0.0, 4.0], [3.0, 1.0], [5.0, 5.0]], [0, 0, 1, 1])
    assert verdict.margin == pytest.approx(1.5)
    through = separability([[3.0, 4.0], [-3.0, -4.0]], [1, 0], fit_intercept=False)
    assert through.margin == pytest.approx(5.0)
    assert through.b == 0.0


# ------------------------------------------------------------------------------------------------------ close decisions

DEPTHS = (1e-3, 1e-6, 1e-9, 1e-12)


def barely_separable(depth, seed, offset=0.0, d=3, n=30):
    """Split by the first coordinate alone, at ±depth, with samples that touch both edges."""
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(-1, 1, size=(n, d)), np.where(np.arange(n) % 2, 1, -1)
    X[:, 0] = y * (depth + np.abs(X[:, 0]) * (rng.random(n) < 0.5))
    X[:, 0] += offset
    assert X[y > 0, 0].min() > X[y < 0, 0].max()
    return X, y


def barely_overlapping(depth, seed, offset=0.0, d=3, n=30):
    """Negatives at the corners of a box, a positive inside it, at that depth below a face; the others well outside."""
    rng = np.random.default_rng(seed)
    corners = np.array(list(product([-1.0, 0.0], *[[-1.0, 1.0]] * (d - 1))))
    inside = np.append(-depth, rng.uniform(-0.5, 0.5, size=d - 1))
    outside = rng.uniform(-1, 1, size=(n, d)) + np.append(1.5, np.zeros(d - 1))
    X = np.vstack([corners, inside, outside])
    X[:, 0] += offset
    y = np.append(-np.ones(len(corners), dtype=int), np.ones(n + 1, dtype=int))
    low, high = X[y < 0].min(axis=0), X[y < 0].max(axis=0)
    assert ((low < X[len(corners)]) & (X[len(corners)] < high)).all()
    return X, y


@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [barely_separable, barely_overlapping])
def test_close_decisions_are_right_or_not_made(make, seed, depth, scale):
    X, y = make(depth, seed)
    X *= scale
    verdict = separability(X, y)
    truth = make is barely_separable
    if isinstance(verdict, Undecided):
        assert depth < 1e-6
        assert not truth or verdict.margin_bound >= depth * scale * (1 - 1e-9)
    else:
        assert verdict.is_separable is truth
        assert agrees(verdict, X, y, True)


@pytest.mark.parametrize("depth", [1e-6, 1e-9])
@pytest.mark.parametrize("make", [barely_separable, barely_overlapping])
def test_close_decisions_far_from_the_origin_are_right_or_not_made(make, depth):
    X, y = make(depth, 0, offset=100.0)
    verdict = separability(X, y)
    if isinstance(verdict, Undecided):
        assert depth < 1e-6
    else:
        assert verdict.is_separable is (make is barely_separable)
        assert agrees(verdict, X, y, True)


@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9])
def test_close_decisions_about_many_samples_are_right_or_not_made(depth):
    for make in (barely_separable, barely_overlapping):
        X, y = make(depth, 1, n=500)
        verdict = separability(X, y)
        assert isinstance(verdict, Undecided) or verdict.is_separable is (make is barely_separable)
        assert depth < 1e-6 or agrees(verdict, X, y, True)


def test_most_of_the_closest_decisions_are_made():
    """The zoom is there for these: were it gone, most would be undecided."""
    made = [
        not isinstance(separability(*make(1e-9, seed)), Undecided)
        for make in (barely_separable, barely_overlapping)
        for seed in range(3)
    ]
    assert sum(made) > len(made) / 2


# -------------------------------------------------------------------------------------------------------- special cases

TOUCHING = {
    "xor": (XOR, XOR_LABELS),
    "all points identical": (np.ones((5, 2)), np.array([0, 1, 0, 1, 1])),
    "all points zero": (np.zeros((4, 3)), np.array([0, 1, 0, 1])),
    "a point with both labels": (np.vstack([XOR[:3], XOR[2]]), np.array([0, 0, 1, 0])),
    "hulls that touch in a point": (np.array([[-1.0, 0], [0, 0], [0, 1], [0, -1], [1, 0]]), np.array([0, 0, 1, 1, 1])),
    "hulls that touch in an edge": (
        np.array([[0.0, 0], [0, 2], [-1, 1], [0, 1], [0, 3], [1, 1]]),
        np.array([0, 0, 0, 1, 1, 1]),
    ),
    "one line, alternating": (np.outer([0.0, 1, 2, 3], [3, 1, 2]), np.array([0, 1, 0, 1])),
}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", TOUCHING)
def test_classes_that_touch_are_judged_exactly(name, form):
    X, labels = TOUCHING[name]
    y = np.where(labels == 1, 1, -1)
    verdict = separability(form(X), labels)
    assert not is_separable_exactly(X, y, True)
    assert verdict.is_separable is False
    assert agrees(verdict, X, y, True)


def test_decimals_that_only_seem_to_touch_are_judged_as_the_floats_that_they_are():
    """(0.1, 0.2) is halfway between (0, 0.1) and (0.2, 0.3) on paper; of the floats, rounding decides."""
    for a, b in [(0.1, 0.2), (0.3, 0.1), (0.7, 0.6), (1.1, 2.2)]:
        X = np.array([[0.0, a], [b / 2, a + b / 2], [b, a + b], [0.7, 0.1]])
        y = np.array([-1, 1, -1, 1])
        verdict = separability(X, y)
        if isinstance(verdict, Undecided):
            assert verdict.margin_bound <= 1e-6
        else:
            assert verdict.is_separable is is_separable_exactly(X, y, True)
            assert agrees(verdict, X, y, True)


def test_points_on_one_line_are_separated_where_their_order_allows_it():
    X = np.outer([0.0, 1.0, 2.0, 3.0], [3.0, 1.0, 2.0]) + 5.0
    verdict = separability(X, [0, 0, 1, 1])
    assert verdict.margin == pytest.approx(np.sqrt(14) / 2)


def test_a_sample_at_the_origin_cannot_be_separated_from_it():
    X = [[0.0, 0.0], [1.0, 1.0]]
    assert separability(X, [0, 1]).is_separable is True
    verdict = separability(X, [0, 1], fit_intercept=False)
    assert verdict.is_separable is False
    np.testing.assert_array_equal(verdict.weights, [1.0, 0.0])


def test_more_features_than_samples_are_always_separable():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 40)), np.where(np.arange(20) % 2, 1, -1)
    assert agrees(separability(X, y), X, y, True)


def test_many_samples_in_many_dimensions_get_an_exact_witness():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 30)), rng.choice([-1, 1], size=400)
    verdict = separability(X, y)
    assert verdict.is_separable is False
    assert agrees(verdict, X, y, True)
    assert len(verdict.exact) <= 32


def test_beyond_what_rationals_can_do_in_time_the_witness_is_in_floats():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 140)), rng.choice([-1, 1], size=500)
    verdict = separability(X, y)
    assert verdict.is_separable is False
    assert verdict.exact is None
    assert verdict.check()
    assert not verdict.check().is_exact
    p, q = verdict.weights[y > 0], verdict.weights[y < 0]
    assert [p.sum(), q.sum()] == pytest.approx([1, 1])
    assert np.linalg.norm(p @ X[y > 0] - q @ X[y < 0]) <= 2 * verdict.margin_bound <= 1e-8
    assert "in float64" in str(verdict)


# -------------------------------------------------------------------------------------------------------------- kernels


@thorough(40)
@given(drawn=samples(st.integers(-2, 2)), fit_intercept=st.booleans())
def test_an_rbf_separates_distinct_points_and_only_those(drawn, fit_intercept):
    X, y = drawn
    truth = all((X[i] != X[j]).any() for i in range(len(y)) for j in range(i) if y[i] != y[j])
    verdict = separability(X, y, kernel="rbf", gamma=1.0, fit_intercept=fit_intercept)
    assert verdict.is_separable is truth
    assert verdict.check()
    K = np.exp(-1.0 * ((X[:, None] - X[None, :]) ** 2).sum(axis=2))
    if truth:
        assert (y * (K @ verdict.w + verdict.b) > 0).all()
    else:
        signed = y * verdict.weights
        assert signed @ K @ signed <= 1e-12


def test_a_kernel_may_separate_what_a_hyperplane_cannot():
    assert separability(XOR, XOR_LABELS).is_separable is False
    for kernel in ({"kernel": "poly", "degree": 2, "coef0": 1.0}, {"kernel": "rbf"}, {"kernel": RBF(gamma=2.0)}):
        verdict = separability(XOR, XOR_LABELS, **kernel)
        assert verdict.is_separable is True
        assert verdict.check()
    K = RBF(gamma=2.0).block(XOR, XOR, dtype=np.float64)
    assert separability(K, XOR_LABELS, kernel="precomputed").margin == pytest.approx(
        separability(XOR, XOR_LABELS, kernel=RBF(gamma=2.0)).margin
    )


def test_a_matrix_that_is_no_kernel_proves_nothing():
    with pytest.raises(InvalidInputError, match="not positive semi-definite"):
        separability(-np.eye(4), [-1, -1, 1, 1], kernel="precomputed")


# ------------------------------------------------------------------------------------------------------------- messages


def test_more_than_two_classes_are_refused():
    with pytest.raises(InvalidInputError, match="separability is asked of two classes, got 3"):
        separability(XOR, [0, 1, 2, 2])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1, 0, 1], "Separable: a hyperplane keeps every sample at least 0.5 away, on its right side."),
        (XOR_LABELS, "Not separable: weighted means of the two classes coincide, shown by 4 samples."),
    ],
)
def test_an_answer_reads_as_a_sentence(labels, words):
    assert str(separability(XOR, labels)) == words
