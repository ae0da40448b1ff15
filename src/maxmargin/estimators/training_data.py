"""Training data: whether an estimator can take them, what each sample costs, and a fingerprint to know them again.

The fingerprint tells whether these are the rows that a model was trained on, and in their order. Each row has a number
(`analysis.twins.row_numbers`). Sums over rows with and without a factor for their place tell the same rows in another order from
other rows. A change of one value is always noticed (each step is one to one), other changes but for a chance far below one in a
million; it is no protection against somebody who looks for other data with the same fingerprint.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from maxmargin.analysis.twins import row_numbers
from maxmargin.core import Regularization
from maxmargin.core.certificate.certify import QUESTION
from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Custom
from maxmargin.kernels.tiles import OBJECT, distinct
from maxmargin.typing import Floats, Indices, Matrix

READABLE: dict[str, Any] = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
"""What scikit-learn's validation may let through: dense rows or CSR, which are not copied."""


def checked_input(estimator: Any, X: Any, *y: Any, reset: bool = True, **more: Any) -> Any:
    """X, or (X, y), validated: numbers; for a kernel that is a function also a list of samples, or a table, of anything.

    What is no number is kept under a dtype of one field: see `OBJECT`. Plain arrays take a shorter way with the same end.
    `more` are options of scikit-learn's check.
    """
    if (not y or y[0] is not None) and _is_plain(estimator, X, *y, reset=reset, is_number="y_numeric" in more):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        return (X, *y) if y else X
    kernel, options = getattr(estimator, "kernel", None), READABLE
    if callable(kernel) or isinstance(kernel, Custom):
        is_flat = not reset and np.ndim(getattr(estimator, "support_vectors_", 0.0)) == 1
        found = as_objects(X, is_flat)
        if found is not None:
            X, options = found, {"dtype": None, "ensure_all_finite": False}
    return validate_data(estimator, X, *y, reset=reset, **options, **more)


def _is_plain(estimator: Any, X: Any, y: Any = None, *, reset: bool, is_number: bool = False) -> bool:
    """Whether scikit-learn's checks would find nothing to do: finite numbers in an array, of as many columns as before.

    y is labels, or numbers where `is_number`.

    They take 0.15 ms, as long as everything else that a prediction of a few samples needs.
    """
    if type(X) is not np.ndarray or X.dtype not in READABLE["dtype"] or X.ndim != 2 or not X.size:
        return False
    if hasattr(estimator, "feature_names_in_") or not (reset or estimator.n_features_in_ == X.shape[1]):
        return False
    if y is not None and not (
        type(y) is np.ndarray and y.shape == X.shape[:1] and y.dtype.kind in ("iubf" if is_number else "iubU")
    ):
        return False
    if is_number and y is not None and not np.isfinite(y).all():
        return False
    with np.errstate(over="ignore"):
        return bool(np.isfinite(X.sum()))


def as_objects(X: Any, is_flat: bool = False) -> Any:
    """Samples that are no numbers, one a row; None where X holds numbers. Each entry of a list is a sample, as in scikit-learn.

    Examples
    --------
    >>> as_objects(["a", "b a"]).shape, as_objects(np.array([["a", "b"]])).shape, as_objects([[1.0, 2.0]])
    ((2, 1), (1, 2), None)
    """
    try:
        found = None if sp.issparse(X) else np.asarray(X)
    except ValueError:  # entries of different lengths
        found = np.fromiter(X, dtype=object, count=len(X))
    if found is None or found.ndim == 0 or (found.dtype.kind in "fiubc" and not is_flat):
        return None
    if found.ndim == 2 and not is_flat and not isinstance(X, list | tuple):
        rows = np.empty(found.shape, dtype=[("value", found.dtype)])
        rows["value"] = found
    else:
        rows = np.empty((len(X), 1), dtype=OBJECT)
        rows["sample"][:, 0] = np.fromiter(X, dtype=object, count=len(X))
    return rows


LARGEST = float(np.finfo(np.float64).eps * np.sqrt(np.finfo(np.float64).max))
SMALLEST = float(np.sqrt(np.finfo(np.float64).tiny) / np.finfo(np.float64).eps)
"""Beyond these the squares of the values, and sums of 1/ε² of them, leave float64: about 3e138 and 7e-139."""


def encoded(y: Any) -> tuple[Any, Indices]:
    """(classes, labels): the different labels, at least two, and the place of each sample's among them."""
    if y.dtype.kind not in "iubU":
        check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise InvalidInputError(f"A classifier needs samples of at least two classes, got 1 class: {classes.tolist()[0]!r}.")
    labels = np.searchsorted(classes, y)  # many times faster than asking `unique` for the inverse, which sorts
    return classes, labels.astype(np.intp, copy=False)


def checked_weights(sample_weight: Any, X: Matrix, labels: Indices | None = None, classes: Any = ()) -> Floats:
    """Weights ≥ 0, some of them positive in each class if these are given; None is 1 for each."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if labels is not None:
        check_each_class(weights, labels, classes)
    if (weights < 0).any():
        raise InvalidInputError(f"Negative values in sample_weight: {float(weights.min())!r}. Use 0 to leave a sample out.")
    return weights


def check_each_class(weights: Floats, labels: Indices, classes: Any) -> None:
    """Refuse weights that leave a class out."""
    has_weight = np.bincount(labels, weights=weights > 0, minlength=len(classes)) > 0
    if not has_weight.any():
        found = "Invalid input - all samples have zero or negative weights."  # scikit-learn's words, here and below
        raise InvalidInputError(f"{found} Sample weights must contain at least one non-zero number, a positive one.")
    if not has_weight.all():
        name, is_one = classes.tolist()[int(np.argmin(has_weight))], has_weight.sum() == 1
        found = "Invalid input - all samples with positive weights belong to the same class. " if is_one else ""
        raise InvalidInputError(f"{found}No sample of class {name!r} has a positive sample_weight; remove the class or weigh it.")


def checked_rows(X: Matrix) -> Matrix:
    """Rows in which no column is stored twice, with values whose squares float64 can hold."""
    if X.dtype.names:
        return X
    X = distinct(X) if sp.issparse(X) else X
    check_magnitude(X)
    return X


def check_magnitude(X: Matrix, name: str = "X", what: str = "features") -> None:
    """Refuse data whose squares would overflow, or all vanish, in float64."""
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if largest > LARGEST or 0 < largest < SMALLEST:
        lost = "overflows" if largest > LARGEST else "vanishes"
        raise InvalidInputError(f"The largest value of {name} is {largest:.2g}; its square {lost}. Scale the {what}.")


def class_factors(class_weight: Any, classes: Any, labels: Indices, weights: Floats) -> Floats:
    """The factor of each class; "balanced" counts weights: total / (n_classes · weight of the class).

    Examples
    --------
    >>> class_factors("balanced", np.array(["a", "b"]), np.array([0, 1]), np.array([3.0, 1.0])).round(3)
    array([0.667, 2.   ])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = weights.sum() / (len(classes) * np.bincount(labels, weights=weights, minlength=len(classes)))
    else:
        try:
            factors = compute_class_weight(class_weight, classes=classes, y=classes)  # which reads y if balanced only
        except OverflowError:  # an int beyond float64
            factors = np.full(len(classes), np.inf)
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise InvalidInputError(f"class_weight must be positive for every class, and finite, got {class_weight!r}.")
    return np.asarray(factors, dtype=np.float64)


def costs(trade_off: Regularization, weights: Floats, factors: Floats, penalty: Any = "l2") -> Floats:
    """c_j = cost · weight · class factor, given the last two for each sample; the hard margin has ∞ where there is weight.

    The cost is that beside ½‖w‖², or beside ‖w‖₁ for the L1 penalty.

    Examples
    --------
    >>> costs(Regularization.mean(8.0), np.array([3.0, 1.0]), np.array([1.0, 2.0]))
    array([6., 4.])
    """
    if trade_off.is_hard:
        return np.where(weights > 0, np.inf, 0.0)
    cost = trade_off.cost(float(weights.sum()), penalty)
    with np.errstate(over="ignore", under="ignore"):
        found = cost * weights * factors
    if np.isinf(found).any() or (found[weights > 0] == 0.0).any():
        product = f"{cost:.3g} times weights up to {weights.max():.3g} and class weights up to {factors.max():.3g}"
        raise InvalidInputError(f"C × sample weight × class weight leaves the range of float64: {product}. Use values near 1.")
    return found


class Fingerprint(NamedTuple):
    """Five numbers of 64 bits that stand for training data.

    Attributes
    ----------
    rows, labels, weights : int
        The rows, the numbers of their labels, their weights, each in their order.
    rows_in_any_order, samples_in_any_order : int
        The rows; the rows with their labels and weights.

    Examples
    --------
    >>> X, labels, weights = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([0, 1]), np.ones(2)
    >>> kept = Fingerprint.of(X, labels, weights)
    >>> kept == Fingerprint.of(sp.csr_array(X), labels, weights)
    True
    >>> Fingerprint.of(X[::-1], labels[::-1], weights).told_from(kept)
    'These are the training rows in another order.'
    """

    rows: int
    labels: int
    weights: int
    rows_in_any_order: int
    samples_in_any_order: int

    @classmethod
    def of(cls, X: Matrix, y: Indices | Floats, weights: Floats) -> "Fingerprint | None":
        """Of validated data with labels or targets y; None of samples that are no numbers. Cost: that of `row_numbers`."""
        from maxmargin._loops.fingerprint import fold

        if X.dtype.names:
            return None
        rows, out = row_numbers(X), np.zeros(5, dtype=np.uint64)
        marks = (y + 0.0).view(np.int64) if y.dtype.kind == "f" else y.astype(np.int64, copy=False)  # −0 is 0
        with np.errstate(over="ignore"):  # of loops that run uncompiled
            fold(rows, marks, np.ascontiguousarray(weights).view(np.uint64), out)
        return cls(*out.tolist())

    def told_from(self, kept: "Fingerprint | None") -> str | None:
        """How these data differ from those of the fit, in one sentence; None where they do not."""
        if kept is None or self == kept:
            return QUESTION if kept is None else None
        if self.rows == kept.rows:
            which = " and ".join(name for name in ("labels", "weights") if getattr(self, name) != getattr(kept, name))
            return f"These are the training rows, but {which} differ from those of the fit."
        if self.rows_in_any_order != kept.rows_in_any_order:
            return "These are not the rows that the model was trained on: their values differ."
        is_mixed = self.samples_in_any_order != kept.samples_in_any_order
        did_not_move = ", and their labels or weights did not move with them" if is_mixed else ""
        return f"These are the training rows in another order{did_not_move}."
