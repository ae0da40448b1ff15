"""Any number of partitions and blocks gives the optimum of one machine, to the certified gap."""

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'maxmargin[dask]'")

from maxmargin import LinearSVC as OnOneMachine
from maxmargin import Regularization
from maxmargin.core import Candidate, Problem, certify, loss_from_name
from maxmargin.distributed import LinearSVC
from maxmargin.distributed.course import Course
from tests.distributed.collections_of import dask_array, noisy, wide
from tests.strategies import examples, problems

PARTITIONS = (1, 2, 4, 8)
BIASES = ({"fit_intercept": False}, {}, {"intercept_scaling": 2.0})


def settings_of(problem):
    """The parameters of the estimator that pose a drawn problem."""
    bias = {
        "none": {"fit_intercept": False},
        "free": {},
        "penalized": {"intercept_scaling": problem.bias.scale},
    }[problem.bias.kind]
    return {"loss": problem.loss.name, **bias}


def agree(model, reference):
    """Both gaps allow for the difference of the objectives."""
    return model.certificate_.dual <= reference.primal * (1 + 1e-9) and reference.dual <= model.certificate_.primal * (1 + 1e-9)


@given(problem=problems(kernels=("linear",), max_n=24, scales=(1e-3, 1.0, 1e3)), n_partitions=st.sampled_from(PARTITIONS))
@examples(60)
def test_drawn_problems_reach_the_optimum_of_one_machine(problem, n_partitions):
    X = problem.X if problem.rows is None else problem.X[problem.rows]
    C = float(problem.cost.max())
    model = LinearSVC(C=C, tol=1e-6, n_blocks=n_partitions, **settings_of(problem))
    weights = dask_array(problem.cost / C, n_partitions)
    model.fit(dask_array(X, n_partitions), dask_array(problem.y, n_partitions), weights)
    assert model.certificate_.relative_gap <= 1e-6
    reference = OnOneMachine(C=C, tol=1e-9, **settings_of(problem)).fit(X, problem.y, problem.cost / C)
    assert agree(model, reference.certificate_)


@given(data=st.data(), n_partitions=st.sampled_from(PARTITIONS))
@examples(12)
def test_wide_data_reach_the_optimum_of_one_machine(data, n_partitions):
    X, y = wide(n=data.draw(st.integers(20, 200)), seed=data.draw(st.integers(0, 1000)))
    y[:2] = 0, 1
    settings = {
        "C": 10.0 ** data.draw(st.integers(-2, 1)),
        "loss": data.draw(st.sampled_from(("hinge", "squared_hinge"))),
        **data.draw(st.sampled_from(BIASES)),
    }
    model = LinearSVC(tol=1e-3, n_blocks=n_partitions, **settings)
    model.fit(dask_array(X, n_partitions), dask_array(y, n_partitions))
    assert model.certificate_.relative_gap <= 1e-3
    assert agree(model, OnOneMachine(tol=1e-6, **settings).fit(X, y).certificate_)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_certificate_is_that_of_the_judge_of_one_machine(bias, loss):
    X, y = noisy(300, 6)
    model = LinearSVC(loss=loss, n_blocks=4, tol=1e-4, **bias).fit(dask_array(X, 4), dask_array(y, 4))
    one = OnOneMachine(loss=loss, tol=1e-9, **bias).fit(X, y)
    (problem,) = one._problems(X, y, np.ones(300))
    beta = np.zeros(300)
    beta[one.support_] = one.dual_coef_[0]
    best = certify(problem, Candidate(model.coef_[0], float(model.intercept_[0]), beta))
    assert model.certificate_.primal == pytest.approx(best.primal, rel=1e-12)
    assert model.certificate_.margin == pytest.approx(best.margin, rel=1e-9)
    assert sum(model.certificate_.groups) == 300
    # its own dual value is below the best one, and its gap above the true distance
    assert model.certificate_.dual <= best.dual * (1 + 1e-9)
    assert model.certificate_.gap >= (best.primal - best.dual) * (1 - 1e-6) - 1e-9 * best.primal


def test_newton_takes_the_same_steps_on_any_number_of_blocks():
    X, y = noisy(2000, 5)
    found = [LinearSVC(n_blocks=k, tol=1e-7).fit(dask_array(X, 8), dask_array(y, 8)) for k in PARTITIONS]
    assert len({model.n_iter_ for model in found}) == 1
    for model in found[1:]:
        np.testing.assert_allclose(model.coef_, found[0].coef_, rtol=1e-9)


def test_the_same_blocks_and_seed_give_the_same_bits():
    X, y = wide()
    first, second = (LinearSVC(n_blocks=2, tol=1e-2).fit(dask_array(X, 4), dask_array(y, 4)) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)


def test_unbalanced_empty_and_one_class_partitions():
    for X, y in (noisy(200, 4), wide(n=200)):
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
        sizes = [1, 0, 150, 0, 47, 2]
        model = LinearSVC(n_blocks=6).fit(dask_array(X, sizes), dask_array(y, sizes))
        assert model.certificate_.relative_gap <= 1e-3
        assert agree(model, OnOneMachine(tol=1e-6).fit(X, y).certificate_)


@pytest.mark.parametrize("make", [lambda: noisy(600, 5, n_classes=4), lambda: (wide(300)[0], np.arange(300) % 3)])
def test_more_classes_share_each_round(make):
    X, y = make()
    model = LinearSVC(n_blocks=3).fit(dask_array(X, 3), dask_array(y, 3))
    one = OnOneMachine(tol=1e-6).fit(X, y)
    assert model.coef_.shape == one.coef_.shape
    for ours, theirs in zip(model.certificate_, one.certificate_, strict=True):
        assert ours.relative_gap <= 1e-3
        assert theirs.dual <= ours.primal * (1 + 1e-9)
    rounds = [trace[-1].iteration for trace in model.trace_]
    assert model.n_iter_ == max(rounds)  # not their sum


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5}])
@pytest.mark.parametrize("C", [0.3, Regularization.mean(50.0)])
def test_weights_and_class_weights_mean_the_same(class_weight, C):
    X, y = noisy(150, 3, seed=2)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.5], 150)
    settings = {"C": C, "class_weight": class_weight, "tol": 1e-8}
    model = LinearSVC(**settings).fit(dask_array(X, 4), dask_array(y, 4), dask_array(weights, 4))
    one = OnOneMachine(**settings).fit(X, y, weights)
    np.testing.assert_allclose(model.class_weight_, one.class_weight_)
    assert model.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-6)


def test_a_weight_of_k_is_k_copies():
    X, y = wide(n=100)
    doubled = LinearSVC(tol=1e-4).fit(dask_array(sp.vstack([X, X], format="csr"), 4), dask_array(np.tile(y, 2), 4))
    weighed = LinearSVC(tol=1e-4).fit(dask_array(X, 2), dask_array(y, 2), dask_array(np.full(100, 2.0), 2))
    assert weighed.certificate_.primal == pytest.approx(doubled.certificate_.primal, rel=2e-4)


def test_partitions_that_are_not_kept_give_the_same_optimum():
    for X, y in (noisy(400, 4), wide(n=150)):
        model = LinearSVC(keep=False, n_blocks=2).fit(dask_array(X, 6), dask_array(y, 6))
        assert not model.is_kept_
        assert agree(model, OnOneMachine(tol=1e-6).fit(X, y).certificate_)


def test_hard_wide_problems_are_handed_over_to_newton_steps():
    X, y = wide(n=4000, d=1100)
    model = LinearSVC(C=100.0, n_blocks=2, tol=1e-3).fit(dask_array(X, 2), dask_array(y, 2))
    assert "then ProximalNewton" in model.solver_
    assert model.certificate_.relative_gap <= 1e-3
    loss = loss_from_name("hinge")
    problem = Problem(X, np.where(y == 1, 1.0, -1.0), cost=np.full(4000, 100.0), loss=loss)
    primal = problem.primal(model.coef_[0], float(model.intercept_[0]))
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-10)


def test_ctrl_c_between_two_rounds_keeps_the_best_model_so_far(hears_ctrl_c, monkeypatch):
    looks, look = [], Course.look

    def look_and_press(course):
        looks.append(course)
        if len(looks) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return look(course)

    monkeypatch.setattr(Course, "look", look_and_press)
    X, y = wide(n=400)
    model = LinearSVC(C=100.0, tol=1e-12, n_blocks=2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(dask_array(X, 2), dask_array(y, 2))
    assert model.status_.name == "INTERRUPTED"
    assert model.certificate_.relative_gap < 1.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("far", "scale", "C"), [(1e3, 100.0, 1e3), (0.0, 1e3, 1e3), (1e6, 1.0, 1e-4), (0.0, 1e-3, 1e4)])
def test_data_that_nobody_has_scaled_reach_the_tolerance(far, scale, C, loss):
    X, y = noisy(120, 5)
    X = scale * X + far
    model = LinearSVC(C=C, loss=loss, fit_intercept=False, n_blocks=3).fit(dask_array(X, 3), dask_array(y, 3))
    assert model.certificate_.is_certified
    assert model.n_iter_ < 400


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_free_bias_far_from_the_origin_is_not_held_back(loss):
    X, y = noisy(100, 6)
    model = LinearSVC(C=1e3, loss=loss, n_blocks=2).fit(dask_array(0.1 * X + 1e3, 2), dask_array(y, 2))
    assert model.certificate_.is_certified


def test_dual_variables_that_are_lost_while_they_are_judged_are_not_counted_any_longer(monkeypatch):
    from maxmargin.distributed.certificate import judged
    from maxmargin.distributed.workers.block import Block

    answer, lost = Block.answer, []

    def lose_once(self, commands):
        if not lost and self.first == 1 and commands[0][0] is judged:
            lost.append(self)
            self.memories.clear()
        return answer(self, commands)

    monkeypatch.setattr(Block, "answer", lose_once)
    X, y = wide(n=300)
    model = LinearSVC(n_blocks=2, tol=1e-3).fit(dask_array(X, 2), dask_array(y, 2))
    assert lost
    assert model.n_lost_ == 1
    assert model.certificate_.is_certified
    assert model.solver_.startswith("CoCoA⁺ of DualCD:")
