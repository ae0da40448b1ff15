"""What a certificate says: "Certified" where the gap is at most what was asked for, and nowhere else."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from maxmargin import SVC, ConvergenceWarning, HardMarginSVC, LinearSVC, PegasosSVC
from maxmargin.core import Candidate, Problem, certify
from maxmargin.core.certificate.certify import QUESTION
from maxmargin.estimators.multiclass.per_problem import Certificates
from maxmargin.rounding import shown_above

LINE = Problem(np.arange(4.0)[:, None], np.array([-1.0, -1.0, 1.0, 1.0]), cost=np.full(4, 10.0))
BEST = Candidate(np.array([2.0]), -3.0, np.array([0.0, -2.0, 2.0, 0.0]))
ROUGH = Candidate(np.array([1.9]), -3.0, np.array([0.0, -1.9, 1.9, 0.0]))
X, Y = make_moons(100, noise=0.3, random_state=0)


@pytest.mark.parametrize("candidate", [BEST, ROUGH])
def test_it_is_certified_at_tol_and_not_just_above(candidate):
    gap = certify(LINE, candidate).relative_gap
    at, above = certify(LINE, candidate, tol=gap), certify(LINE, candidate, tol=np.nextafter(gap, 0.0))
    assert at.is_certified
    assert "Not certified" not in str(at)
    assert not above.is_certified
    assert str(above).startswith(f"Not certified: the gap is {shown_above(gap, 2)}, and ")
    assert "Certified" not in str(above)
    assert "proved" not in str(above)


def test_the_gap_and_the_goal_stand_in_the_sentence():
    judged = certify(LINE, ROUGH, tol=1e-3)
    gap = shown_above(judged.relative_gap, 2)
    assert float(gap) >= judged.relative_gap  # digits that are left out never make it better
    words = f"Not certified: the gap is {gap}, and 0.001 was asked for. Allow more iterations or seconds"
    assert str(judged).startswith(words)


def test_where_nothing_was_asked_for_nothing_is_certified_or_missed():
    judged = certify(LINE, ROUGH)
    assert not judged.is_certified
    assert judged.is_reached
    assert str(judged).startswith("The objective ")
    assert "ertified" not in str(judged)


def test_optimal_to_rounding_needs_the_gap_that_was_asked_for():
    best = certify(LINE, BEST, tol=1e-6)
    assert best.is_optimal_to_rounding
    assert str(best).startswith("Optimal to rounding: ")
    missed = replace(best, tol=0.0)
    assert not missed.is_optimal_to_rounding
    assert str(missed).startswith("Not certified: ")
    assert "Scale the features, or relax tol: at least half of the gap is rounding." in str(missed)
    larger = replace(best, gap=2.1 * best.rounding)
    assert not larger.is_optimal_to_rounding
    assert str(larger).startswith("Certified: ")


def test_an_infinite_gap_is_not_certified():
    hard = Problem(LINE.X, LINE.y, cost=np.full(4, math.inf))
    judged = certify(hard, Candidate(np.array([1.0]), 5.0, BEST.beta), tol=math.inf)
    assert judged.gap == math.inf
    for one in (judged, replace(judged, tol=None), replace(judged, tol=1e-3)):
        assert str(one).startswith("Not certified: the gap is infinite")
        assert not one.is_certified


def test_a_kernel_that_is_not_positive_semi_definite_certifies_nothing():
    judged = SVC(kernel="sigmoid", coef0=1.0, gamma=1.0).fit(X, Y).certificate_
    assert not judged.convex
    assert not judged.is_certified
    assert str(judged).startswith("Stationary to a relative ")
    assert "proved" not in str(judged)


def test_a_kernel_that_is_trusted_says_so():
    words = str(SVC(kernel=lambda A, B: A @ B.T).fit(X, Y).certificate_)
    assert words.startswith(("Certified if the kernel is", "Optimal to rounding if the kernel is"))


def test_data_that_cannot_be_compared_are_asked_about_where_the_gap_was_missed():
    missed, reached = certify(LINE, ROUGH, tol=1e-9), certify(LINE, BEST, tol=1e-6)
    assert "Are these the training rows, in their order? If so, allow more" in str(replace(missed, data=QUESTION))
    assert QUESTION not in str(replace(reached, data=QUESTION))


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(max_iter=1, solver="dual_cd", tol=1e-6),
        LinearSVC(max_iter=1, penalty="l1", solver="primal_cd", tol=1e-9),
        SVC(C=100, max_iter=1, solver="smo", tol=1e-9),
        PegasosSVC(n_epochs=1, tol=1e-6),
    ],
    ids=repr,
)
def test_a_fit_that_was_stopped_after_one_round_is_not_certified(model, capsys):
    with pytest.warns(ConvergenceWarning, match=r"Not certified: the gap is [0-9.e+-]+, and [0-9.e-]+ was asked for"):
        model.set_params(verbose=True).fit(X, Y)
    assert not model.certificate_.is_certified
    assert str(model.certificate_).startswith("Not certified: the gap is ")
    assert " not certified, " in capsys.readouterr().err


def test_of_several_classes_the_worst_decides():
    iris = load_iris()
    model = HardMarginSVC(kernel="rbf", gamma=2.0).fit(iris.data, iris.target)
    assert model.certificate_.is_certified
    assert str(model.certificate_) == f"Of 3 problems, the one with the largest gap: {model.certificate_.worst}"
    short = replace(model.certificate_[1], relative_gap=1.2)
    mixed = Certificates.of([model.certificate_[0], short, model.certificate_[2]], 1)
    assert not mixed.is_certified
    assert "Not certified: the gap is 1.2, and 1e-06 was asked for." in str(mixed)


def test_pegasos_without_a_goal_misses_none():
    judged = PegasosSVC(tol=None, n_epochs=2).fit(X, Y).certificate_
    assert judged.tol is None
    assert judged.is_reached
    assert "ertified" not in str(judged)
