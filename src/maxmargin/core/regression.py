"""Regression as a problem: each row twice, above the tube and below it, so that the signed dual β has two halves.

    ½‖w‖² + Σ_i c_i ℓ(max(0, |t_i − F_i| − ε))  =  ½‖w‖² + Σ_j c_j ℓ(max(0, r_j − y_j F_j)),     y = ±1,  r = ±t − ε

A sample's own coefficient is the sum of its two: α_i − α_i*, in [−c_i, c_i]. At an optimum with ε > 0 one of them is 0;
where both are not, taking the smaller from both leaves w as it is and raises the dual value by 2ε times that.
"""

from typing import Any

import numpy as np

from maxmargin.core.problem import Problem
from maxmargin.typing import Floats, Matrix


def to_regression(X: Matrix, t: Floats, cost: Floats, epsilon: float = 0.0, **options: Any) -> Problem:
    """The problem of targets t within ε, its targets r rounded once; `options` are those of `Problem`.

    Examples
    --------
    >>> problem = to_regression(np.array([[0.0], [1.0]]), np.array([0.0, 3.0]), np.ones(2), epsilon=0.5)
    >>> problem.y, problem.target, problem.rows
    (array([ 1.,  1., -1., -1.]), array([-0.5,  2.5, -0.5, -3.5]), array([0, 1, 0, 1]))
    """
    n = len(t)
    y, target = np.repeat([1.0, -1.0], n), np.concatenate([t, -t]) - epsilon
    return Problem(X, y, np.tile(cost, 2), rows=np.tile(np.arange(n), 2), target=target, **options)


def folded(beta: Floats) -> Floats:
    """α − α* of each sample, from its two dual variables.

    Examples
    --------
    >>> folded(np.array([2.0, 0.0, 0.0, -1.0]))
    array([ 2., -1.])
    """
    n = len(beta) // 2
    return np.asarray(beta[:n] + beta[n:])


def unfolded(signed: Floats, shared: Floats | float = 0.0) -> Floats:
    """The dual variables of both halves; `shared` is what α and α* have in common.

    Examples
    --------
    >>> unfolded(np.array([2.0, -1.0]))
    array([ 2.,  0.,  0., -1.])
    """
    return np.concatenate([np.maximum(signed, 0.0) + shared, np.minimum(signed, 0.0) - shared])
