"""Objects become arrays and back: features, cone programs and candidates, against the problem itself."""

import math
from dataclasses import replace

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Candidate, Hinge, Problem, SquaredHinge, certify
from maxmargin.core.candidate import to_candidate
from maxmargin.core.reduce import Units, keeps_columns, to_dual, to_features, to_hulls, to_primal, units_of
from tests import reference
from tests.problems import KNOWN, problem, signs
from tests.strategies import duals, examples, problems, separable_problems

FORMS = {"primal": to_primal, "dual": to_dual}
anything = problems(max_n=9) | separable_problems(max_n=9)


def inner_products(problem):
    """K of the samples that count, with the constant feature or centred: what the features have to reproduce."""
    on = problem.present
    K = reference.gram(problem)[np.ix_(on, on)] + problem.bias.scale**2
    if problem.bias.is_free:
        K = K - K.mean(axis=0)
        K = K - K.mean(axis=1)[:, None]
    return K


@examples(100)
@given(anything)
def test_features_have_the_kernels_inner_products(p):
    features = to_features(p)
    Phi = reference.dense(features.Phi) * features.unit
    K = inner_products(p)
    if p.bias.is_free and sp.issparse(features.Phi):  # not centred
        Phi = Phi - Phi.mean(axis=0)
    size = max(reference.gram(p).max(), K.max())
    np.testing.assert_allclose(Phi @ Phi.T, K, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_array_equal(features.y, p.y[p.present])


@examples(40)
@given(anything)
def test_features_are_of_length_one_in_their_own_unit(p):
    features = to_features(p)
    lengths = np.linalg.norm(reference.dense(features.Phi), axis=1)
    assert np.sqrt(np.mean(lengths**2)) == pytest.approx(1.0) or not lengths.any()
    np.testing.assert_allclose(reference.dense(to_features(p, 1.0).Phi), reference.dense(features.Phi) * features.unit)


def test_narrow_data_keep_their_columns_and_wide_ones_are_replaced_by_a_factor():
    narrow, wide = problem(np.eye(3), "+-+", 1), problem(np.eye(3)[:2], "+-", 1)
    assert keeps_columns(narrow)
    assert not keeps_columns(wide)
    assert to_features(wide).Phi.shape[1] <= 2


def test_sparse_rows_stay_sparse():
    X = sp.csr_array(np.eye(8))
    assert sp.issparse(to_features(Problem(X, signs("+-" * 4), np.ones(8))).Phi)
    assert sp.issparse(to_features(Problem(X, signs("+-" * 4), np.ones(8), bias=Bias.penalized())).Phi.tocsr())
    assert not sp.issparse(to_features(Problem(sp.csr_array(np.ones((8, 3))), signs("+-" * 4), np.ones(8))).Phi)


def test_data_without_any_length_have_unit_one():
    assert to_features(problem(np.zeros((3, 2)), "+-+", 1)).unit == 1.0


def run(program):
    """The program's solution, by Clarabel; also that it says what it is to be: cones of the right sizes."""
    n_rows = program.A.shape[0]
    cones = [clarabel.ZeroConeT(program.n_equalities)] if program.n_equalities else []
    cones.append(clarabel.NonnegativeConeT(n_rows - program.n_equalities))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    matrices = sp.csc_matrix(sp.triu(program.P)), sp.csc_matrix(program.A)
    found = clarabel.DefaultSolver(matrices[0], program.q, matrices[1], program.b, cones, settings).solve()
    return np.asarray(found.x), np.asarray(found.z)


@pytest.mark.parametrize("form", FORMS)
@examples(40)
@given(p=problems(max_n=9))
def test_a_programs_solution_is_the_optimum_of_the_problem(form, p):
    program = FORMS[form](p)
    beta = program.beta(*run(program))
    assert beta.shape == (p.n,)
    assert certify(p, to_candidate(p, beta)).relative_gap <= 1e-4


@pytest.mark.parametrize("form", FORMS)
@examples(30)
@given(p=problems(max_n=9), length=st.floats(0.2, 5.0), alpha=st.floats(0.2, 5.0))
def test_units_do_not_matter_to_a_programs_solution(form, p, length, alpha):
    units = Units(length * to_features(p).unit, alpha * float(p.cost.max()))
    program = FORMS[form](p, units)
    assert certify(p, to_candidate(p, program.beta(*run(program)))).relative_gap <= 1e-4


@pytest.mark.parametrize("form", FORMS)
@examples(30)
@given(p=separable_problems(max_n=9, scales=(1.0,)))
def test_a_hard_programs_solution_are_the_weights_of_the_nearest_points(form, p):
    program = FORMS[form](p)
    beta = program.beta(*run(program))
    assert np.abs(beta).sum() == pytest.approx(1.0, abs=1e-6)
    assert certify(p, to_candidate(p, beta)).relative_gap <= 1e-2


@pytest.mark.parametrize("known", [k for k in KNOWN if not k.problem.is_hard], ids=lambda known: known.name)
def test_the_primal_program_has_the_problems_value_at_its_optimum(known):
    program = to_primal(known.problem)
    x, _ = run(program)
    value = 0.5 * x @ program.P @ x + program.q @ x
    # the program's objective is P in units of the largest cost
    assert value * known.problem.cost.max() == pytest.approx(known.value, rel=1e-5)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_a_known_dual_point_becomes_the_known_model(known):
    candidate = to_candidate(known.problem, np.array(known.beta, dtype=float))
    np.testing.assert_allclose(candidate.w, known.w, rtol=1e-14)
    np.testing.assert_allclose(candidate.beta, known.beta, rtol=1e-14)
    assert candidate.b == pytest.approx(known.b, abs=1e-14)


@examples(60)
@given(st.data())
def test_a_candidate_has_the_best_bias_for_its_weights(data):
    p = data.draw(problems(max_n=9, biases=("free",)))
    candidate = to_candidate(p, data.draw(duals(p)))
    value = p.primal(candidate.w, candidate.b)
    for shift in (-1.0, -1e-2, 1e-2, 1.0):
        assert p.primal(candidate.w, candidate.b + shift) >= value * (1 - 1e-12)


@examples(40)
@given(separable_problems(max_n=9))
def test_a_hard_candidate_has_its_closest_sample_at_one(p):
    beta = reference.solve_qp(p) * p.y
    candidate = to_candidate(p, 0.37 * beta)
    z = p.y * (p.decision(candidate.w) + candidate.b)
    assert z[p.present].min() == pytest.approx(1.0, rel=1e-9)
    assert certify(p, candidate).relative_gap <= 1e-2


def test_weights_that_are_known_better_are_kept():
    p = problem([[0], [1], [2], [3]], "--++", np.inf)
    candidate = to_candidate(p, np.array([0.0, -2.0, 2.1, 0.0]), np.array([4.0]))
    assert candidate.w == 2.0
    assert candidate.b == -3.0


def test_hulls_are_the_signed_features_in_one_group_or_two():
    p = problem([[0, 1], [3, 1], [4, 1]], "-++", np.inf)
    V, group = to_hulls(p)
    np.testing.assert_allclose(V, p.y[:, None] * (p.X - p.X.mean(axis=0)))
    np.testing.assert_array_equal(group, [1, 0, 0])
    V, group = to_hulls(replace(p, bias=Bias.none()))
    np.testing.assert_allclose(V, p.y[:, None] * p.X)
    np.testing.assert_array_equal(group, [0, 0, 0])
    V, group = to_hulls(replace(p, bias=Bias.penalized(2.0)))
    np.testing.assert_allclose(V, p.y[:, None] * np.hstack([p.X, np.full((3, 1), 2.0)]))


def test_units_of_an_answer_are_its_largest_alpha_or_the_distance_of_the_hulls():
    soft = problem([[0], [1], [2], [3]], "--++", 10)
    assert units_of(soft, np.array([0.0, -2.0, 2.0, 0.0])) == Units(to_features(soft).unit, 2.0)
    hard = problem([[0], [1], [2], [3]], "--++", np.inf)
    assert units_of(hard, np.array([0.0, -0.5, 0.5, 0.0])) == Units(0.5, 1.0)


@examples(30)
@given(anything, st.sampled_from([Hinge(), SquaredHinge()]))
def test_absent_samples_get_no_dual_variable(p, loss):
    p = replace(p, loss=loss)
    for reduce in FORMS.values():
        program = reduce(p)
        beta = program.beta(np.ones(program.A.shape[1]), np.ones(program.A.shape[0]))
        assert not beta[p.cost == 0].any()
        assert (beta[p.cost > 0] * p.y[p.cost > 0] > 0).all()


def test_a_candidate_of_nothing_is_the_zero_model():
    p = problem([[1], [-1]], "+-", 1)
    candidate = to_candidate(p, np.zeros(2))
    assert isinstance(candidate, Candidate)
    assert not candidate.w.any()
    assert math.isfinite(candidate.b)
