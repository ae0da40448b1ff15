"""The problem: what it refuses, and its objective against loops."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import L1, Bias, Problem, SquaredHinge, products
from maxmargin.core.candidate import make_feasible
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.kernels import RBF
from tests import reference
from tests.problems import KNOWN, problem, signs
from tests.strategies import duals, examples, generators, problems, weights_and_bias


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_known_values(known):
    assert known.problem.primal(np.array(known.w), known.b) == pytest.approx(known.value, rel=1e-15)
    assert known.problem.dual(np.array(known.beta, dtype=float)) == pytest.approx(known.value, rel=1e-15)


@examples(100)
@given(st.data())
def test_primal_and_dual_are_those_of_the_twin(data):
    p = data.draw(problems(max_n=8))
    w, b = data.draw(weights_and_bias(p))
    beta = make_feasible(p, data.draw(duals(p)))
    twin = reference.judge(p, w, b, beta)
    assert p.primal(w, b) == pytest.approx(twin.primal, rel=1e-12, abs=1e-13 * twin.size)
    assert p.dual(beta) == pytest.approx(twin.dual, rel=1e-12, abs=1e-13 * twin.size)


@examples(100)
@given(problems(max_n=9), st.sampled_from([8, 100, 2**25]))
def test_the_kernel_is_the_twins_whole_in_blocks_and_on_the_diagonal(p, block_bytes):
    K = reference.gram(p)
    everyone = np.arange(p.n)
    scale = np.abs(K).max()
    np.testing.assert_allclose(p.gram(everyone, everyone), K, rtol=1e-12, atol=1e-13 * scale)
    np.testing.assert_allclose(p.diag(), K.diagonal(), rtol=1e-12, atol=1e-13 * scale)
    some, v = everyone[::2][::-1], np.linspace(-1.0, 1.0, len(everyone[::2]))
    with mock.patch.object(products, "BLOCK_BYTES", block_bytes):
        np.testing.assert_allclose(p.gram_times(some, v), K[:, some] @ v, rtol=1e-11, atol=1e-12 * scale)
    np.testing.assert_array_equal(p.gram_times(some[:0], v[:0]), np.zeros(p.n))
    assert p.gram(everyone[:1], some).dtype == np.float64


@examples(60)
@given(problems(max_n=9), generators())
def test_vectors_of_the_feature_space_obey_their_inner_product(p, rng):
    beta = rng.standard_normal(p.n) / np.sqrt(max(p.diag().max(), 1e-300))
    w, K = p.combine(beta), reference.gram(p)
    size = np.abs(beta) @ np.abs(K) @ np.abs(beta)
    f = p.decision(w)
    np.testing.assert_allclose(f, K @ beta, rtol=1e-9, atol=1e-12 * (np.abs(K) @ np.abs(beta)).max())
    assert p.norm2(w, f) == pytest.approx(beta @ K @ beta, rel=1e-9, abs=1e-12 * size)
    assert p.norm2(p.zero(), p.decision(p.zero())) == 0.0


@examples(60)
@given(st.data())
def test_the_residual_is_half_the_squared_distance(data):
    p = data.draw(problems(max_n=8))
    w, b = data.draw(weights_and_bias(p))
    beta = data.draw(duals(p))
    twin = reference.judge(p, w, b, beta)
    residual = p.residual(w, b, p.decision(w), beta, p.image(beta))
    assert residual == pytest.approx(0.5 * twin.distance**2, rel=1e-9, abs=1e-12 * twin.size)


@examples(40)
@given(problems(max_n=9, kernels=("linear", "rbf", "poly", "custom", "feature map")))
def test_choosing_rows_is_the_same_as_copying_them(p):
    rows = np.arange(p.n) if p.rows is None else p.rows
    copied = replace(p, X=p.X[rows], rows=None)
    v = np.linspace(-1.0, 2.0, len(p.zero()))
    np.testing.assert_allclose(p.decision(v), copied.decision(v), rtol=1e-12, atol=1e-12 * p.diag().max())
    np.testing.assert_array_equal(p.diag(), copied.diag())


def test_the_hard_margins_objective_is_infinite_where_a_sample_is_too_close():
    p = problem([[0], [1], [2], [3]], "--++", np.inf)
    assert p.primal(np.array([2.0]), -3.0) == 2.0
    assert p.primal(np.array([1.9]), -2.85) == np.inf


def test_a_penalized_bias_is_the_weight_of_a_constant_feature():
    p = problem([[1.0], [-2.0]], "+-", 2, bias=Bias.penalized(3.0))
    longer = problem([[1.0, 3.0], [-2.0, 3.0]], "+-", 2, bias=Bias.none())
    assert p.primal(np.array([0.25]), 0.75) == longer.primal(np.array([0.25, 0.25]), 0.0)
    beta = np.array([0.5, -1.25])
    assert p.dual(beta) == longer.dual(beta)


def test_the_l1_objective_is_the_sum_of_absolute_weights_and_slacks():
    p = problem([[1.0, -1.0], [0.0, 2.0]], "+-", 3, penalty=L1())
    w, b = np.array([0.5, -0.25]), 0.125
    slacks = [max(Fraction(0), 1 - Fraction(7, 8)), max(Fraction(0), 1 + Fraction(-3, 8))]
    assert p.primal(w, b) == float(Fraction(3, 4) + 3 * sum(slacks))
    assert p.dual(np.array([0.125, -0.125])) == 0.25
    assert p.dual(np.array([2.0, -2.0])) == -np.inf


def test_absent_samples_have_no_part_in_the_objective():
    X = np.array([[0.0], [1.0], [50.0]])
    p = Problem(X, signs("-+-"), np.array([1.0, 1.0, 0.0]), loss=SquaredHinge())
    two = Problem(X[:2], signs("-+"), np.ones(2), loss=SquaredHinge())
    assert p.primal(np.array([2.0]), -1.0) == two.primal(np.array([2.0]), -1.0)
    np.testing.assert_array_equal(p.present, [0, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.array([1.0, -1.0])}, "y must have one number for each of the 3 samples"),
        ({"cost": np.ones(2)}, "cost must have one number"),
        ({"y": np.array([0.0, 1.0, 1.0])}, "−1 and \\+1 only"),
        ({"y": np.ones(3)}, "No sample has the label -1"),
        ({"y": -np.ones(3)}, "No sample has the label \\+1"),
        ({"cost": np.array([1.0, -1.0, 1.0])}, "cost must be ≥ 0"),
        ({"cost": np.array([1.0, np.nan, 1.0])}, "cost must be ≥ 0"),
        ({"cost": np.zeros(3)}, "No sample has a positive cost"),
        ({"cost": np.array([1.0, np.inf, 1.0])}, "not mixed"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    good = {"X": np.eye(3), "y": np.array([1.0, -1.0, -1.0]), "cost": np.ones(3)}
    Problem(**good)
    with pytest.raises(InvalidInputError, match=message):
        Problem(**{**good, **change})


def test_infinite_and_zero_costs_go_together():
    p = Problem(np.eye(3), signs("+--"), np.array([np.inf, np.inf, 0.0]))
    assert p.is_hard
    np.testing.assert_array_equal(p.present, [0, 1])


def test_the_l1_penalty_needs_features():
    with pytest.raises(NotSupportedError, match="counts features"):
        problem([[1.0], [2.0]], "+-", 1, penalty=L1(), kernel=RBF(gamma=1.0))


def test_problems_are_frozen():
    p = problem([[1.0], [2.0]], "+-", 1)
    with pytest.raises(FrozenInstanceError):
        p.cost = np.ones(2)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_the_scale_of_a_penalized_bias_is_positive(scale):
    with pytest.raises(InvalidInputError, match="positive number"):
        Bias.penalized(scale)


def test_biases_show_themselves():
    assert [repr(bias) for bias in (Bias.free(), Bias.none(), Bias.penalized(2))] == [
        "Bias('free')",
        "Bias('none')",
        "Bias('penalized', 2.0)",
    ]
    assert Bias.free().is_free
    assert not Bias.none().is_free
    assert not Bias.penalized().is_free


@pytest.mark.parametrize("i", [None, np.arange(1, 2000, 3)], ids=["all", "some"])
def test_rows_are_copied_in_pieces_of_bounded_size(i):
    X = np.arange(2500.0 * 1000).reshape(2500, 1000)
    chosen = np.arange(2499, 499, -1)
    p = Problem(X, np.where(chosen % 2, 1.0, -1.0), np.ones(2000), rows=chosen)
    pieces = list(p.pieces(i))
    assert max(rows.nbytes for _, rows in pieces) <= 8 * 2**20
    whole = np.concatenate([rows for _, rows in pieces])
    assert np.array_equal(whole, X[chosen if i is None else chosen[i]])
    assert [at.start for at, _ in pieces] == np.cumsum([0, *(len(rows) for _, rows in pieces)])[:-1].tolist()
