"""One objective, five spellings and the hard margin: MATH §1."""

import copy
import math
import pickle
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.regularization import Regularization, Spelling
from maxmargin.errors import InvalidInputError, MaxMarginError

SOFT = ("sum", "mean", "tikhonov", "pegasos", "ridge")
values = st.floats(1e-6, 1e6)
sizes = st.floats(0.5, 1e6)


def objective(r, w2, slacks):
    """Each spelling's own formula, term by term, with weight 1 for every sample."""
    n, total = len(slacks), sum(slacks)
    return {
        "sum": lambda v: w2 / 2 + v * total,
        "mean": lambda v: w2 / 2 + v / n * total,
        "tikhonov": lambda v: v * w2 + total / n,
        "pegasos": lambda v: v / 2 * w2 + total / n,
        "ridge": lambda v: v * w2 + total,
    }[r.spelling](r.value)


@pytest.mark.parametrize(
    ("regularization", "cost"),
    [
        (Regularization.sum(3.0), 3.0),
        (Regularization.mean(3.0), 3.0 / 8),
        (Regularization.tikhonov(3.0), 1 / (2 * 3.0 * 8)),
        (Regularization.pegasos(3.0), 1 / (3.0 * 8)),
        (Regularization.ridge(3.0), 1 / (2 * 3.0)),
        (Regularization.hard(), math.inf),
    ],
)
def test_each_spelling_has_the_cost_of_the_table(regularization, cost):
    assert regularization.cost(8) == pytest.approx(cost, rel=1e-15)


@pytest.mark.parametrize(
    ("regularization", "cost", "formula"),
    [
        (Regularization.sum(3.0), 3.0, "‖w‖₁ + C Σξ with C = 3.0"),
        (Regularization.mean(3.0), 3.0 / 8, "‖w‖₁ + (C/n) Σξ with C = 3.0"),
        (Regularization.tikhonov(3.0), 1 / (3.0 * 8), "λ‖w‖₁ + (1/n) Σξ with λ = 3.0"),
        (Regularization.pegasos(3.0), 1 / (3.0 * 8), "λ‖w‖₁ + (1/n) Σξ with λ = 3.0"),
        (Regularization.ridge(3.0), 1 / 3.0, "λ‖w‖₁ + Σξ with λ = 3.0"),
        (Regularization.hard(), math.inf, "‖w‖₁ with every ξ = 0 (hard margin)"),
    ],
)
def test_no_spelling_divides_the_l1_norm_by_two(regularization, cost, formula):
    assert regularization.cost(8, "l1") == pytest.approx(cost, rel=1e-15)
    assert regularization.words("l1") == formula
    assert str(regularization) == regularization.words() == regularization.words("l2")
    for target in SOFT:
        if not regularization.is_hard:
            assert regularization.to(target, 8, "l1").cost(8, "l1") == pytest.approx(cost, rel=1e-15)


def test_a_penalty_without_a_trade_off_is_refused():
    with pytest.raises(InvalidInputError, match='penalty must be "l2" or "l1"'):
        Regularization.ridge(1.0).cost(8, "l0")


@pytest.mark.parametrize("spelling", SOFT)
@settings(deadline=None, max_examples=50)
@given(value=values, w2=st.floats(0, 1e3), slacks=st.lists(st.floats(0, 1e3), min_size=1, max_size=6))
def test_every_spelling_is_a_multiple_of_the_one_objective(spelling, value, w2, slacks):
    r = Regularization(spelling, value)
    one = w2 / 2 + r.cost(len(slacks)) * sum(slacks)
    in_front_of_half_norm = {"sum": 1, "mean": 1, "tikhonov": 2 * value, "pegasos": value, "ridge": 2 * value}[spelling]
    assert objective(r, w2, slacks) == pytest.approx(in_front_of_half_norm * one, rel=1e-12)


@pytest.mark.parametrize("target", SOFT)
@pytest.mark.parametrize("source", SOFT)
@settings(deadline=None, max_examples=25)
@given(value=values, n=sizes)
def test_each_converts_to_each_and_back(source, target, value, n):
    r = Regularization(source, value)
    there = r.to(target, n)
    assert there.spelling == target
    assert there.cost(n) == pytest.approx(r.cost(n), rel=1e-14)
    assert there.to(source, n).value == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("spelling", SOFT)
def test_converting_to_its_own_spelling_changes_no_bit(spelling):
    assert Regularization(spelling, 0.1).to(spelling, 7) == Regularization(spelling, 0.1)


def test_conversions_known_by_heart():
    n = 50
    assert Regularization.tikhonov(0.25).to("pegasos", n).value == pytest.approx(2 * 0.25)
    assert Regularization.ridge(0.25).to("sum", n).value == pytest.approx(1 / (2 * 0.25))
    assert Regularization.mean(4.0).to("sum", n).value == pytest.approx(4.0 / 50)
    assert Regularization.tikhonov(0.25).to("ridge", n).value == pytest.approx(0.25 * 50)


def test_the_constant_of_the_sum_of_slacks_is_not_the_one_of_their_mean():
    """C = 1/(2λ) belongs to Σξ; for the mean of n slacks it is 1/(2λn)."""
    lam, n = 0.5, 10
    assert Regularization.ridge(lam).cost(n) == 1 / (2 * lam)
    assert Regularization.tikhonov(lam).cost(n) == 1 / (2 * lam * n)


def test_infinite_c_and_zero_lambda_are_the_one_hard_margin():
    spelled = [Regularization(s, math.inf if s in ("sum", "mean") else 0.0) for s in SOFT]
    for r in [*spelled, Regularization.of(np.inf)]:
        assert r == Regularization.hard()
        assert r.is_hard
        assert hash(r) == hash(Regularization.hard())
        assert r.cost(5) == math.inf
    assert not Regularization.sum(1e300).is_hard


@pytest.mark.parametrize("spelling", [*SOFT, "hard"])
def test_hard_converts_to_hard(spelling):
    assert Regularization.hard().to(spelling, 5) == Regularization.hard()


def test_a_soft_margin_does_not_become_hard():
    with pytest.raises(InvalidInputError, match=r"soft margin.*Regularization\.hard\(\)"):
        Regularization.sum(1.0).to("hard", 5)


def test_a_float_is_c_of_the_sum():
    assert Regularization.of(2) == Regularization.sum(2.0)
    assert Regularization.of(np.float32(0.5)) == Regularization.sum(0.5)
    assert Regularization.of(Fraction(1, 4)) == Regularization.sum(0.25)
    r = Regularization.pegasos(1e-4)
    assert Regularization.of(r) is r


def test_it_compares_by_value_and_survives_pickling():
    r = Regularization.pegasos(1e-4)
    assert r == Regularization.pegasos(0.0001)
    assert r != Regularization.tikhonov(1e-4)
    assert len({r, Regularization.pegasos(1e-4), Regularization.sum(1e-4)}) == 2
    assert pickle.loads(pickle.dumps(r)) == copy.deepcopy(r) == r
    with pytest.raises(AttributeError):
        r.value = 2.0


@pytest.mark.parametrize("r", [Regularization(s, 0.3) for s in SOFT] + [Regularization.hard()])
def test_repr_evaluates_to_the_same(r):
    assert eval(repr(r)) == r


def test_str_is_the_formula():
    assert str(Regularization.tikhonov(0.5)) == "λ‖w‖² + (1/n) Σξ with λ = 0.5"
    assert "hard margin" in str(Regularization.hard())
    for spelling in SOFT:
        assert "0.3" in str(Regularization(spelling, 0.3))


@pytest.mark.parametrize("bad", [math.nan, 0.0, -1.0, -math.inf, True, np.True_, "1", None, [1.0], 1j, 10**400])
@pytest.mark.parametrize("make", [Regularization.of, Regularization.sum, Regularization.mean])
def test_c_must_be_a_positive_number(make, bad):
    with pytest.raises(InvalidInputError, match=r"C = .*Use ") as caught:
        make(bad)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, MaxMarginError)


@pytest.mark.parametrize("bad", [math.nan, -1e-9, -math.inf, math.inf, False, "1", None])
@pytest.mark.parametrize("make", [Regularization.tikhonov, Regularization.pegasos, Regularization.ridge])
def test_lambda_must_be_a_number_that_is_not_negative(make, bad):
    with pytest.raises(InvalidInputError, match=r"λ = .*Use "):
        make(bad)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "10", None])
def test_n_must_be_a_positive_number_even_where_the_cost_does_not_need_it(bad):
    for spelling in SOFT:
        with pytest.raises(InvalidInputError, match="n = "):
            Regularization(spelling, 1.0).cost(bad)
        with pytest.raises(InvalidInputError, match="n = "):
            Regularization(spelling, 1.0).to("mean", bad)


def test_unknown_spellings_are_refused():
    with pytest.raises(InvalidInputError, match=r"'lasso'.*sum, mean, tikhonov"):
        Regularization("lasso", 1.0)
    for r in (Regularization.sum(1.0), Regularization.hard()):
        with pytest.raises(InvalidInputError, match="'lasso'"):
            r.to("lasso", 5)


def test_hard_takes_no_parameter():
    with pytest.raises(InvalidInputError, match="no parameter"):
        Regularization("hard", 1.0)


@pytest.mark.parametrize("r", [Regularization.pegasos(1e-320), Regularization.mean(1e-320)])
def test_a_cost_beyond_float64_is_refused_and_not_taken_for_hard_or_absent(r):
    with pytest.raises(InvalidInputError, match="beyond the range"):
        r.cost(1e10 if r.spelling == "mean" else 1)


def test_a_conversion_that_underflows_is_refused_and_does_not_become_hard():
    with pytest.raises(InvalidInputError, match="beyond the range"):
        Regularization.sum(1e300).to("pegasos", 1e300)


def test_the_names_of_the_spellings_are_those_of_the_constructors():
    assert set(get_args(Spelling)) == {*SOFT, "hard"}
    assert all(callable(getattr(Regularization, name)) for name in get_args(Spelling))
