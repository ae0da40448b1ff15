"""What a fitted model decides by, whichever estimator it came from: the form that other formats are written from.

    F_p(x) = Σ_s A_ps k(z_s, x) + b_p        or, where the kernel is linear,        F_p(x) = ⟨w_p, x⟩ + b_p

p numbers the binary problems: one for two classes (positive: the second), a pair each for one-vs-one (positive: the first), a
class each for one-vs-rest.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import NotSupportedError
from maxmargin.estimators import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron
from maxmargin.io._model.fields import Array
from maxmargin.kernels import Kernel, Linear, Precomputed


@dataclass(frozen=True)
class Machine:
    """The decision functions of a model.

    `vectors` are the z_s (None where the kernel is linear or precomputed), `support` their numbers among the training samples.
    `coefficients` are A for two classes and one-vs-rest, and scikit-learn's `dual_coef_` for one-vs-one, whose support vectors
    are grouped by class: `n_support` counts them.
    """

    scheme: Literal["binary", "one_vs_one", "one_vs_rest"]
    classes: Array
    kernel: Kernel
    n_features: int
    intercept: Array
    weights: Array | None = None
    vectors: Any = None
    support: Array | None = None
    coefficients: Array | None = None
    n_support: Array | None = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(positive, negative) of each problem of one-vs-one."""
        return list(combinations(range(len(self.classes)), 2))

    def matrix(self) -> Array:
        """A, (problems, support vectors), zeros included; kernels that are not linear."""
        assert self.coefficients is not None
        if self.scheme != "one_vs_one":
            return self.coefficients
        assert self.n_support is not None
        ends = np.cumsum([0, *self.n_support])
        A = np.zeros((len(self.pairs), self.coefficients.shape[1]))
        for row, (i, j) in zip(A, self.pairs, strict=True):
            of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            row[of_i], row[of_j] = self.coefficients[j - 1, of_i], self.coefficients[i, of_j]
        return A


def machine_of(estimator: Any) -> Machine:
    """The decision functions of a fitted estimator of ours."""
    if not isinstance(estimator, SVC | HardMarginSVC | LinearSVC | PegasosSVC | Perceptron):
        raise NotSupportedError(
            f"SVC, HardMarginSVC, LinearSVC, PegasosSVC and Perceptron can be exported, not {type(estimator).__name__}. "
            "Pass the fitted estimator itself; of a pipeline its last step, e.g. pipeline[-1]."
        )
    check_is_fitted(estimator, "intercept_")
    is_binary = len(estimator.classes_) == 2
    is_pairwise = isinstance(estimator, SVC | HardMarginSVC)
    common: dict[str, Any] = {
        "scheme": "binary" if is_binary else "one_vs_one" if is_pairwise else "one_vs_rest",
        "classes": estimator.classes_,
        "n_features": int(estimator.n_features_in_),
        "intercept": estimator.intercept_,
    }
    if is_pairwise:
        common |= {
            "decision_function_shape": estimator.decision_function_shape,
            "break_ties": bool(estimator.break_ties),
        }
    if isinstance(estimator, LinearSVC):
        return Machine(kernel=Linear(), weights=estimator.coef_, **common)
    if isinstance(estimator, Perceptron) and estimator._votes is not None:
        raise NotSupportedError(
            'A Perceptron with output="voted" decides by the votes of all its versions, which no other format holds. '
            'Use output="averaged", which is nearly as good.'
        )
    kernel = estimator.kernel_
    if isinstance(kernel, Linear):
        return Machine(kernel=kernel, weights=estimator._weights, **common)
    return Machine(
        kernel=kernel,
        vectors=None if isinstance(kernel, Precomputed) else estimator.support_vectors_,
        support=estimator.support_,
        coefficients=estimator.dual_coef_ if is_pairwise else estimator._coefficients,
        n_support=estimator.n_support_ if is_pairwise else None,
        **common,
    )
