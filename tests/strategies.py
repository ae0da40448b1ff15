"""Hypothesis draws whole problems, in every form that the library takes, with the costs that suit their scale.

A problem is *well-scaled* when cost · mean k(x, x) lies between 1e-3 and 1e3, whatever the scale of the data.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from maxmargin.core import L2, Bias, Problem, losses
from maxmargin.kernels import RBF, Custom, FeatureMap, Linear, Polynomial, Precomputed, interactions

KERNELS = ("linear", "poly", "rbf", "precomputed", "custom", "feature map")
LOSSES = tuple(loss for loss in losses.LOSSES.values() if loss.has_quadratic_dual)
BIASES = ("free", "none", "penalized")
MARGIN = L2()
SCALES = (1e-6, 1e-3, 1.0, 1e3, 1e6)


def examples(count):
    """So many examples; the profile in `conftest.py` says whether they are the same in every run."""
    checks = [HealthCheck.filter_too_much, HealthCheck.too_slow]
    return settings(deadline=None, max_examples=count, suppress_health_check=checks)


def powers(X, Z):
    """⟨u, v⟩ + ⟨u, v⟩² of all pairs: a kernel of the user's own, positive semi-definite."""
    G = X @ Z.T
    G = G.toarray() if sp.issparse(G) else G
    return G + G * G


def stacked(X):
    """Φ(x) = (x, all products x_i x_j)."""
    products = interactions(X)
    return sp.hstack([X, products], format="csr") if sp.issparse(X) else np.hstack([X, products])


@st.composite
def generators(draw):
    """A random generator; numbers that need not be shrunk come from it."""
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


@st.composite
def problems(draw, kernels=KERNELS, biases=BIASES, losses=LOSSES, max_n=14, scales=SCALES, penalty=MARGIN):
    """A soft-margin problem, well-scaled: any data, any labels, duplicates of rows with equal and with opposite labels."""
    rng = draw(generators())
    n, d = draw(st.integers(2, max_n)), draw(st.integers(1, 6))
    scale = draw(st.sampled_from(scales))
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.5, 1.0])))
    X += draw(st.sampled_from([0.0, 0.0, 3.0]))
    y = _labels(rng, n)
    if draw(st.booleans()):
        copies = rng.integers(0, n, size=n // 3)
        X[rng.permutation(n)[: len(copies)]] = X[copies]
    problem = _with_kernel(draw, rng, X * scale, y, draw(st.sampled_from(kernels)), scale)
    bias = _bias(draw, draw(st.sampled_from(biases)), problem)
    # L1: a weight of 1/|x| costs 1/|x|, not half its square
    unit = typical(problem) if isinstance(penalty, L2) else typical(problem) ** 0.5
    cost = 10.0 ** draw(st.floats(-3.0, 3.0)) / unit
    weights = _weights(rng, y) if draw(st.booleans()) else np.ones(n)
    return replace(problem, loss=draw(st.sampled_from(losses)), penalty=penalty, bias=bias, cost=weights * cost)


@st.composite
def separable_problems(draw, kernels=("linear", "rbf"), biases=BIASES, max_n=14, scales=SCALES, min_n=2):
    """A hard-margin problem that has a solution, with a margin that is not lost in the data's size."""
    rng = draw(generators())
    n, d = draw(st.integers(min_n, max_n)), draw(st.integers(1, 5))
    scale = draw(st.sampled_from(scales))
    kernel, bias = draw(st.sampled_from(kernels)), draw(st.sampled_from(biases))
    X, y = rng.standard_normal((n, d)), _labels(rng, n)
    # pushed apart along a direction; the offset of the plane is one that the bias can have
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    offset = 0.0 if bias == "none" else draw(st.sampled_from([0.0, 1.0]))
    X -= np.outer(X @ direction, direction)
    X += np.outer(y * (0.2 + rng.random(n)) + offset, direction)
    if n > 3 and draw(st.booleans()):
        twin = int(np.flatnonzero(y == y[0])[-1])
        X[twin] = X[0]
    problem = _with_kernel(draw, rng, X * scale, y, kernel, scale)
    weights = _weights(rng, y) if draw(st.booleans()) else np.ones(n)
    return replace(problem, bias=_bias(draw, bias, problem), cost=np.where(weights > 0, np.inf, 0.0))


@st.composite
def duals(draw, problem):
    """A random β in the box, balanced where the bias is free."""
    rng = draw(generators())
    top = np.where(np.isfinite(problem.cost), problem.cost, 1.0 / typical(problem))
    alpha = top * rng.random(problem.n) * (rng.random(problem.n) < 0.7)
    alpha[problem.cost == 0] = 0.0
    if problem.bias.is_free:
        plus, minus = alpha[problem.y > 0].sum(), alpha[problem.y < 0].sum()
        if min(plus, minus) == 0:
            return np.zeros(problem.n)
        alpha[problem.y > 0] *= min(plus, minus) / plus
        alpha[problem.y < 0] *= min(plus, minus) / minus
    return alpha * problem.y


@st.composite
def weights_and_bias(draw, problem):
    """A random (w, b), of a size at which losses and norms are comparable."""
    rng = draw(generators())
    unit = typical(problem) ** (0.5 if problem.is_linear else 1.0)
    w = rng.standard_normal(problem.zero().shape) / unit
    b = 0.0 if problem.bias.kind == "none" else float(rng.standard_normal())
    return w * 10.0 ** draw(st.integers(-2, 1)), b


def typical(problem):
    """The mean of k(x, x), 1 where all of them vanish."""
    return float(np.mean(problem.diag())) or 1.0


def _labels(rng, n):
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[rng.permutation(n)[:2]] = 1.0, -1.0
    return y


def _weights(rng, y):
    """Whole and broken weights, some of them zero, not all of a class."""
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.0], size=len(y))
    for label in (-1.0, 1.0):
        if not weights[y == label].any():
            weights[np.flatnonzero(y == label)[0]] = 1.0
    return weights


def _bias(draw, kind, problem):
    """The constant feature of a penalised bias is about as long as the others."""
    if kind != "penalized":
        return Bias(kind)
    return Bias.penalized(typical(problem) ** 0.5 * draw(st.sampled_from([0.5, 1.0, 2.0])))


def _with_kernel(draw, rng, X, y, name, scale):
    """The problem with unit costs; X float32 or float64, dense or CSR, perhaps a choice of rows of a larger matrix."""
    n, d = X.shape
    rows = None
    if draw(st.booleans()):
        rows = rng.permutation(n + 3)[:n]
        larger = np.full((n + 3, d), 7.0 * scale)
        larger[rows] = X
        X = larger
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    if name == "precomputed":
        # whole numbers times a power of two: the matrix is exact, and positive semi-definite, in float32 too
        A = np.round(4.0 * dense_of(X, scale)).astype(X.dtype)
        X = (A @ A.T) * X.dtype.type(2.0 ** np.round(np.log2(scale)))
    kernel = {
        "linear": Linear(),
        "poly": Polynomial(draw(st.integers(1, 3)), gamma=1.0 / (d * scale**2), coef0=draw(st.sampled_from([0.0, 1.0]))),
        "rbf": RBF(gamma=draw(st.sampled_from([0.1, 1.0])) / scale**2),
        "precomputed": Precomputed(),
        "custom": Custom(powers),
        "feature map": FeatureMap(stacked),
    }[name]
    if draw(st.booleans()):
        X = sp.csr_array(X)
    return Problem(X, y, np.ones(n), kernel=kernel, rows=rows)


def dense_of(X, scale):
    return np.clip(np.asarray(X, dtype=np.float64) / scale, -7.0, 7.0)
