"""`xi_alpha`: estimates of the leave-one-out error of a fitted estimator."""

from typing import Any

import numpy as np

from maxmargin.analysis import leave_one_out as analysis
from maxmargin.analysis.leave_one_out import Full, XiAlpha
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.svc import KernelClassifier
from maxmargin.estimators.wrapped import opened
from maxmargin.threads import one_blas_thread


def xi_alpha(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> XiAlpha | tuple[XiAlpha, ...]:
    """Estimates of the leave-one-out error, recall and precision from one fitted model, without retraining.

    2α_iR² + ξ_i < 1 says that sample i would be classified correctly without itself; counting all others gives estimates that
    are pessimistic as a rule. Only without a free bias is this a theorem about the exact optimum; with one the exact error can
    be larger. `leave_one_out` is exact.

    Parameters
    ----------
    estimator : LinearSVC, SVC or HardMarginSVC
        Fitted, or a fitted Pipeline, search or FrozenEstimator that holds one.
    X, y, sample_weight
        Its training data.

    Returns
    -------
    XiAlpha
        error, recall, precision and a verdict for each sample; for more than two classes a tuple, one a binary problem. Cost:
        that of predicting the training set.

    Examples
    --------
    >>> from maxmargin import LinearSVC, xi_alpha
    >>> X, y = [[0.0], [0.2], [1.8], [2.0]], [0, 0, 1, 1]
    >>> print(xi_alpha(LinearSVC(C=0.1).fit(X, y), X, y))
    ξα estimates: error ≈ 100.00%, recall ≈ 0.00%, precision ≈ 0.00%
    """
    estimator, X = opened(estimator, X, y)
    if not isinstance(estimator, LinearSVC | KernelClassifier):
        raise NotSupportedError(f"xi_alpha takes LinearSVC, SVC and HardMarginSVC, got {type(estimator).__name__}.")
    stored = stored_problems(estimator, X, y, sample_weight)
    stored.warn_of_other_data()
    weights = np.ones(np.shape(y)[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    with one_blas_thread():
        estimates = tuple(
            analysis.xi_alpha(full, weights[full.problem.row(np.arange(full.problem.n))], full.alpha, full.xi)
            for full in (Full.of(*pair) for pair in stored.problems)
        )
    return estimates[0] if len(estimates) == 1 else estimates
