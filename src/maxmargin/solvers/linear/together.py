"""Small dense problems with the hinge on the same rows, solved by Newton steps in a few compiled calls.

    min_w̃ ½w̃ᵀΛw̃ + Σ c_j max(0, 1 − y_j⟨w̃, x̃_j⟩)

A step of `ProximalNewton` takes 0.3 ms, whatever the data; on a thousand samples what it computes takes a tenth of that.
"""

import numpy as np
import scipy.sparse as sp

from maxmargin.core.certificate.scores import GAP_SHARE
from maxmargin.solvers.base import Clock
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear.proximal_newton import ProximalNewton
from maxmargin.solvers.refine import REFINE
from maxmargin.solvers.smo.smo import SMO
from maxmargin.solvers.smo.together import MOST_WORK
from maxmargin.solvers.together import Solved, Sums, Together, certified
from maxmargin.typing import Floats, Matrix


def suits(X: Matrix) -> bool:
    """Whether these data are dense, with at least as many samples as features, and a usual number of steps is little work:
    the share of Python in a step of `ProximalNewton` would be as much.
    """
    return not sp.issparse(X) and X.shape[0] >= X.shape[1] and equations.TUNING.longest * work_of(X) <= MOST_WORK


def work_of(X: Matrix) -> float:
    """Products of two numbers of one step."""
    n, d = X.shape
    return float(n * d + d**3 / 6)


def solve_together(X: Matrix, problems: Together, tol: float, clock: Clock) -> list[Solved]:
    """The solutions with their certificates; some may miss `tol`. All problems have all rows of X, which has the constant
    feature of a penalised bias last.

    Cost: 10 to 40 steps of two passes over X and d³/6 for each problem; memory O(n + d²).
    """
    from maxmargin._loops.linear.newton_together import newton
    from maxmargin._loops.smo.hinge_gap import look

    n, k, constant = X.shape[0], problems.n, problems.constant
    width = X.shape[1] - (constant > 0.0)
    rows = np.ascontiguousarray(X[:, :width], dtype=np.float64)
    extended = np.column_stack((rows, np.full(n, 1.0 if problems.is_free else constant)))
    Y, costs = problems.y.reshape(k, n), problems.cost.reshape(k, n)
    W, theta, steps, whole = np.zeros((k, width + 1)), np.zeros((k, n)), np.zeros(k, dtype=np.intp), extended
    tuning, is_interrupted = equations.TUNING, False
    most_steps = min(tuning.longest**2, int(SMO.tuning.round_work / work_of(X)))
    spare = int(REFINE.small / (work_of(X) * k))
    kind = 1.0 if problems.is_free else constant, float(not problems.is_free)
    settings = (1.0 - GAP_SHARE) * tol, most_steps, spare, tuning.inexact, tuning.growth, tuning.longest
    scratch = (
        *(np.empty((7, n)), np.empty((3, max(n, 3)), dtype=np.int64), np.empty(n, dtype=np.bool_)),
        *(np.empty((3, width + 1)), np.empty((2, width + 1, width + 1))),
    )
    try:
        for p, cost in enumerate(costs):  # a call a problem, so that Ctrl-C is heard
            if p == 0 or not np.array_equal(cost, costs[p - 1]):
                whole = (cost[:, np.newaxis] * extended).T @ extended
            steps[p] = newton(rows, whole, Y[p], cost, *kind, *settings, *scratch, W[p], theta[p])
    except KeyboardInterrupt:
        is_interrupted = True
    beta, biases = Y * (costs * theta), np.zeros(k)
    if problems.is_free:
        _balance(beta, costs)
    weights, X = (W, extended) if constant else (np.ascontiguousarray(W[:, :width]), rows)
    sums = Sums.of_weights(X, problems, weights, beta @ X)
    for p, f in enumerate(sums.f.reshape(k, n) if problems.is_free else ()):
        biases[p] = look(f - Y[p], Y[p], beta[p], costs[p], True)[0]  # the middle, where several are best
    why = f"{ProximalNewton().name}: {{n}} samples with {width} features"
    return certified(problems, beta.ravel(), biases, sums, True, tol, clock, steps, why, is_interrupted)


def _balance(beta: Floats, costs: Floats) -> None:
    """Let the sample of each problem with the most room take what Newton's steps have left of Σβ."""
    alpha, rows, rest = np.abs(beta), np.arange(len(beta)), beta.sum(axis=1)
    room = np.minimum(alpha, costs - alpha)
    at = room.argmax(axis=1)
    beta[rows, at] -= np.where(np.abs(rest) <= room[rows, at], rest, 0.0)
