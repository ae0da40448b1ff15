"""Certificates of RBF machines on thousands of samples, judged in extended precision with its own rounding charged.

u is the unit roundoff of numpy's longdouble (2^-64 on x86). The exponent γ‖x − z‖², from differences of the rows as given, errs
by at most (d + 4)u of itself, exp by 16u (its documented error is below 2), and t·e^-t < 0.37, so each value errs by
(d + 20)u. Sums run over pieces of 128 products, then over the pieces: (128 + s/128)u. What is charged is the sum of these times
Σ|β|, rounded upwards; a reported violation is real.
"""

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from tests.campaign.oracles import dense

EXTENDED = np.longdouble
UNIT = float(np.finfo(EXTENDED).eps)
"""Twice the unit roundoff: the factor 2 covers products of (1 + u)."""

PIECE = 128
"""Products that are summed at a time."""

BLOCK_BYTES = 32 * 2**20
"""Bytes of one block of kernel values."""

OTHER_SAMPLES = 3000
"""Samples up to which LIBSVM is asked for a rival."""


class Estimate(NamedTuple):
    """A number and the bound of its error."""

    value: float
    error: float

    @property
    def low(self) -> Fraction:
        """A lower bound."""
        return Fraction(self.value) - Fraction(self.error)

    @property
    def high(self) -> Fraction:
        """An upper bound."""
        return Fraction(self.value) + Fraction(self.error)


def scores(X: Any, gamma: float, vectors: Any) -> tuple[Any, Any]:
    """(K V, bound of the error of each column) for the columns of V, K = exp(−γ‖x_i − x_j‖²)."""
    rows = dense(X).astype(EXTENDED)
    used = np.flatnonzero(np.any(vectors != 0, axis=1))
    centres, V = rows[used], np.asarray(vectors[used], dtype=EXTENDED)
    out = np.zeros((len(rows), V.shape[1]), dtype=EXTENDED)
    step = max(1, BLOCK_BYTES // (16 * max(len(used), 1)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        K = np.zeros((len(block), len(used)), dtype=EXTENDED)
        for k in range(rows.shape[1]):
            apart = block[:, k, None] - centres[:, k]
            apart *= apart
            K += apart
        K *= EXTENDED(-gamma)
        np.exp(K, out=K)
        for a in range(0, len(used), PIECE):
            out[start : start + step] += K[:, a : a + PIECE] @ V[a : a + PIECE]
    size = np.abs(np.asarray(vectors[used], dtype=np.float64)).sum(axis=0)
    return out, (rows.shape[1] + 24 + PIECE + len(used) / PIECE) * UNIT * size


def primal(y: Any, cost: Any, w: Any, f: Any, error: float, b: float) -> Estimate:
    """P = ½wᵀf + Σ c [1 − y(f + b)]₊, given f = Kw."""
    z = 1 - y * (f + EXTENDED(b))
    slack = cost * np.maximum(z, 0)
    square, loss = (w.astype(EXTENDED) * f).sum() / 2, slack.sum()
    terms = float(np.abs(w * f).sum() + slack.sum())
    rounding = UNIT * (4 * float((cost * (1 + np.abs(f) + abs(b))).sum()) + len(y) * terms)
    value = float(square + loss)
    spread = error * float(np.abs(w).sum() + cost.sum())
    return Estimate(value, (spread + rounding + 2.0**-52 * abs(value)) * (1 + 1e-9))


def dual(y: Any, cost: Any, beta: Any, f: Any, error: float) -> Estimate:
    """D of β clipped into the box and balanced on one sample with room, given f = Kβ of the stored β."""
    alpha = np.clip(beta * y, 0.0, cost)
    rest = float((alpha * y).astype(EXTENDED).sum())
    room = np.where(y * rest > 0, alpha, cost - alpha)
    k = int(np.argmax(room))
    value = alpha.astype(EXTENDED).sum() - (beta.astype(EXTENDED) * f).sum() / 2
    # moving `rest` away at k changes Σα by −rest·y_k and ½βᵀKβ by −rest·f_k + ½rest²
    value += -rest * y[k] + EXTENDED(rest) * f[k] - EXTENDED(rest) ** 2 / 2
    size = float(np.abs(beta).sum())
    rounding = UNIT * len(y) * (size + float(np.abs(beta * f).sum())) + 2.0**-52 * (abs(float(value)) + abs(rest) * 4)
    return Estimate(float(value), (error * size + rounding) * (1 + 1e-9))


def best_bias(y: Any, cost: Any, f: Any) -> float:
    """A minimiser of Σ c [1 − y(f + b)]₊, in doubles."""
    kinks = np.asarray(y - f, dtype=np.float64)
    order = np.argsort(kinks)
    slope = np.cumsum(cost[order]) - cost[y > 0].sum()
    return float(kinks[order[min(int(np.searchsorted(slope, 0.0)), len(order) - 1)]])


class Named(NamedTuple):
    """A rival's name and its value."""

    name: str
    value: Estimate


class Judged(NamedTuple):
    """P and D of a stored machine, and points that it can be compared with."""

    primal: Estimate
    dual: Estimate
    rivals: list[Named]


def judged(X: Any, y: Any, cost: Any, gamma: float, beta: Any, b: float) -> Judged:
    """Evaluate a stored RBF machine with the hinge and a free bias."""
    other = _other(X, y, cost, gamma)
    vectors = beta[:, None] if other is None else np.stack([beta, other], axis=1)
    f, errors = scores(X, gamma, vectors)
    own = primal(y, cost, beta, f[:, 0], float(errors[0]), b)
    rivals = []
    for factor in (1.0, 0.0, 0.5, 0.9, 0.99, 1.01, 1.1):
        w, g = factor * beta, EXTENDED(factor) * f[:, 0]
        # factor · β rounds; the scores are those of the exact product, and w enters through its norm only
        error = float(errors[0]) * factor + 2.0**-52 * factor * float(np.abs(beta).sum())
        rivals.append(Named(f"{factor:g} · w with the best b", primal(y, cost, w, g, error, best_bias(y, cost, g))))
    if other is not None:
        value = primal(y, cost, other, f[:, 1], float(errors[1]), best_bias(y, cost, f[:, 1]))
        rivals.append(Named("LIBSVM", value))
    return Judged(own, dual(y, cost, beta, f[:, 0], float(errors[0])), rivals)


def _other(X: Any, y: Any, cost: Any, gamma: float) -> Any:
    """β by LIBSVM, on kernel values from differences of the rows, or None where there are too many."""
    if len(y) > OTHER_SAMPLES:
        return None
    rows = dense(X)
    K = np.exp(-gamma * cdist(rows, rows, "sqeuclidean"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = svm.SVC(C=float(cost[0]), kernel="precomputed", tol=1e-4, max_iter=30_000, cache_size=500).fit(K, y)
    beta = np.zeros(len(y))
    beta[machine.support_] = machine.dual_coef_[0]
    return beta
