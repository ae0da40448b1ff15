"""The theorems of MATH §10 as numbers: values by hand, monotonicity, inverses, honesty."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from maxmargin.analysis import bounds
from maxmargin.analysis.bounds import Bound
from maxmargin.errors import InvalidInputError
from maxmargin.rounding import shown_above

quick = settings(deadline=None, max_examples=60)
ratios = st.floats(1.0, 100.0)
radii = st.floats(1e-3, 1e3)
fractions = st.floats(1e-4, 0.999)
sizes = st.integers(1, 10**7)

HARD = {"rho": 2.0, "gamma": 0.5, "m": 400, "delta": 0.1}
SOFT = {"hinge_loss": 0.1, "norm": 2.0, "lam": 0.05, "rho": 1.5, "m": 400}
BEST = {"hinge_loss": 0.1, "B": 2.0, "rho": 1.5, "m": 400}


def moved(function, inputs, name, factor):
    """The change of the value when one input is multiplied."""
    value = inputs[name] * factor
    return float(function(**{**inputs, name: type(inputs[name])(value)})) - float(function(**inputs))


# -------------------------------------------------------------------------------------------------------- hard margin


def test_hard_margin_by_hand():
    """ρ/γ = 4, m = 400, δ = 0.1."""
    assert float(bounds.hard_margin(**HARD)) == pytest.approx(
        math.sqrt(4 * 4**2 / 400) + math.sqrt(2 * math.log(2 / 0.1) / 400), rel=1e-14
    )
    ln_is_two = bounds.hard_margin(rho=1.0, gamma=1.0, m=100, delta=2 / math.e**2)
    assert float(ln_is_two) == pytest.approx(2 / 10 + 2 / 10)


def test_hard_margin_does_not_see_scale_or_dimension():
    scaled = bounds.hard_margin(rho=2.0 * 8, gamma=0.5 * 8, m=400, delta=0.1)
    assert float(scaled) == float(bounds.hard_margin(**HARD))
    assert "d" not in scaled.inputs


@pytest.mark.parametrize(("name", "sign"), [("rho", 1), ("gamma", -1), ("m", -1), ("delta", -1)])
def test_hard_margin_moves_the_right_way(name, sign):
    assert sign * moved(bounds.hard_margin, HARD, name, 2) > 0


@quick
@given(rho=radii, ratio=ratios, epsilon=st.floats(1e-3, 0.999), delta=fractions)
def test_hard_margin_samples_are_enough_and_one_less_is_not(rho, ratio, epsilon, delta):
    gamma = rho / ratio
    assume(gamma <= rho)
    m = int(bounds.hard_margin_samples(rho=rho, gamma=gamma, epsilon=epsilon, delta=delta))
    assert float(bounds.hard_margin(rho=rho, gamma=gamma, m=m, delta=delta)) <= epsilon
    assert float(bounds.hard_margin(rho=rho, gamma=gamma, m=m - 1, delta=delta)) > epsilon
    by_hand = ((2 * rho / gamma + math.sqrt(2 * math.log(2 / delta))) / epsilon) ** 2
    assert m == pytest.approx(by_hand, rel=1e-9, abs=1)


def test_hard_margin_samples_are_exact_also_where_floats_are_coarse():
    m = int(bounds.hard_margin_samples(rho=1e9, gamma=1.0, epsilon=1e-3, delta=0.1))
    assert m > 2**53
    assert float(bounds.hard_margin(rho=1e9, gamma=1.0, m=m, delta=0.1)) <= 1e-3
    assert float(bounds.hard_margin(rho=1e9, gamma=1.0, m=m - 1, delta=0.1)) > 1e-3


@quick
@given(rho=radii, m=st.integers(10**4, 10**7), epsilon=st.floats(0.1, 0.9), delta=st.floats(0.01, 0.5))
def test_hard_margin_gamma_gives_back_epsilon(rho, m, epsilon, delta):
    gamma = bounds.hard_margin_gamma(rho=rho, m=m, epsilon=epsilon, delta=delta)
    assert gamma.kind == "margin"
    assert float(bounds.hard_margin(rho=rho, gamma=gamma, m=m, delta=delta)) == pytest.approx(epsilon, rel=1e-10)


@quick
@given(m=st.integers(10**3, 10**5), epsilon=st.floats(0.3, 0.6), ratio=st.floats(1, 2))
def test_hard_margin_delta_gives_back_epsilon(m, epsilon, ratio):
    assume(epsilon * math.sqrt(m) - 2 * ratio < 35)
    delta = bounds.hard_margin_delta(rho=ratio, gamma=1.0, m=m, epsilon=epsilon)
    assert 0 < float(delta) < 1
    assert float(bounds.hard_margin(rho=ratio, gamma=1.0, m=m, delta=delta)) == pytest.approx(epsilon, rel=1e-9)


def test_a_delta_that_underflows_stays_a_usable_and_true_one():
    delta = bounds.hard_margin_delta(rho=1.0, gamma=1.0, m=10**6, epsilon=0.9)
    assert 0 < float(delta) < 1e-300
    assert float(bounds.hard_margin(rho=1.0, gamma=1.0, m=10**6, delta=delta)) <= 0.9


def test_too_few_samples_for_any_margin_say_how_many_it_takes():
    enough = int(bounds.hard_margin_samples(rho=1.0, gamma=1.0, epsilon=0.1, delta=0.05))
    with pytest.raises(InvalidInputError, match=f"at least {enough} samples"):
        bounds.hard_margin_gamma(rho=3.0, m=enough - 1, epsilon=0.1, delta=0.05)
    assert float(bounds.hard_margin_gamma(rho=3.0, m=enough, epsilon=0.1, delta=0.05)) <= 3.0


@pytest.mark.parametrize("m", [1, 16, 400])
def test_too_few_samples_for_any_confidence_are_refused(m):
    with pytest.raises(InvalidInputError, match="at every confidence"):
        bounds.hard_margin_delta(rho=4.0, gamma=1.0, m=m, epsilon=0.4 + 0.02)


def test_a_margin_beyond_the_radius_is_impossible():
    for function, rest in (
        (bounds.hard_margin, {"m": 10, "delta": 0.1}),
        (bounds.hard_margin_samples, {"epsilon": 0.1, "delta": 0.1}),
        (bounds.hard_margin_delta, {"m": 1000, "epsilon": 0.2}),
        (bounds.perceptron_updates, {}),
    ):
        with pytest.raises(InvalidInputError, match=r"gamma = 1\.001 where a number > 0 and at most rho = 1\.0"):
            function(rho=1.0, gamma=1.001, **rest)
        equal_up_to_rounding = function(rho=1.0, gamma=np.nextafter(1.0, 2.0), **rest)
        assert float(equal_up_to_rounding) == pytest.approx(float(function(rho=1.0, gamma=1.0, **rest)))


# -------------------------------------------------------------------------------------------------------- soft margin


def test_soft_margin_by_hand():
    assert float(bounds.soft_margin(**SOFT)) == pytest.approx(0.1 + 0.05 * 2.0**2 + 2 * 1.5**2 / (0.05 * 400))
    assert float(bounds.soft_margin_lambda(rho=1.5, B=2.0, m=400)) == pytest.approx(math.sqrt(2 * 1.5**2 / (2**2 * 400)))
    assert float(bounds.soft_margin_best(**BEST)) == pytest.approx(0.1 + math.sqrt(8 * 1.5**2 * 2.0**2 / 400))


@pytest.mark.parametrize(("name", "sign"), [("hinge_loss", 1), ("norm", 1), ("rho", 1), ("m", -1)])
def test_soft_margin_moves_the_right_way(name, sign):
    assert sign * moved(bounds.soft_margin, SOFT, name, 2) > 0


@pytest.mark.parametrize(("name", "sign"), [("hinge_loss", 1), ("B", 1), ("rho", 1), ("m", -1)])
def test_the_best_soft_margin_moves_the_right_way(name, sign):
    assert sign * moved(bounds.soft_margin_best, BEST, name, 2) > 0


@pytest.mark.parametrize(("name", "sign"), [("rho", 1), ("B", -1), ("m", -1)])
def test_lambda_moves_the_right_way(name, sign):
    assert sign * moved(bounds.soft_margin_lambda, {"rho": 1.5, "B": 2.0, "m": 400}, name, 2) > 0


@quick
@given(hinge=st.floats(0, 1), B=radii, rho=radii, m=sizes, factor=st.floats(0.1, 10))
def test_that_lambda_gives_the_best_bound_and_no_other_a_better_one(hinge, B, rho, m, factor):
    best = float(bounds.soft_margin_best(hinge_loss=hinge, B=B, rho=rho, m=m))
    lam = float(bounds.soft_margin_lambda(rho=rho, B=B, m=m))
    assert float(bounds.soft_margin(hinge_loss=hinge, norm=B, lam=lam, rho=rho, m=m)) == pytest.approx(best, rel=1e-12)
    other = float(bounds.soft_margin(hinge_loss=hinge, norm=B, lam=lam * factor, rho=rho, m=m))
    assert other >= best * (1 - 1e-12)


@quick
@given(B=st.floats(1e-2, 1e2), rho=st.floats(1e-2, 1e2), epsilon=st.floats(1e-2, 10))
def test_soft_margin_samples_are_enough_and_one_less_is_not(B, rho, epsilon):
    m = int(bounds.soft_margin_samples(B=B, rho=rho, epsilon=epsilon))
    assert float(bounds.soft_margin_best(hinge_loss=0.0, B=B, rho=rho, m=m)) <= epsilon
    if m > 1:
        assert float(bounds.soft_margin_best(hinge_loss=0.0, B=B, rho=rho, m=m - 1)) > epsilon
    assert m == pytest.approx(8 * (rho * B / epsilon) ** 2, rel=1e-9, abs=1)


def test_data_at_the_origin_need_one_sample():
    assert int(bounds.soft_margin_samples(B=1.0, rho=0.0, epsilon=0.1)) == 1
    assert float(bounds.soft_margin(**{**SOFT, "rho": 0.0})) == pytest.approx(0.1 + 0.05 * 4)


# ------------------------------------------------------------------------------------- dimension, perceptron, support


def test_vc_rate_by_hand_and_it_claims_nothing():
    rate = bounds.vc_rate(d=50, m=200)
    assert float(rate) == math.sqrt(50 / 200)
    assert rate.kind == "rate"
    assert not bounds.vc_rate(d=1000, m=10).vacuous
    assert "claims nothing" in str(rate)
    assert moved(bounds.vc_rate, {"d": 50, "m": 200}, "d", 2) > 0 > moved(bounds.vc_rate, {"d": 50, "m": 200}, "m", 2)


@pytest.mark.parametrize("m", [100, 10_000, 10**8])
def test_short_documents_and_a_large_dictionary_favour_the_norm(m):
    """ρ² B² ≤ 10 000 against d = 100 000 words: the norm wins, its constant 8 included."""
    norm_based = bounds.soft_margin_best(hinge_loss=0.0, B=10.0, rho=10.0, m=m)
    assert float(norm_based) < float(bounds.vc_rate(d=100_000, m=m))


@pytest.mark.parametrize(("rho", "gamma", "updates"), [(1.0, 1.0, 1), (5.0, 2.0, 6), (3.0, 1.0, 9), (0.3, 0.1, 9)])
def test_perceptron_updates_by_hand(rho, gamma, updates):
    bound = bounds.perceptron_updates(rho=rho, gamma=gamma)
    assert int(bound) == updates
    assert not bound.vacuous
    assert not bound.plug_in


@pytest.mark.parametrize("seed", range(5))
def test_the_perceptron_keeps_within_its_bound(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    u = np.array([2.0, -1.0, 0.5]) / math.sqrt(5.25)
    X = X[np.abs(X @ u) > 0.1]
    y = np.sign(X @ u)
    w, updates, clean = np.zeros(3), 0, False
    while not clean:
        clean = True
        for x, label in zip(X, y, strict=True):
            if label * (w @ x) <= 0:
                w, updates, clean = w + label * x, updates + 1, False
    rho, gamma = np.linalg.norm(X, axis=1).max(), (y * (X @ u)).min()
    assert updates <= int(bounds.perceptron_updates(rho=rho, gamma=gamma))
    assert gamma <= float(bounds.perceptron_margin(rho=rho, updates=updates))


@quick
@given(rho=radii, updates=st.integers(1, 10**6))
def test_perceptron_margin_is_the_inverse_of_the_updates(rho, updates):
    margin = bounds.perceptron_margin(rho=rho, updates=updates)
    assert float(margin) == pytest.approx(rho / math.sqrt(updates))
    assert int(bounds.perceptron_updates(rho=rho, gamma=margin)) == updates


def test_a_count_beyond_float64_is_still_a_count():
    huge = bounds.perceptron_updates(rho=1e200, gamma=1e-200)
    assert int(huge) > 10**799
    assert float(huge) == math.inf


def test_leave_one_out_support_by_hand():
    assert float(bounds.leave_one_out_support(n_support=30, m=120)) == 30 / 120
    assert float(bounds.leave_one_out_support(n_support=12.5, m=100)) == 12.5 / 100
    assert float(bounds.leave_one_out_support(n_support=0, m=1)) == 0.0
    assert bounds.leave_one_out_support(n_support=7, m=7).vacuous
    for bad in (-1, 8, math.nan, True):
        with pytest.raises(InvalidInputError, match="between 0 and m = 7"):
            bounds.leave_one_out_support(n_support=bad, m=7)


# ------------------------------------------------------------------------------------------------------------ honesty

EVERY = [
    bounds.hard_margin(**HARD),
    bounds.hard_margin_samples(rho=2.0, gamma=0.5, epsilon=0.2, delta=0.1),
    bounds.hard_margin_gamma(rho=2.0, m=4000, epsilon=0.2, delta=0.1),
    bounds.hard_margin_delta(rho=2.0, gamma=0.5, m=4000, epsilon=0.2),
    bounds.soft_margin(**SOFT),
    bounds.soft_margin_lambda(rho=1.5, B=2.0, m=400),
    bounds.soft_margin_best(**BEST),
    bounds.soft_margin_samples(B=2.0, rho=1.5, epsilon=0.2),
    bounds.vc_rate(d=10, m=400),
    bounds.vc_lower_rate(d=10, epsilon=0.1),
    bounds.vc_lower_samples(d=1000, epsilon=0.1),
    bounds.perceptron_updates(rho=2.0, gamma=0.5),
    bounds.perceptron_margin(rho=2.0, updates=10),
    bounds.leave_one_out_support(n_support=10, m=400),
]


def by_name(bound):
    return bound.name


def test_every_public_function_is_tried_here():
    assert {b.name for b in EVERY} == set(bounds.__all__) - {"Bound", "Kind"}


@pytest.mark.parametrize("bound", EVERY, ids=by_name)
def test_a_bound_says_its_number_its_source_and_what_it_assumes(bound):
    text = str(bound)
    shown = {f"{bound.value:.4g}", shown_above(bound.value, 4), str(bound.value)}
    assert any(number in text for number in shown)
    assert all(assumption in text for assumption in bound.assumptions)
    assert bound.assumptions
    assert bound.theorem
    assert bound.formula
    assert bound.inputs
    assert "plug-in" not in text
    assert float(bound) == bound.value


@pytest.mark.parametrize("bound", EVERY, ids=by_name)
def test_bounds_are_frozen_values(bound):
    assert pickle.loads(pickle.dumps(bound)) == copy.deepcopy(bound) == bound
    assert hash(copy.copy(bound)) == hash(bound)
    with pytest.raises(AttributeError):
        bound.value = 0.0
    with pytest.raises(TypeError):
        bound.inputs["m"] = 1
    assert json.loads(json.dumps(bound.as_dict()))["vacuous"] == bound.vacuous


def test_measured_values_make_plug_in_figures_and_the_number_stays():
    plain = bounds.hard_margin(**HARD)
    plugged = bounds.hard_margin(**HARD, plug_in=True)
    assert plugged.plug_in
    assert not plain.plug_in
    assert float(plugged) == float(plain)
    assert "plug-in figure" in str(plugged)
    assert "not a guarantee" in str(plugged)
    for make, inputs in ((bounds.soft_margin, SOFT), (bounds.soft_margin_best, BEST)):
        assert "plug-in figure" in str(make(**inputs, plug_in=True))
    assert bounds.leave_one_out_support(n_support=1, m=2, plug_in=True).plug_in


def test_an_error_bound_of_one_or_more_is_vacuous_and_says_so():
    few, many = (bounds.hard_margin(rho=1.0, gamma=0.5, m=m, delta=0.1) for m in (10, 10_000))
    assert few.vacuous
    assert float(few) >= 1
    assert "vacuous" in str(few)
    assert not many.vacuous
    assert "vacuous" not in str(many)
    assert bounds.soft_margin_best(hinge_loss=1.0, B=1.0, rho=0.0, m=1).vacuous
    assert not bounds.perceptron_updates(rho=10.0, gamma=1.0).vacuous
    assert not bounds.hard_margin_samples(rho=1.0, gamma=0.5, epsilon=0.1, delta=0.1).vacuous


def test_a_bound_that_counts_is_an_integer_and_others_are_not():
    m = bounds.soft_margin_samples(B=1.0, rho=1.0, epsilon=0.5)
    assert isinstance(m.value, int)
    assert list(range(100))[m] == 8 * 2**2
    with pytest.raises(TypeError, match="not a count"):
        int(Bound.__index__(bounds.vc_rate(d=1, m=4)))


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("bad", [0, -3, 10.0, 2.5, True, "10", None, math.nan, 10**301])
def test_m_must_be_a_positive_integer(bad):
    for function, inputs in ((bounds.hard_margin, HARD), (bounds.soft_margin, SOFT), (bounds.soft_margin_best, BEST)):
        with pytest.raises(InvalidInputError, match=r"m = .* integer .*number of training samples"):
            function(**{**inputs, "m": bad})
    with pytest.raises(InvalidInputError, match="d = "):
        bounds.vc_rate(d=bad, m=1)
    with pytest.raises(InvalidInputError, match="updates = "):
        bounds.perceptron_margin(rho=1.0, updates=bad)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, 1.1, math.nan, math.inf, True, "0.1", None])
def test_probabilities_lie_strictly_between_zero_and_one(bad):
    with pytest.raises(InvalidInputError, match=r"delta = .*strictly between 0 and 1"):
        bounds.hard_margin(**{**HARD, "delta": bad})
    with pytest.raises(InvalidInputError, match=r"epsilon = .*strictly between 0 and 1"):
        bounds.hard_margin_samples(rho=1.0, gamma=0.5, delta=0.1, epsilon=bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, True, "1", None, 10**400])
def test_what_must_be_positive_is(bad):
    with pytest.raises(InvalidInputError, match=r"gamma = .*> 0"):
        bounds.hard_margin(**{**HARD, "gamma": bad})
    with pytest.raises(InvalidInputError, match=r"lam = .*tikhonov"):
        bounds.soft_margin(**{**SOFT, "lam": bad})
    with pytest.raises(InvalidInputError, match="B = "):
        bounds.soft_margin_best(**{**BEST, "B": bad})
    with pytest.raises(InvalidInputError, match="epsilon = "):
        bounds.soft_margin_samples(B=1.0, rho=1.0, epsilon=bad)
    with pytest.raises(InvalidInputError, match="rho = "):
        bounds.soft_margin_lambda(rho=bad, B=1.0, m=10)


@pytest.mark.parametrize("name", ["hinge_loss", "norm", "rho"])
def test_what_must_not_be_negative_is_not(name):
    with pytest.raises(InvalidInputError, match=f"{name} = .*≥ 0"):
        bounds.soft_margin(**{**SOFT, name: -1e-9})


def test_a_target_that_float64_cannot_reach_is_refused():
    with pytest.raises(InvalidInputError, match="larger epsilon"):
        bounds.soft_margin_samples(B=1e200, rho=1.0, epsilon=0.1)


def test_numpy_numbers_are_numbers():
    plain = bounds.hard_margin(rho=2.0, gamma=0.5, m=400, delta=0.125)
    assert bounds.hard_margin(rho=np.float32(2), gamma=np.float64(0.5), m=np.int32(400), delta=0.125) == plain
    assert all(type(v) in (int, float) for v in plain.inputs.values())


def test_an_input_that_is_missing_is_named():
    with pytest.raises(TypeError, match="rho"):
        bounds.perceptron_updates(gamma=1.0)
