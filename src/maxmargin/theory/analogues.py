"""Neighbours of the soft margin: the same data and penalties with another loss, and the machine whose parameter is a share.

    ridge        min Σ(1 − z)² + λ‖w‖²              z = y(⟨w, x⟩ + b), so that (1 − z)² = (y − ⟨w, x⟩ − b)²
    logistic     min Σ ln(1 + e^−z) + λ‖w‖²         or λ‖w‖₁
    ν-machine    min ½‖w‖² − ρ + (1/νn)Σξ           s.t. z ≥ ρ − ξ, ξ ≥ 0

They are here as remarks that run; they carry no certificate.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from maxmargin.core import Halfspace, Problem
from maxmargin.errors import InvalidInputError
from maxmargin.losses import Logistic
from maxmargin.solvers import solve
from maxmargin.theory.samples import rows_and_signs
from maxmargin.typing import Floats


def ridge(X: Any, y: Any, lam: float) -> Halfspace:
    """Minimise Σ(1 − y(⟨w, x⟩ + b))² + λ‖w‖²: ridge regression on the labels ±1, with a free bias. O(nd² + d³).

    Parameters
    ----------
    X, y
        Samples and labels ±1.
    lam : float
        λ > 0.

    Examples
    --------
    >>> from maxmargin import theory
    >>> theory.ridge([[-1.0], [1.0]], [-1, 1], lam=2.0)
    Halfspace(w=[0.5], b=0.0)
    """
    X, y = rows_and_signs(X, y)
    _check_lambda(lam)
    mean, middle = X.mean(axis=0), float(y.mean())
    centred = X - mean
    w = np.linalg.solve(centred.T @ centred + lam * np.eye(X.shape[1]), centred.T @ (y - middle))
    return Halfspace(w, middle - float(mean @ w))


def logistic(X: Any, y: Any, lam: float, penalty: str = "l2") -> Halfspace:
    """Minimise Σ ln(1 + e^−z) + λ‖w‖² (or λ‖w‖₁), with a free bias: logistic regression, by L-BFGS to about six digits.

    With "l1" w is split into two parts ≥ 0, so that weights are exactly 0, as in the sparse machine.

    Parameters
    ----------
    X, y
        Samples and labels ±1, of both signs.
    lam : float
        λ > 0.
    penalty : {"l2", "l1"}
        ‖w‖² or ‖w‖₁.

    Examples
    --------
    >>> from maxmargin import theory
    >>> X = [[-2.0, 0.1], [-1.0, -0.2], [0.5, 0.1], [-0.5, 0.0], [1.0, -0.1], [2.0, 0.2]]
    >>> theory.logistic(X, [-1, -1, -1, 1, 1, 1], lam=0.5, penalty="l1").w[1:].tolist()
    [0.0]
    """
    X, y = rows_and_signs(X, y)
    _check_lambda(lam)
    if penalty not in ("l2", "l1"):
        raise InvalidInputError(f'penalty must be "l2" or "l1", got {penalty!r}.')
    if len(np.unique(y)) < 2:
        raise InvalidInputError("Samples of two classes are needed: with one the bias has no end.")
    d, loss = X.shape[1], Logistic()

    def objective(v: Floats) -> tuple[float, Floats]:
        w = v[:d] if penalty == "l2" else v[:d] - v[d : 2 * d]
        z = y * (X @ w + v[-1])
        slope = loss.subgradient(z) * y
        pull, bias = slope @ X, slope.sum()
        total = float(loss.value(z).sum())
        if penalty == "l2":
            return total + lam * float(w @ w), np.append(pull + 2.0 * lam * w, bias)
        return total + lam * float(v[:-1].sum()), np.concatenate([pull + lam, lam - pull, [bias]])

    size = d if penalty == "l2" else 2 * d
    ends = [(None, None) if penalty == "l2" else (0.0, None)] * size + [(None, None)]
    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9}
    v = minimize(objective, np.zeros(size + 1), jac=True, method="L-BFGS-B", bounds=ends, options=options).x
    return Halfspace(v[:d] if penalty == "l2" else v[:d] - v[d : 2 * d], float(v[-1]))


@dataclass(frozen=True, eq=False)
class NuMargin:
    """A ν-machine, and the soft margin that it equals.

    Attributes
    ----------
    halfspace : Halfspace
        Its hyperplane, scaled to the margin 1.
    rho : float
        ρ > 0, the margin before scaling.
    cost : float
        C = 1/(ρνn): the soft margin with this cost has the same hyperplane.
    errors, support : float
        The share of samples with z < 1, which is at most ν, and of those with α > 0, which is at least ν.
    """

    halfspace: Halfspace
    rho: float
    cost: float
    errors: float
    support: float


def nu_margin(X: Any, y: Any, nu: float, tol: float = 1e-8) -> NuMargin:
    """Train the ν-machine of Schölkopf et al. (2000), whose ν is a share of samples, and name the C that it equals.

    ν is an upper bound of the share of margin errors, and a lower bound of the share of support vectors.

    Parameters
    ----------
    X, y
        Samples and labels ±1.
    nu : float
        In (0, 1], and at most 2·min(n₊, n₋)/n.
    tol : float
        The relative gap.

    Examples
    --------
    >>> from maxmargin import theory
    >>> X, y = [[-2.0], [-1.0], [-0.5], [0.5], [1.0], [-0.7]], [-1, -1, -1, 1, 1, 1]
    >>> found = theory.nu_margin(X, y, nu=0.5)
    >>> found.errors <= 0.5 <= found.support
    True
    """
    X, y = rows_and_signs(X, y)
    n = len(y)
    most = 2.0 * min(int((y > 0).sum()), int((y < 0).sum())) / n
    if not 0 < nu <= most:
        raise InvalidInputError(f"nu = {nu!r} where a number in (0, {most:.6g}] is wanted: 2·min(n₊, n₋)/n on these labels.")
    groups, totals, cost = (y < 0).astype(np.intp), np.array([0.5, -0.5]), np.full(n, 1.0 / (nu * n))
    found = solve(Problem(X, y, cost, target=np.zeros(n), groups=groups, totals=totals), tol=tol)
    rho = 0.5 * float(found.b[1] - found.b[0])  # the biases of the groups are b − ρ and b + ρ
    if not rho > np.sqrt(tol) * np.abs(X).max():
        raise InvalidInputError(
            f"With nu = {nu!r} the margin ρ is 0: fewer samples may fail than the classes overlap. Use a larger ν."
        )
    plane = Halfspace(found.w / rho, 0.5 * float(found.b[0] + found.b[1]) / rho)
    alpha = np.abs(found.beta)
    errors = float(np.mean(plane.fits(X, y) < 1.0 - 10.0 * np.sqrt(tol)))
    return NuMargin(plane, rho, 1.0 / (rho * nu * n), errors, float(np.mean(alpha > 0)))


def _check_lambda(lam: float) -> None:
    if not 0 < lam < np.inf:
        raise InvalidInputError(f"lam = {lam!r} where a finite number > 0 is wanted.")
