"""What a fitted model decides by, whichever estimator it came from: other formats are written from it, and read into an SVC.

    F_p(x) = Σ_s A_ps k(z_s, x) + b_p        or, where the kernel is linear,        F_p(x) = ⟨w_p, x⟩ + b_p

p numbers the binary problems: one for two classes (positive: the second), a pair each for one-vs-one (positive: the first), a
class each for one-vs-rest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators import SVC, HardMarginSVC
from maxmargin.estimators.multiclass.one_vs_one import pair_sums
from maxmargin.io._model.archive import Array
from maxmargin.io._model.fitted import check_estimator, expansion_of
from maxmargin.kernels import Kernel, Linear, Precomputed, kernel_from_name
from maxmargin.kernels.tiles import dense

MAX_WEIGHTS = 1 << 27
"""Weights of all linear decisions of a model that is read: 1 GB."""


@dataclass(frozen=True)
class Machine:
    """The decision functions of a fitted estimator: its `weights` where the kernel is linear, else its `coefficients`.

    These are A for two classes and one-vs-rest, and scikit-learn's `dual_coef_` for one-vs-one. The pairs of one-vs-one are those
    of `np.triu_indices(k, 1)`.
    """

    model: Any
    scheme: str
    """Which problems there are: "binary", "one_vs_one" or "one_vs_rest"."""
    kernel: Kernel
    weights: Any = None
    coefficients: Any = None


def combined(dual_coef: Array, n_support: Any, rows: Any) -> Array:
    """Σ_s coefficient_s row_s of each problem, (problems, width), from scikit-learn's layout of two classes or one-vs-one."""
    if len(n_support) == 2:
        return np.asarray(dual_coef @ rows)
    classes = [slice(end - count, end) for end, count in zip(np.cumsum(n_support), n_support, strict=True)]
    return pair_sums(np.array([dual_coef[:, own] @ rows[own] for own in classes]), len(n_support))


def machine_of(estimator: Any) -> Machine:
    """The decision functions of a fitted estimator of ours."""
    check_estimator(estimator)
    if getattr(estimator, "_votes", None) is not None:
        raise NotSupportedError('output="voted" decides by many versions, which no other format holds. Use output="averaged".')
    kernel, is_pairwise = getattr(estimator, "kernel_", Linear()), isinstance(estimator, SVC | HardMarginSVC)
    several = "one_vs_one" if is_pairwise else "one_vs_rest"
    scheme = "binary" if len(estimator.classes_) == 2 else several
    if isinstance(kernel, Linear):
        return Machine(estimator, scheme, kernel, weights=dense(estimator.coef_))
    coefficients = estimator._dual if is_pairwise else estimator._coefficients
    return Machine(estimator, scheme, kernel, coefficients=coefficients)


def svc_of(parameters: dict[str, Any], classes: Any, counts: Any, dual_coef: Array, rows: Any, intercept: Any) -> SVC:
    """A model of another program as an SVC: it predicts, but has no certificate, no C and no numbers of training samples.

    All is in scikit-learn's layout; with a precomputed kernel, each row marks the number of its training sample.
    """
    try:
        kernel = kernel_from_name(**parameters)
    except InvalidInputError as error:
        raise ModelFileError(f"The kernel of the model cannot be used: {error}", "kernel") from error
    (n, d), model = rows.shape, SVC(**parameters)
    model.kernel_, model.classes_, model.class_weight_ = kernel, np.array(classes), np.ones(len(classes))
    model.dual_coef_, model.intercept_ = dual_coef, np.array(intercept)
    model.support_, model.n_support_ = np.arange(n, dtype=np.int32), np.array(counts, dtype=np.int32)
    model.support_vectors_, model.n_features_in_, model.shape_fit_ = rows, d, (max(n, 1), d)
    model._weights, model._balls, model._last_fit, model.fit_status_ = None, [], None, 0
    if isinstance(kernel, Precomputed):
        model.support_vectors_, model.shape_fit_ = np.empty((0, 0)), (d, d)
        model.support_ = sp.csr_array(rows).indices.astype(np.int32)
        if len(np.unique(model.support_)) != n:
            raise ModelFileError("The model names a training sample twice.", "SV")
    if isinstance(kernel, Linear):
        if len(intercept) * d > MAX_WEIGHTS:
            raise NotSupportedError(f"{len(intercept)} linear decisions of {d} features are more weights than fit.")
        model._weights = combined(dual_coef, model.n_support_, rows)
    model._expansion = expansion_of(model)
    return model
