"""LinearSVC under Ctrl-C and under a budget of seconds: a certified model comes back, and soon."""

import json
import signal
import subprocess
import sys
import time
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import ConvergenceWarning, LinearSVC, Status, certify

PATIENCE = 120
"""Seconds that a child may take on a busy machine; it takes two or three."""

# -- Ctrl-C ---------------------------------------------------------------------------------------------------------------

CHILD = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is born deaf to it
import numpy as np
from maxmargin import LinearSVC, Status, certify
from maxmargin.solvers import SOLVERS

name, n_classes, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(0)
X, y = rng.standard_normal((20_000, 40)), rng.integers(0, n_classes, 20_000)
LinearSVC(solver=name).fit(X[:300], y[:300])  # compiles

kind, rounds = SOLVERS[name], [0]
step = kind.step

def announced(self, *args):
    progress = step(self, *args)
    rounds[0] += 1
    if rounds[0] == 2 * n_classes:
        print("learning", flush=True)
    return progress._replace(is_final=False, gap=float("inf"))  # nothing is ever good enough

kind.step = announced
model = LinearSVC(C=1e4, tol=1e-14, solver=name, n_jobs=n_classes, max_seconds=seconds)
try:
    model.fit(X, y)
    print(json.dumps({"interrupted": False}))
except KeyboardInterrupt:
    if not hasattr(model, "certificate_"):
        print(json.dumps({"interrupted": True, "model": False}))
        sys.exit()
    several = n_classes > 2
    statuses = model.status_ if several else (model.status_,)
    certificates = model.certificate_ if several else (model.certificate_,)
    print(json.dumps({
        "interrupted": True,
        "model": True,
        "status": any(status is Status.INTERRUPTED for status in statuses),
        "finite": all(np.isfinite(certificate.gap) for certificate in certificates),
        "certified": certify(model, X, y) == model.certificate_,
        "predicts": set(model.predict(X).tolist()) <= set(range(n_classes)),
        "rounds": model.n_iter_ >= 1,
    }))
"""


@pytest.mark.parametrize("solver", ["dual_cd", "proximal_newton"])
@pytest.mark.parametrize(("n_classes", "max_seconds"), [(2, PATIENCE), (3, PATIENCE)])
def test_an_interrupted_fit_leaves_a_certified_model(solver, n_classes, max_seconds):
    """The signal is sent once the child says that its solver is at work; the fit would not end by itself."""
    command = [sys.executable, "-W", "ignore", "-c", CHILD, solver, str(n_classes), str(max_seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "learning\n"
            child.send_signal(signal.SIGINT)
            report = json.loads(child.communicate(timeout=PATIENCE)[0])
        finally:
            child.kill()
    assert report == {
        "interrupted": True,
        "model": True,
        "status": True,
        "finite": True,
        "certified": True,
        "predicts": True,
        "rounds": True,
    }


# -- seconds --------------------------------------------------------------------------------------------------------------


def text(n=300_000, d=50_000, each=30):
    rng = np.random.default_rng(0)
    columns = d // each * np.arange(each) + rng.integers(0, d // each, size=(n, each))
    values = (rng.standard_normal(n * each), columns.ravel().astype(np.int32), each * np.arange(n + 1, dtype=np.int32))
    X = sp.csr_array(values, shape=(n, d))
    return X, X @ rng.standard_normal(d) + 2 * rng.standard_normal(n) > 0


@cache
def table(n=400_000, d=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + rng.standard_normal(n) > 0


def seconds_over(X, y, seconds, **settings):
    """How much longer than allowed a fit takes that cannot be finished in time; the loops are compiled before."""
    LinearSVC(**settings).fit(X[:300], y[:300])
    model = LinearSVC(C=1000.0, tol=1e-12, max_seconds=seconds, **settings)
    start = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model.fit(X, y)
    over = time.perf_counter() - start - seconds
    statuses = model.status_ if isinstance(model.status_, tuple) else (model.status_,)
    assert Status.TIME_BUDGET in statuses
    assert certify(model, X, y) == model.certificate_
    return over


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "solver"),
    [(text, "dual_cd"), (text, "proximal_newton"), (table, "dual_cd"), (table, "proximal_newton")],
)
def test_a_large_fit_ends_within_a_second_of_its_budget(make, solver):
    X, y = make()
    # more than one try, as another process may have had the processor
    assert any(seconds_over(X, y, 0.5, solver=solver) < 1.0 for _ in range(4))


def test_the_seconds_are_those_of_the_fit_and_not_of_each_class():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200_000, 60)), rng.integers(0, 4, 200_000)
    assert seconds_over(X, y, 0.5, solver="dual_cd", n_jobs=1) < 1.0
