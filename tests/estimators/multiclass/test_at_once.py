"""Small data: what is solved together is what is solved alone."""

import io
from collections import Counter
from contextlib import redirect_stderr

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import SVC, LinearSVC, Regularization, Status, certify
from tests.strategies import examples, generators

TOGETHER = "all problems of the fit in one call"
BIASES = {"free": {}, "none": {"fit_intercept": False}, "penalised": {"intercept_scaling": 0.5}}


def problems_of(model):
    certificates = model.certificate_ if isinstance(model.certificate_, tuple) else (model.certificate_,)
    reasons = model.solver_ if isinstance(model.solver_, tuple) else (model.solver_,)
    return list(zip(certificates, reasons, strict=True))


def classes(rng, n, k, d=4):
    """k overlapping classes, each of them present."""
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((k, d))[y], y


def estimator(kind, C, tol, bias="free", **others):
    """A kernel machine, or a linear one with the bias that was asked for."""
    return SVC(C, tol=tol, **others) if kind == "kernel" else LinearSVC(C=C, tol=tol, **BIASES[bias], **others)


@examples(40)
@given(
    rng=generators(),
    n=st.integers(8, 90),
    k=st.integers(2, 4),
    kind=st.sampled_from(["kernel", "linear"]),
    bias=st.sampled_from(sorted(BIASES)),
    C=st.sampled_from([1e-3, 0.3, 10.0, 1e4, Regularization.mean(3.0)]),
    form=st.sampled_from([np.asarray, sp.csr_array, np.float32]),
    weighting=st.sampled_from(["none", "counts", "absent"]),
    balance=st.sampled_from([None, "balanced"]),
)
def test_problems_solved_together_are_those_solved_alone(rng, n, k, kind, bias, C, form, weighting, balance):
    X, y = classes(rng, n, k)
    X = form(X)
    weights = {"none": None, "counts": rng.integers(1, 4, n) * 1.0, "absent": np.r_[np.ones(k), rng.integers(0, 3, n - k)]}[
        weighting
    ]
    together = estimator(kind, C, 1e-4, bias, class_weight=balance).fit(X, y, weights)
    alone = estimator(kind, C, 1e-4, bias, class_weight=balance, solver="interior_point").fit(X, y, weights)
    judged = certify(together, X, y, weights)
    again = judged if isinstance(judged, tuple) else (judged,)
    for (ours, why), (theirs, _), checked in zip(problems_of(together), problems_of(alone), again, strict=True):
        assert TOGETHER in why or C == 1e4  # which may take too many pairs
        assert ours.relative_gap <= 1e-4
        assert ours.dual <= theirs.primal
        assert theirs.dual <= ours.primal
        # two bounds of the same numbers: they differ by what they charge for rounding, at most a tenth of tol
        assert checked.primal == pytest.approx(ours.primal, rel=1e-5)
        assert checked.gap == pytest.approx(ours.gap, abs=1e-5 * ours.primal)
        assert checked.groups == ours.groups
    labels, is_certain = together.certified_predictions(X)
    np.testing.assert_array_equal(labels[is_certain], alone.predict(X)[is_certain])


@pytest.mark.parametrize(("kind", "form"), [("kernel", np.asarray), ("linear", np.asarray), ("linear", sp.csr_array)])
def test_what_is_not_solved_together_goes_on_alone(kind, form, monkeypatch):
    monkeypatch.setattr("maxmargin.solvers.smo.together.MOST_WORK", 1000.0)
    monkeypatch.setattr("maxmargin.solvers.linear.together.work_of", lambda X: 1e7)
    X, y = classes(np.random.default_rng(0), 120, 3)
    model = estimator(kind, 100.0, 1e-9).fit(form(X), y)
    assert all(status is Status.SOLVED for status in model.status_)
    assert max(certificate.relative_gap for certificate, _ in problems_of(model)) <= 1e-9
    assert any(TOGETHER not in why for _, why in problems_of(model))


def test_large_problems_and_small_caches_go_the_usual_way():
    X, y = classes(np.random.default_rng(0), 700, 2)
    assert all(TOGETHER not in why for _, why in problems_of(SVC().fit(X, y)))
    assert all(TOGETHER in why for _, why in problems_of(SVC().fit(X[:500], y[:500])))
    assert all(TOGETHER not in why for _, why in problems_of(SVC(cache_size=1).fit(X[:500], y[:500])))  # K takes 2 MB


def test_many_small_classes_are_solved_together():
    X, y = classes(np.random.default_rng(0), 1500, 10)
    assert all(TOGETHER in why for _, why in problems_of(SVC().fit(X, y)))
    assert all(TOGETHER not in why for _, why in problems_of(LinearSVC().fit(sp.csr_array(X), y)))  # each has all samples
    assert all(TOGETHER in why for _, why in problems_of(LinearSVC().fit(X, y)))  # of dense data that is little work


def test_dense_data_with_more_work_a_step_go_the_usual_way(monkeypatch):
    X, y = classes(np.random.default_rng(0), 100, 2)
    assert TOGETHER in LinearSVC().fit(X, y).solver_
    monkeypatch.setattr("maxmargin.solvers.linear.together.suits", lambda X: False)
    assert TOGETHER in LinearSVC().fit(X, y).solver_  # on one kernel matrix
    assert "kernel matrix" in LinearSVC().fit(X, y).solver_
    X, y = classes(np.random.default_rng(0), 700, 2)
    assert TOGETHER not in LinearSVC().fit(X, y).solver_


def test_a_watched_fit_tells_of_each_problem_and_changes_no_bit():
    X, y = classes(np.random.default_rng(0), 60, 3)
    said = io.StringIO()
    with redirect_stderr(said):
        watched = SVC(verbose=True).fit(X, y)
    assert said.getvalue().count("against") >= 3
    alone = SVC().fit(X, y)
    assert watched.dual_coef_.tobytes() == alone.dual_coef_.tobytes()
    assert watched.certificate_ == alone.certificate_


def test_a_scale_that_rounds_goes_the_usual_way():
    X, y = classes(np.random.default_rng(0), 60, 2)
    assert TOGETHER in LinearSVC(intercept_scaling=0.25).fit(X, y).solver_
    assert TOGETHER not in LinearSVC(intercept_scaling=0.3).fit(X, y).solver_


def test_ctrl_c_between_two_calls_keeps_what_was_found(monkeypatch):
    from maxmargin._loops.smo import together as loops

    calls, solve_all = [], loops.solve_together

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        solve_all(*arguments)

    monkeypatch.setattr(loops, "solve_together", interrupted)
    X, y = classes(np.random.default_rng(0), 100, 6)  # fifteen pairs
    model = SVC()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert Counter(model.status_) == {Status.SOLVED: 8, Status.INTERRUPTED: 7}
    assert model.certificate_.worst.relative_gap > 1e-3
    assert model.predict(X).shape == (100,)


def test_ctrl_c_between_two_newton_solutions_keeps_what_was_found(monkeypatch):
    from maxmargin._loops.linear import newton_together as loops

    calls, newton = [], loops.newton

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return newton(*arguments)

    monkeypatch.setattr(loops, "newton", interrupted)
    X, y = classes(np.random.default_rng(0), 100, 4)
    model = LinearSVC()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert Counter(model.status_) == {Status.SOLVED: 2, Status.INTERRUPTED: 2}
    assert model.predict(X).shape == (100,)
