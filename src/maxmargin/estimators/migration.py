"""Parameters of scikit-learn that have one possible value here: what they take, and what to use instead of the others."""

from typing import Any

import numpy as np
from sklearn.base import clone

from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import check, check_choice, check_flag


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
