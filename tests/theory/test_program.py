"""Small programs: KKT and Fritz John conditions, weak and strong duality, Slater's condition, in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maxmargin import HardMarginSVC
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.theory import Multipliers, NoMultipliers, Program, Quadratic, hard_margin_program, no_qualification
from maxmargin.theory.cone import inner
from tests.strategies import examples, generators


@st.composite
def programs(draw):
    """Convex quadratic programs of two variables, the origin feasible."""
    rng = draw(generators())
    root = rng.integers(-2, 3, (2, 2))
    constraints = [Quadratic.affine(rng.integers(-2, 3, 2).tolist(), -int(rng.integers(0, 3))) for _ in range(rng.integers(1, 4))]
    if draw(st.booleans()):
        constraints.append(Quadratic([[2, 0], [0, 2]], rng.integers(-1, 2, 2).tolist(), -int(rng.integers(0, 4))))
    return Program(Quadratic((root @ root.T + np.eye(2, dtype=int)).tolist(), rng.integers(-3, 4, 2).tolist()), constraints), rng


@examples(80)
@given(programs())
def test_no_dual_value_exceeds_any_feasible_value(drawn):
    program, rng = drawn
    points = [x.tolist() for x in rng.integers(-3, 4, (20, 2)) if program.is_feasible(x.tolist())] + [[0, 0]]
    for _ in range(10):
        alpha = rng.integers(0, 4, len(program.constraints)).tolist()
        value = program.dual(alpha)
        for x in points:
            assert value <= program.lagrangian(x, alpha) <= program.objective.value(x)


@examples(80)
@given(programs())
def test_where_multipliers_exist_the_point_is_a_minimum_and_duality_is_strong(drawn):
    program, rng = drawn
    for x in [x.tolist() for x in rng.integers(-3, 4, (20, 2)) if program.is_feasible(x.tolist())]:
        found = program.multipliers(x)
        if isinstance(found, Multipliers):
            assert program.kkt(x, found.alpha, found.beta)
            assert program.dual(found.alpha) == program.objective.value(x)
        else:
            d = found.direction
            assert inner(d, program.objective.gradient(x)) < 0
            assert all(inner(d, program.constraints[i].gradient(x)) <= 0 for i in program.active(x))


@examples(80)
@given(programs())
def test_fritz_john_fails_only_where_a_direction_decreases_everything(drawn):
    program, rng = drawn
    for x in [x.tolist() for x in rng.integers(-3, 4, (20, 2)) if program.is_feasible(x.tolist())]:
        found, active = program.fritz_john(x), program.active(x)
        if isinstance(found, Multipliers):
            assert found.kappa + sum(found.alpha) == 1
            assert min(found.kappa, *found.alpha) >= 0
            gradients = [program.objective.gradient(x)] + [g.gradient(x) for g in program.constraints]
            weights = [found.kappa, *found.alpha]
            assert not any(sum(w * g[k] for w, g in zip(weights, gradients, strict=True)) for k in range(2))
        else:
            d = found.direction
            assert inner(d, program.objective.gradient(x)) < 0
            assert all(inner(d, program.constraints[i].gradient(x)) < 0 for i in active)
            step = Fraction(1, 10**6)
            nearby = [v + step * s for v, s in zip(x, d, strict=True)]
            assert program.is_feasible(nearby)
            assert program.objective.value(nearby) < program.objective.value(x)


@examples(80)
@given(programs())
def test_with_a_slater_point_kkt_and_fritz_john_are_the_same(drawn):
    """κ₀ = 0 is impossible where a Slater point exists: every κ₀ found is then positive."""
    program, _ = drawn
    assume(program.is_slater_point([0, 0]))
    for x in ([0, 0], [1, 0], [0, 1], [-1, -1]):
        if program.is_feasible(x):
            found = program.fritz_john(x)
            assert isinstance(found, NoMultipliers) or found.kappa > 0
            assert isinstance(found, Multipliers) == isinstance(program.multipliers(x), Multipliers)


def test_without_a_qualification_a_minimum_has_no_multipliers():
    """Lemma 15.9 and Lemma 27 as printed: min w s.t. w² ≤ 0 has the minimum 0, where f' = 1 and g' = 0."""
    program = no_qualification()
    assert program.is_convex
    assert not program.is_feasible([Fraction(1, 10**9)])
    assert isinstance(program.multipliers([0]), NoMultipliers)
    assert program.fritz_john([0]) == Multipliers(Fraction(0), (Fraction(1),), ())
    assert not program.is_slater_point([0])
    assert program.refutes_slater([1])


def test_without_a_qualification_the_dual_optimum_is_approached_and_not_taken():
    """D(α) = −1/(4α) rises to p* = 0: no gap, but no multiplier either."""
    program = no_qualification()
    assert program.dual([0]) == -math.inf
    assert [program.dual([alpha]) for alpha in (1, 4, 100)] == [Fraction(-1, 4), Fraction(-1, 16), Fraction(-1, 400)]


def test_two_discs_that_touch_have_fritz_john_multipliers_only():
    """min x₂ on the one point of two discs that touch: ∇g₁ + ∇g₂ = 0, and ∇f is no combination of the two."""
    discs = [Quadratic([[2, 0], [0, 2]], [-2 * c, 0], 0) for c in (1, -1)]
    program = Program(Quadratic.affine([0, 1]), discs)
    assert program.fritz_john([0, 0]) == Multipliers(Fraction(0), (Fraction(1, 2), Fraction(1, 2)), ())
    assert isinstance(program.multipliers([0, 0]), NoMultipliers)
    assert program.refutes_slater([1, 1])
    assert not program.refutes_slater([1, 0])


def test_equalities_have_multipliers_of_either_sign():
    program = Program(Quadratic.square(2), [Quadratic.affine([-1, 0], 0)], [Quadratic.affine([1, 1], -2)])
    found = program.multipliers([1, 1])
    assert found == Multipliers(Fraction(1), (Fraction(0),), (Fraction(-2),))
    assert program.kkt([1, 1], found.alpha, found.beta).holds
    assert program.dual([0], [-2]) == 2
    assert program.minimise().x == (1, 1)
    direction = program.multipliers([0, 2]).direction
    assert inner(direction, (Fraction(1), Fraction(1))) == 0
    assert program.fritz_john([1, 1]).kappa == 1
    assert isinstance(program.fritz_john([2, 0]), NoMultipliers)
    assert program.is_slater_point([1, 1])
    assert not program.is_slater_point([0, 2])


def test_each_condition_fails_alone():
    program = Program(Quadratic.square(1), [Quadratic.affine([-1], 1)])
    cases = {((1,), (2,)): "", ((1,), (1,)): "stationary", ((0,), (0,)): "primal", ((-1,), (-2,)): "primal dual complementary"}
    cases[(2,), (4,)] = "complementary"
    for (x, alpha), failing in cases.items():
        found = program.kkt(x, alpha)
        assert " ".join(n for n in ("stationary", "primal", "dual", "complementary") if not getattr(found, n)) == failing
        assert found.holds == (not failing)


@examples(40)
@given(generators(), st.booleans())
def test_the_hard_margin_program_has_the_solvers_optimum(rng, homogeneous):
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    X = rng.integers(-4, 5, (n, d))
    y = np.where(np.arange(n) % 2, 1, -1)
    program = hard_margin_program(X, y, homogeneous)
    try:
        solved = program.minimise()
    except NotSupportedError:
        return
    model = HardMarginSVC(fit_intercept=not homogeneous, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [float(v) for v in solved.x[:d]], rtol=1e-4, atol=1e-6)
    assert program.dual(solved.alpha) == solved.value
    w = [sum(a * int(label) * int(x[k]) for a, label, x in zip(solved.alpha, y, X, strict=True)) for k in range(d)]
    assert w == list(solved.x[:d])  # Theorem 15.8: w is a combination of the samples on the margin
    assert all(a == 0 or i in program.active(solved.x) for i, a in enumerate(solved.alpha))


def test_the_gradient_vanishes_at_the_global_minimum_of_a_convex_function():
    f = Quadratic([[2, 1], [1, 2]], [-3, 0], 5)
    x = f.minimum().x
    for other in ([0, 0], [1, 7], [-3, 2]):
        rise = inner(f.gradient(other), tuple(a - b for a, b in zip(x, map(Fraction, other), strict=True)))
        assert f.value(x) >= f.value(other) + rise  # the first-order condition
        assert f.value(other) >= f.value(x)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.lagrangian([1], [-1]),
        lambda p: p.lagrangian([1, 2], [1]),
        lambda p: p.dual([1, 1]),
        lambda p: p.multipliers([5]),
        lambda p: Program(Quadratic.square(2), p.constraints),
        lambda p: hard_margin_program([[0]], [0]),
    ],
)
def test_what_makes_no_sense_is_refused(call):
    with pytest.raises(InvalidInputError):
        call(no_qualification())


def test_what_cannot_be_minimised_says_so():
    line = Quadratic.affine([1, 0])
    for program in (no_qualification(), Program(line, []), Program(Quadratic.square(2), [line] * 17)):
        with pytest.raises(NotSupportedError):
            program.minimise()
    with pytest.raises(NotSupportedError, match="linearly independent"):
        Program(Quadratic.square(2), [], [line, Quadratic.affine([2, 0], 1)])
    assert not no_qualification().refutes_slater([0])
