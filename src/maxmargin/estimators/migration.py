"""What scikit-learn's programs pass and call: parameters with one possible value here, and methods of its `LinearSVC`."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import products
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import check, check_choice, check_flag


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
    """`dual` is any value that scikit-learn takes, `multi_class` one-vs-rest, and there are no probabilities."""
    dual, multi_class = model.dual, model.multi_class
    is_known = isinstance(dual, bool | np.bool_) or (isinstance(dual, str) and dual == "auto")
    check(is_known, "dual", dual, '"auto", True or False; it has no effect')
    if isinstance(multi_class, str) and multi_class == "crammer_singer":
        raise NotSupportedError(
            "multi_class='crammer_singer' comes with a later version. Use multi_class='ovr', SVC(kernel='linear'), which is "
            "one-vs-one, or sklearn.svm.LinearSVC."
        )
    check_choice("multi_class", multi_class, ("ovr",))
    check_probability(model)
