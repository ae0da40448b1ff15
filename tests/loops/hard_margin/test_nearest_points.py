"""The compiled loops of the nearest points: the same source as plain Python, one compilation, and factors that stay factors."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from maxmargin._loops.hard_margin.nearest_points import append, minimum, remove
from maxmargin._loops.jit import loop
from maxmargin.core import Bias, Problem
from maxmargin.kernels import RBF
from maxmargin.solvers import ConstraintGeneration, solve
from tests.problems import signs

SOLVE = """
import json, sys
import numpy as np
from maxmargin._loops.hard_margin import nearest_points
from tests.loops.hard_margin.test_nearest_points import answers
json.dump({"compiled": hasattr(nearest_points.exchange, "signatures"), "answers": answers()}, sys.stdout)
"""

COUNT = """
import json, sys
import numpy as np
import scipy.sparse as sp
from maxmargin import HardMarginSVC
from maxmargin._loops.hard_margin import nearest_points
rng = np.random.default_rng(0)
y = np.where(np.arange(400) % 2, 1, 0)
X = rng.standard_normal((400, 4)) + 6.0 * y[:, None]
HardMarginSVC().fit(X, y)
HardMarginSVC(kernel="rbf").fit(X, y)
HardMarginSVC(fit_intercept=False).fit(X - X.mean(axis=0), y)
HardMarginSVC().fit(X.astype(np.float32), y)
HardMarginSVC().fit(np.asfortranarray(X), y)
HardMarginSVC().fit(sp.csr_array(X), y)
HardMarginSVC(solver="constraint_generation").fit(X[:20], y[:20])
loops = ("exchange", "append", "remove", "minimum", "shared_values")
json.dump({name: len(getattr(nearest_points, name).signatures) for name in loops}, sys.stdout)
"""


def answers():
    """Small hard margins of every kind, by the active set."""
    rng = np.random.default_rng(4)
    y = signs("+-" * 15)
    X = rng.standard_normal((30, 3)) + 2.5 * y[:, None]
    out = []
    for bias in (Bias.free(), Bias.none(), Bias.penalized(2.0)):
        for kernel in (None, RBF(gamma=0.3)):
            p = Problem(X, y, np.full(30, np.inf), bias=bias)
            p = p if kernel is None else Problem(X, y, np.full(30, np.inf), bias=bias, kernel=kernel)
            solution = solve(p, ConstraintGeneration(), tol=1e-10)
            out.append([*solution.beta.tolist(), solution.b])
    return out


def in_another_process(script, **environment):
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in (os.getcwd(), os.environ.get("PYTHONPATH")) if p)}
        | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_loops_run_as_plain_python_with_the_same_answers():
    plain = in_another_process(SOLVE, MAXMARGIN_JIT="0")
    assert not plain["compiled"]
    for ours, theirs in zip(answers(), plain["answers"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def test_typical_fits_compile_each_loop_once():
    counts = in_another_process(COUNT)
    assert counts["exchange"] == counts["append"] == 1
    # what only other loops call counts where it is compiled, not where it comes from the cache
    assert set(counts.values()) <= {0, 1}


def test_the_decorator_keeps_the_function_without_a_compiler(monkeypatch):
    def double(x):
        return 2 * x

    monkeypatch.setenv("MAXMARGIN_JIT", "0")
    assert loop(double) is double
    monkeypatch.setenv("MAXMARGIN_JIT", "1")
    assert loop(double) is not double
    assert loop(double)(21) == 42


# -- the factor ---------------------------------------------------------------------------------------------------------


def factor(V, group, n_groups, rho, rows):
    """L, B, members and size after taking the rows in."""
    n, d = V.shape
    members, size = np.zeros(n, dtype=np.int64), np.zeros(1, dtype=np.int64)
    L, B = np.zeros((n, n)), np.zeros((n, d + n_groups))
    taken = [bool(append(V, group, rho, members, size, L, B, np.int64(j))) for j in rows]
    return taken, members, size, L, B


def is_a_factor(V, group, rho, members, size, L, B):
    """L is triangular, B orthonormal, and L B the members' rows with √ρ in the column of their group."""
    s, d = int(size[0]), V.shape[1]
    rows = np.zeros((s, B.shape[1]))
    for k in range(s):
        rows[k, :d] = V[members[k]]
        rows[k, d + group[members[k]]] = np.sqrt(rho)
    L, B = np.tril(L[:s, :s]), B[:s]
    np.testing.assert_allclose(B @ B.T, np.eye(s), atol=1e-12)
    np.testing.assert_allclose(L @ B, rows, atol=1e-12 * np.abs(rows).max())


@pytest.mark.parametrize("n_groups", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_rows_that_enter_and_leave_keep_the_factor(n_groups, seed):
    rng = np.random.default_rng(seed)
    V, group = rng.standard_normal((7, 8)), np.arange(7) % n_groups
    taken, *parts = factor(V, group, n_groups, 0.5, range(7))
    assert all(taken)
    is_a_factor(V, group, 0.5, *parts)
    members, size, L, B = parts
    left = list(range(7))
    for place in (3, 0, 4, 1):
        remove(L, B, members, size, np.int64(place))
        del left[place]
        assert members[: size[0]].tolist() == left
        is_a_factor(V, group, 0.5, *parts)
    assert append(V, group, 0.5, members, size, L, B, np.int64(3))
    is_a_factor(V, group, 0.5, *parts)


def test_rows_that_nearly_depend_on_each_other_keep_the_factor_orthonormal():
    # one pass of Gram–Schmidt leaves products of about ε/distance = 1e-9 here, two leave ε
    rng = np.random.default_rng(0)
    V = np.ones((5, 6)) + 1e-7 * rng.standard_normal((5, 6))
    group = np.zeros(5, dtype=np.int64)
    taken, *parts = factor(V, group, 1, 0.5, range(5))
    assert all(taken)
    is_a_factor(V, group, 0.5, *parts)


def test_a_row_that_depends_on_the_members_does_not_enter():
    V = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.5, -2.0]])
    taken, _, size, _, _ = factor(V, np.zeros(4, dtype=np.int64), 1, 1.0, [0, 1, 2, 3])
    assert taken == [True, True, False, True]
    assert size[0] == 3


@pytest.mark.parametrize("n_groups", [1, 2])
def test_the_minimum_on_the_members_is_that_of_the_affine_hulls(n_groups):
    rng = np.random.default_rng(n_groups)
    V, group = rng.standard_normal((5, 6)), np.arange(5) % n_groups
    _, members, size, L, B = factor(V, group, n_groups, 2.0, range(5))
    target, u = np.zeros(5), np.zeros(6)
    assert minimum(L, B, group, members, size[0], n_groups, 6, np.zeros((n_groups, 5)), target, u)
    np.testing.assert_allclose(target @ V, u, atol=1e-12)
    E = np.array([[float(group[j] == g) for j in range(5)] for g in range(n_groups)])
    np.testing.assert_allclose(E @ target, 1.0, atol=1e-12)
    # the gradient V u is constant on each group
    for g in range(n_groups):
        assert np.ptp((V @ u)[group == g]) <= 1e-12


def test_a_group_without_a_member_has_no_minimum():
    V = np.eye(3)
    _, members, size, L, B = factor(V, np.array([0, 0, 1]), 2, 1.0, [0, 1])
    assert not minimum(L, B, np.array([0, 0, 1]), members, size[0], 2, 3, np.zeros((2, 3)), np.zeros(3), np.zeros(3))
