"""What scikit-learn's programs pass and call: parameters with few possible values here, and methods of its `LinearSVC`."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import products
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import check, check_flag


class SparseCoef:
    """Weights that may be kept as a sparse matrix."""

    coef_: Any

    def sparsify(self) -> Self:
        """Keep `coef_` as a CSR matrix: less memory where most weights are zero, as with the L1 penalty."""
        check_is_fitted(self, "coef_")
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array, as `fit` does."""
        check_is_fitted(self, "coef_")
        self.coef_ = products.dense_rows(self.coef_)
        return self


def check_probability(model: Any) -> None:
    """Refuse ``probability=True``, with a line to copy."""
    if check_flag("probability", model.probability):
        certain = clone(model).set_params(probability=False)
        raise NotSupportedError(
            "probability=True is not available: the decision values are not probabilities. From sklearn.calibration use "
            f"CalibratedClassifierCV({certain!r}, ensemble=False), which has predict_proba."
        )


def check_one_way(model: Any) -> None:
    """`dual` is any value that scikit-learn takes, and there are no probabilities."""
    check_dual(model.dual)
    check_probability(model)


def check_dual(dual: Any) -> None:
    """Any value that scikit-learn takes."""
    is_known = isinstance(dual, bool | np.bool_) or (isinstance(dual, str) and dual == "auto")
    check(is_known, "dual", dual, '"auto", True or False; it has no effect')
