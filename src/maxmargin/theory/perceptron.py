"""The perceptron as subgradient descent on its loss max(0, −z), and what minimising that loss would choose."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from maxmargin.theory.cone import Coefficients, Vector, in_cone
from maxmargin.theory.descent import Descent, descend
from maxmargin.theory.quadratic import rational_vector
from maxmargin.theory.samples import rows_and_signs


def perceptron_by_sgd(X: Any, y: Any, eta: float = 1.0, n_epochs: int = 10, fit_intercept: bool = False) -> Descent:
    """Run the perceptron as what it is: SGD with a constant step on the mean of max(0, −z), one sample after the other.

    The subgradient at z = 0 is −1, as "y⟨w, x⟩ ≤ 0" says; with 0 it would never leave w = 0. Its iterates are the perceptron's, a
    visit each. O(nd) a visit.

    Parameters
    ----------
    X, y
        Samples and labels ±1.
    eta : float
        The step.
    n_epochs : int
        Passes over the samples, in their order; also after one without a mistake.
    fit_intercept : bool
        With a bias, whose step is that of a constant feature 1.

    Examples
    --------
    >>> from maxmargin import theory
    >>> run = theory.perceptron_by_sgd([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]], [1, 1, -1], n_epochs=2)
    >>> run.w[-1], int((run.norms > 0).sum())
    (array([3., 1.]), 2)
    """
    steps = n_epochs * len(np.asarray(y))
    return descend(
        X, y, None, "perceptron", batch=1, step=eta, fit_intercept=fit_intercept, order="given", at_corner="steep", n_steps=steps
    )


@dataclass(frozen=True)
class PerceptronErm:
    """The minimisers of the mean perceptron loss: its least value is 0, and w = 0 attains it on any data.

    Attributes
    ----------
    w, b
        A minimiser that tells some sample apart: y_jF_j ≥ 0 for all j, > 0 for some; None if there is none.
    weights : tuple of Fraction, or None
        The proof where there is none: p_j > 0 with Σp_jy_jx_j = 0 (and Σp_jy_j = 0 with a bias), so that every minimiser has
        F = 0 on all samples.

    Examples
    --------
    >>> from maxmargin import theory
    >>> found = theory.perceptron_erm([[1.0, 0.0], [1.0, -1.0], [0.0, -1.0]], [1, -1, 1])
    >>> found.is_trivial_only, [str(p) for p in found.weights]
    (True, ['1', '1', '1'])
    """

    w: Vector | None
    b: Fraction | None
    weights: Vector | None

    @property
    def is_trivial_only(self) -> bool:
        """Whether every minimiser has F = 0 on all samples, as w = 0 has."""
        return self.w is None


def perceptron_erm(X: Any, y: Any, fit_intercept: bool = False) -> PerceptronErm:
    """Solve ERM with the perceptron loss, exactly: what does it choose, beside w = 0? In rational arithmetic, for small data.

    Parameters
    ----------
    X, y
        Samples and labels ±1.
    fit_intercept : bool
        With a bias.

    Examples
    --------
    >>> from maxmargin import theory
    >>> [str(v) for v in theory.perceptron_erm([[-1.0, 3.0], [1.0, 0.0]], [-1, 1]).w]
    ['1', '-1']
    >>> theory.perceptron_erm([[1.0], [1.0]], [-1, 1]).is_trivial_only
    True
    """
    rows, signs = rows_and_signs(X, y)
    ends = (1.0,) if fit_intercept else ()
    vectors = [rational_vector([sign * v for v in (*row, *ends)]) for row, sign in zip(rows.tolist(), signs, strict=True)]
    missing = tuple(-sum(column) for column in zip(*vectors, strict=True))
    found = in_cone(vectors, missing)
    if isinstance(found, Coefficients):
        return PerceptronErm(None, None, tuple(1 + x for x in found.x))
    direction = tuple(-v for v in found.d)
    return PerceptronErm(direction[: rows.shape[1]], direction[-1] if fit_intercept else Fraction(0), None)
