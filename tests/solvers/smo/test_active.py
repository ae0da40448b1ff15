"""One signed variable for both halves of a regression: the same optimum, at half of the kernel values."""

from dataclasses import replace
from unittest import mock

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Hinge, SquaredHinge
from maxmargin.core.regression import folded, to_regression
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import RBF
from maxmargin.solvers import SMO, InteriorPoint, auto, solve
from maxmargin.solvers.smo import active
from tests.strategies import examples, generators

BIASES = (Bias.free(), Bias.none(), Bias.penalized(0.7))


def drawn(rng, n, epsilon, bias=None, loss=None, cost=3.0):
    """A regression with noise, some samples without weight."""
    X = rng.standard_normal((n, 3))
    t = np.sin(2.0 * X[:, 0]) + 0.3 * rng.standard_normal(n)
    costs = np.where(rng.random(n) < 0.1, 0.0, cost)
    costs[0] = cost
    options = {"kernel": RBF(gamma=0.5), "bias": bias or Bias.free(), "loss": loss or Hinge()}
    return to_regression(X, t, costs, epsilon, **options)


def signed_optimum(problem, epsilon):
    """The largest dual value by one signed variable s = p − q of each sample: an independent quadratic program."""
    m = problem.n // 2
    K = problem.gram(np.arange(m), np.arange(m)) + problem.bias.scale**2
    t, cost = 0.5 * (problem.t[:m] + problem.t[m:]), problem.cost[:m]
    # variables (s, a) with −a ≤ s ≤ a: max tᵀs − ε Σa − ½sᵀKs
    P = sp.block_diag([sp.csc_matrix(K + 1e-13 * np.eye(m)), sp.csc_matrix((m, m))], format="csc")
    q, eye = np.concatenate([-t, np.full(m, epsilon)]), sp.eye_array(m)
    rows = [sp.hstack([eye, -eye]), sp.hstack([-eye, -eye]), sp.hstack([sp.csc_matrix((m, m)), eye])]
    right, cones = [np.zeros(2 * m), cost], [clarabel.NonnegativeConeT(3 * m)]
    if problem.bias.is_free:
        rows.insert(0, sp.csr_array(np.append(np.ones(m), np.zeros(m))[None, :]))
        right.insert(0, np.zeros(1))
        cones.insert(0, clarabel.ZeroConeT(1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sp.triu(P, format="csc"), q, sp.vstack(rows, format="csc"), np.concatenate(right), cones, settings
    )
    return -solver.solve().obj_val


@examples(40)
@given(generators(), st.integers(3, 25), st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from(BIASES))
def test_doubled_rows_and_one_signed_variable_have_the_same_optimum(rng, n, epsilon, bias):
    problem = drawn(rng, n, epsilon, bias)
    assert active.can_fold(problem)
    found = solve(problem, SMO(), tol=1e-8)
    assert found.certificate.relative_gap <= 1e-8
    assert found.certificate.dual == pytest.approx(signed_optimum(problem, epsilon), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("bias", BIASES, ids=lambda bias: bias.kind)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared"])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_both_ways_and_the_interior_point_agree(bias, loss, tol):
    problem = drawn(np.random.default_rng(2), 400, 0.1, bias, loss)
    one = solve(problem, SMO(), tol=tol)
    with mock.patch.object(active, "can_fold", return_value=False):
        other = solve(problem, SMO(), tol=tol)
    reference = solve(problem, InteriorPoint(), tol=1e-9)
    for each in (one, other, reference):
        assert each.certificate.is_certified
        assert each.certificate.dual <= reference.certificate.primal
        assert reference.certificate.dual <= each.certificate.primal


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_large_problems_with_small_working_sets_are_proved_too(tol):
    problem = drawn(np.random.default_rng(3), 1500, 0.1, cost=30.0)
    with (
        mock.patch.object(SMO, "tuning", replace(SMO.tuning, whole=300, size=200)),
        mock.patch.object(auto, "offers", return_value=[]),
    ):
        assert solve(problem, SMO(), tol=tol).certificate.is_certified


def test_a_row_that_stands_twice_is_computed_once():
    problem = drawn(np.random.default_rng(4), 1500, 0.1)

    def values(fold):
        counted = []
        block, add = KernelMatrix.block, KernelMatrix.add

        def counting(method):
            def run(self, *arguments):
                before = self.values
                out = method(self, *arguments)
                counted.append(self.values - before)
                return out

            return run

        tuning = replace(SMO.tuning, whole=300, size=200, narrow=0)
        patches = (
            mock.patch.object(SMO, "tuning", tuning),
            mock.patch.object(KernelMatrix, "block", counting(block)),
            mock.patch.object(KernelMatrix, "add", counting(add)),
        )
        with patches[0], patches[1], patches[2]:
            if fold:
                solve(problem, SMO(), tol=1e-3)
            else:
                with mock.patch.object(active, "can_fold", return_value=False):
                    solve(problem, SMO(), tol=1e-3)
        return sum(counted)

    assert 1.5 * values(fold=True) < values(fold=False)


def test_targets_far_from_zero_lose_no_digits():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((600, 2))
    t = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(600)
    near = solve(to_regression(X, t, np.ones(600), 0.05, kernel=RBF(gamma=0.5)), SMO(), tol=1e-4)
    far = solve(to_regression(X, t + 1e6, np.ones(600), 0.05, kernel=RBF(gamma=0.5)), SMO(), tol=1e-4)
    assert far.certificate.is_certified
    assert far.certificate.primal == pytest.approx(near.certificate.primal, rel=2e-4)
    assert far.b == pytest.approx(near.b + 1e6, abs=0.1)


def test_a_model_never_has_both_halves_of_a_sample():
    problem = drawn(np.random.default_rng(6), 300, 0.2)
    beta = solve(problem, SMO(), tol=1e-4).beta
    assert (np.minimum(beta[:300], -beta[300:]) == 0.0).all()
    assert folded(beta).any()
