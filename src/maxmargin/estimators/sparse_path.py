"""The L1 penalty over a range of C: where the first feature enters, and in which order the others do."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.analysis.critical_cost import critical_cost
from maxmargin.core import Candidate, Certificate, Problem
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_choice, check_tol
from maxmargin.estimators.linear import LinearSVC
from maxmargin.solvers import solve
from maxmargin.typing import Floats, Indices

SPAN = 100.0
"""By default a path goes from the critical C to this many times as much."""


@dataclass(frozen=True)
class L1Path:
    """The models of a path, from the smallest C to the largest.

    Attributes
    ----------
    Cs : array (k,)
    coef : array (k, d)
    intercept : array (k,)
    certificates : tuple of Certificate
        The proof of each.
    entered_at : array (d,)
        The smallest C of the path at which a feature has a weight; ∞ if it has none anywhere.

    Examples
    --------
    >>> from maxmargin import l1_path
    >>> path = l1_path([[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], [0, 0, 1, 1], Cs=[0.2, 10.0])
    >>> path.entered_at
    array([10., 10.])
    """

    Cs: Floats
    coef: Floats
    intercept: Floats
    certificates: tuple[Certificate, ...]
    entered_at: Floats

    @property
    def entry_order(self) -> Indices:
        """The features with a weight, in the order in which they enter; of those at the same C the larger weight first."""
        at = np.searchsorted(self.Cs, self.entered_at)
        entered = np.flatnonzero(at < len(self.Cs))
        size = np.abs(self.coef[at[entered], entered])
        return entered[np.lexsort((-size, at[entered]))]

    @property
    def n_features(self) -> Indices:
        """How many features have a weight, at each C."""
        return np.asarray(np.count_nonzero(self.coef, axis=1))


def l1_min_c(
    X: Any,
    y: Any,
    *,
    loss: str = "hinge",
    fit_intercept: bool = True,
    intercept_scaling: float | None = None,
    class_weight: Any = None,
    sample_weight: Any = None,
) -> float:
    """The largest C at which ``LinearSVC(penalty="l1")`` keeps every weight at zero; above it some feature enters.

    Without a bias, or with classes of equal weight, it is 1/‖Σ s_j y_j x_j‖_∞ for the hinge (s: the weights); with a free bias
    and unequal classes a small linear program. (scikit-learn's function of this name knows the squared hinge and a penalised
    bias only.) Cost: one pass over the data, or a few programs with a row for each of some hundred features.

    Examples
    --------
    >>> from maxmargin import LinearSVC, l1_min_c
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], [0, 0, 1, 1]
    >>> l1_min_c(X, y)
    0.25
    >>> [LinearSVC("l1", C=C).fit(X, y).coef_.any().item() for C in (0.249, 0.251)]
    [False, True]
    """
    return critical_cost(_problem(X, y, sample_weight, loss, fit_intercept, intercept_scaling, class_weight))


def l1_path(
    X: Any,
    y: Any,
    *,
    Cs: Any = 30,
    loss: str = "hinge",
    fit_intercept: bool = True,
    intercept_scaling: float | None = None,
    class_weight: Any = None,
    sample_weight: Any = None,
    tol: float = 1e-6,
) -> L1Path:
    """Train ``LinearSVC(penalty="l1")`` over a grid of C, each model begun at the last one.

    min ‖w‖₁ + C Σ_j s_j ℓ(y_j F_j) for two classes. Cost: a few linear programs (hinge) or sweeps (squared hinge) a C.

    Parameters
    ----------
    X, y, sample_weight
        As in `LinearSVC.fit`.
    Cs : int or array
        The values, or how many of them, evenly spaced in logarithms from the critical C (`l1_min_c`) to 100 times that.
    loss : {"hinge", "squared_hinge"}
    fit_intercept, intercept_scaling, class_weight, tol
        As in `LinearSVC`.

    Examples
    --------
    >>> from maxmargin import l1_path
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], [0, 0, 1, 1]
    >>> path = l1_path(X, y, Cs=[0.2, 0.3, 10.0])
    >>> path.n_features, path.entry_order
    (array([0, 1, 2]), array([0, 1]))
    """
    tol = check_tol(tol)
    unit = _problem(X, y, sample_weight, loss, fit_intercept, intercept_scaling, class_weight)
    grid = _grid(Cs, unit)
    warm: Candidate | None = None
    solutions = []
    for k, C in enumerate(grid):
        if warm is not None:
            warm = Candidate(warm.w, warm.b, warm.beta * (C / grid[k - 1]))  # what was at its bound stays there
        warm = solve(replace(unit, cost=C * unit.cost), tol=tol, warm=warm)
        solutions.append(warm)
    coef = np.array([solution.w for solution in solutions])
    has_weight = coef != 0.0
    first = np.where(has_weight.any(axis=0), grid[np.argmax(has_weight, axis=0)], np.inf)
    certificates = tuple(solution.certificate for solution in solutions if solution.certificate is not None)
    return L1Path(grid, coef, np.array([solution.b for solution in solutions]), certificates, first)


def _grid(Cs: Any, unit: Problem) -> Floats:
    if isinstance(Cs, int | np.integer) and not isinstance(Cs, bool):
        least = critical_cost(unit)
        if Cs < 1 or not np.isfinite(least):
            raise InvalidInputError(f"A path needs at least one C, and a feature that enters; got Cs={Cs} and l1_min_c={least}.")
        return np.asarray(np.geomspace(least, SPAN * least, int(Cs)))
    grid = np.asarray(Cs, dtype=np.float64)
    if grid.ndim != 1 or len(grid) == 0 or not (np.isfinite(grid) & (grid > 0)).all() or (np.diff(grid) <= 0).any():
        raise InvalidInputError(f"Cs must be a number of values, or positive numbers that rise, got {Cs!r}.")
    return grid


def _problem(X: Any, y: Any, sample_weight: Any, loss: str, intercept: bool, scaling: Any, class_weight: Any) -> Problem:
    """The problem at C = 1."""
    check_choice("loss", loss, ("hinge", "squared_hinge"))
    model = LinearSVC("l1", loss, fit_intercept=intercept, intercept_scaling=scaling, class_weight=class_weight)
    return model._binary_problem("A path is for", X, y, sample_weight)
