"""The joint problem of several classes: its two values, its constraints, and the binary problem that two classes make."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Problem
from maxmargin.core.joint import JointProblem
from maxmargin.errors import InvalidInputError
from tests.strategies import examples, generators

BIASES = (Bias.none(), Bias.penalized(0.7), Bias.free())


@st.composite
def joint_problems(draw, scales=(0.01, 1.0, 100.0)):
    """Small problems of two to five classes: offsets, repeated rows, samples without cost."""
    rng = draw(generators())
    k, d = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    n = draw(st.integers(k, 30))
    X = rng.standard_normal((n, d)) * draw(st.sampled_from(scales)) + draw(st.sampled_from([0.0, 3.0]))
    X[n // 2 :] = X[: n - n // 2] if draw(st.booleans()) else X[n // 2 :]
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    cost = rng.uniform(0.1, 2.0, n) * draw(st.sampled_from([1e-3, 1.0, max(scales) * 10.0]))
    cost[k:] *= rng.random(n - k) < draw(st.sampled_from([1.0, 0.7]))
    return JointProblem(X, labels, cost, k, draw(st.sampled_from(BIASES)))


def drawn_shares(problem, seed):
    """Any β that means a point of each simplex, or one beyond it."""
    rng = np.random.default_rng(seed)
    return -rng.exponential(size=(problem.n, problem.n_classes)) * problem.cost[:, None] * rng.uniform(0, 1, (problem.n, 1))


@examples(60)
@given(joint_problems(), st.integers(0, 1000))
def test_a_feasible_dual_point_satisfies_every_constraint(problem, seed):
    beta, size = problem.feasible(drawn_shares(problem, seed)), max(float(problem.cost.sum()), 1e-300)
    own = np.zeros_like(beta)
    own[np.arange(problem.n), problem.labels] = problem.cost
    assert (beta <= own * (1 + 1e-12)).all()
    assert np.abs(beta.sum(axis=1)).max() <= 1e-13 * size
    assert not problem.bias.is_free or np.abs(beta.sum(axis=0)).max() <= 1e-12 * size


@examples(60)
@given(joint_problems(), st.integers(0, 1000))
def test_no_dual_value_is_above_a_primal_one(problem, seed):
    rng = np.random.default_rng(seed)
    beta = problem.feasible(drawn_shares(problem, seed))
    W = problem.combine(beta) + 0.1 * rng.standard_normal((problem.n_classes, problem.X.shape[1]))
    b = rng.standard_normal(problem.n_classes) if problem.bias.kind != "none" else np.zeros(problem.n_classes)
    primal, dual = problem.primal(W, b), problem.dual(beta)
    assert dual <= primal + 1e-10 * (abs(primal) + abs(dual))


def test_two_classes_are_the_binary_problem_with_twice_the_cost_at_half_its_value():
    rng = np.random.default_rng(3)
    X, labels, cost = rng.standard_normal((20, 3)), np.arange(20) % 2, rng.uniform(0.5, 2.0, 20)
    w, b, alpha = rng.standard_normal(3), 0.4, rng.uniform(0, 1, 20) * cost
    for bias in BIASES:
        b = 0.0 if bias.kind == "none" else b
        joint = JointProblem(X, labels, cost, 2, bias)
        binary = Problem(X, np.where(labels == 1, 1.0, -1.0), 2.0 * cost, bias=bias)
        W = np.array([-w, w]) / 2
        assert joint.primal(W, np.array([-b, b]) / 2) == pytest.approx(0.5 * binary.primal(w, b), rel=1e-12)
        signed = joint.signed(np.where(np.arange(2) == labels[:, None], 0.0, alpha[:, None]))
        gain = 2.0 * alpha * np.where(labels == 1, 1.0, -1.0)
        assert joint.dual(signed) == pytest.approx(0.5 * binary.dual_from(gain, binary.image(gain)), rel=1e-12)


def test_sparse_rows_make_the_same_values():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 4)) * (rng.random((12, 4)) < 0.5)
    dense, sparse = (JointProblem(rows, np.arange(12) % 3, np.ones(12), 3) for rows in (X, sp.csr_array(X)))
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(3)
    beta = dense.feasible(-rng.random((12, 3)))
    assert dense.primal(W, b) == pytest.approx(sparse.primal(W, b), rel=1e-13)
    assert dense.dual(beta) == pytest.approx(sparse.dual(beta), rel=1e-13)


@pytest.mark.parametrize(
    ("labels", "cost", "said"),
    [
        ([0, 1, 2], [1.0, 1.0], "one number for each of 3 samples"),
        ([0, 1, 2], [1.0, 1.0, -1.0], "must be ≥ 0"),
        ([0, 1, 2], [1.0, np.inf, 1.0], "finite"),
        ([0, 1, 2], [1.0, 1.0, 0.0], "needs a sample with a positive cost"),
        ([0, 1, 1], [1.0, 1.0, 1.0], "needs a sample with a positive cost"),
    ],
)
def test_what_is_no_problem_is_refused(labels, cost, said):
    with pytest.raises(InvalidInputError, match=said):
        JointProblem(np.eye(3), np.array(labels), np.array(cost), 3)
