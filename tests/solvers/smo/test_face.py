"""Steps on the face of the box for kernels, and the square that they work in."""

from dataclasses import replace

import numpy as np
import pytest

from maxmargin.core import Bias, Hinge, Problem, SquaredHinge, Status, certify
from maxmargin.core.workspace import Workspace
from maxmargin.kernels import RBF, Polynomial
from maxmargin.kernels.tiles import TILE_ROWS as TILE
from maxmargin.solvers import SMO, Budget, InteriorPoint, auto, solve
from maxmargin.solvers.base import Clock
from maxmargin.solvers.smo import face as kernel_face
from maxmargin.solvers.smo.face import SharedSquare
from maxmargin.solvers.smo.state import SMOTuning, estimate

BIASES = [Bias.free(), Bias.none(), Bias.penalized(2.0)]


def noise(n=400, d=4, cost=100.0, seed=0, **others):
    """Labels that X says little about: with a large cost most support vectors are free."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 2.0 * rng.standard_normal(n) > 0, 1.0, -1.0)
    others = {"kernel": RBF(gamma=0.5), "loss": Hinge()} | others
    return Problem(X, y, np.full(n, cost), **others)


@pytest.fixture
def many_faces(monkeypatch):
    """Small working sets that are soon called slow, and steps on faces of a few samples."""
    monkeypatch.setattr(SMO, "tuning", SMOTuning(whole=128, few=64, size=64, slow_rounds=2))


@pytest.fixture
def steps(monkeypatch):
    """How much each step on a face has raised the dual."""
    gains, along = [], kernel_face.along_the_face

    def counted(state, n_threads):
        before = state.dual
        yield from along(state, n_threads)
        gains.append(state.dual - before)

    monkeypatch.setattr(kernel_face, "along_the_face", counted)
    return gains


def gram(n, dtype, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 5))
    return np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 65, TILE, TILE + 1, 2 * TILE + 77])
def test_a_square_holds_a_matrix_and_its_factor(n, dtype):
    K, rng = gram(n, dtype), np.random.default_rng(1)
    exact, v = K.astype(np.float64), rng.standard_normal(n)
    square = SharedSquare(K, 2)
    assert square.times(v) == pytest.approx(exact @ v, abs=1e-9)
    assert square.solve(v) == pytest.approx(v / exact.diagonal())
    assert len(list(square.factor())) == -(-n // TILE)
    assert square.is_factored
    assert square.times(v) == pytest.approx(exact @ v, abs=1e-9)
    again = exact @ (x := square.solve(v)) + square.ridge * x
    assert again == pytest.approx(v, abs=0.1 if dtype == np.float32 else 1e-3), "good enough to precondition"


def test_the_bits_of_a_square_do_not_depend_on_the_threads():
    v, found = np.random.default_rng(2).standard_normal(1400), []
    for n_threads in (1, 2, 3):
        square = SharedSquare(gram(1400, np.float32), n_threads)
        list(square.factor())
        found.append(np.concatenate((square.times(v), square.solve(v))))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_a_matrix_that_is_not_positive_has_no_factor():
    K = gram(700, np.float64)
    K[600, 600] = -1.0
    square = SharedSquare(K, 1)
    list(square.factor())
    assert not square.is_factored
    assert np.isfinite(square.solve(np.ones(700))).all()


@pytest.mark.parametrize("is_near", [False, True])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared"])
@pytest.mark.parametrize("bias", BIASES, ids=lambda bias: bias.kind)
def test_a_step_raises_the_dual_and_keeps_the_constraints(many_faces, bias, loss, is_near, monkeypatch):
    monkeypatch.setattr(SMO, "tuning", replace(SMO.tuning, factor_below=2.0 if is_near else 0.0))
    p = noise(bias=bias, loss=loss)
    solver, clock = SMO(), Clock(Budget())
    state = solver.init(p, Workspace(p, 2**28), None)
    for _ in range(3):
        solver.step(state, 1e-9, clock)
    before = state.dual
    list(kernel_face.along_the_face(state, 1))
    active = state.active
    assert state.dual > before
    assert (active.beta >= active.lo).all()
    assert (active.beta <= active.hi).all()
    if bias.is_free:
        assert abs(active.beta.sum()) <= 1e-9 * np.abs(active.beta).sum()
    K = p.kernel.block(p.X, p.X) + bias.scale**2 + np.diag(active.delta)
    assert active.g == pytest.approx(K @ active.beta - p.y, abs=1e-3)
    assert state.dual == pytest.approx(active.beta @ p.y - 0.5 * active.beta @ K @ active.beta, rel=2e-5)


@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.5), Polynomial(degree=3, gamma=0.2, coef0=1.0)])
@pytest.mark.parametrize("bias", BIASES, ids=lambda bias: bias.kind)
def test_faces_lead_to_the_optimum(many_faces, steps, bias, kernel, tol):
    p = noise(bias=bias, kernel=kernel)
    solution = solve(p, SMO(), tol=tol)
    assert solution.status is Status.SOLVED
    assert certify(p, solution).relative_gap <= tol
    assert steps or not bias.is_free, "no step on a face was made"
    reference = solve(p, InteriorPoint(), tol=1e-9).certificate
    assert solution.certificate.primal == pytest.approx(reference.primal, rel=2 * tol)


def test_faces_need_fewer_rounds_where_pairs_crawl(steps, monkeypatch):
    p = noise(n=3000, d=8, cost=1000.0, kernel=RBF(gamma=0.05))
    tuning = SMOTuning(whole=512)
    monkeypatch.setattr(SMO, "tuning", tuning)
    with_faces = solve(p, SMO(n_threads=2), tol=1e-4)
    assert with_faces.status is Status.SOLVED
    assert max(steps) > 0.0
    monkeypatch.setattr(SMO, "tuning", replace(tuning, face_below=0.0))
    monkeypatch.setattr(auto, "offers", lambda problem, present: [])
    without = solve(p, SMO(n_threads=2), tol=1e-4, budget=Budget(iterations=3 * with_faces.n_iter // 2))
    assert without.certificate.relative_gap > 1e-4


def test_a_step_that_loses_is_taken_back(many_faces, monkeypatch):
    p = noise()
    solver, clock = SMO(), Clock(Budget())
    state = solver.init(p, Workspace(p, 2**28), None)
    for _ in range(3):
        solver.step(state, 1e-9, clock)
    estimate(state)

    def astray(self):
        self.beta = np.clip(self.beta - 50.0, self.lo, self.hi)
        yield

    monkeypatch.setattr(kernel_face.Face, "turns", astray)
    before = state.active.beta.copy(), state.active.g.copy(), state.dual
    list(kernel_face.along_the_face(state, 1))
    assert (state.active.beta == before[0]).all()
    assert (state.active.g == before[1]).all()
    assert state.dual == before[2]


def test_faces_that_do_not_fit_the_memory_are_left_alone(many_faces, steps):
    p = noise()
    assert solve(p, SMO(), tol=1e-3, budget=Budget(bytes=2**14)).status is Status.SOLVED
    assert not steps
