"""Learning from a stream: samples that come in pieces and are not kept."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, validate_data

from maxmargin.core import Bias, Regularization
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_magnitude, unchanged_by_errors
from maxmargin.estimators.multiclass.one_vs_rest import OneVsRest, signs_of
from maxmargin.estimators.weights import class_factors
from maxmargin.kernels import Linear
from maxmargin.solvers import Pegasos
from maxmargin.solvers.interrupts import deferred_interrupt
from maxmargin.solvers.linear.rows import Rows
from maxmargin.solvers.stochastic.iterates import Counts, Iterates, step_rows
from maxmargin.typing import Floats, Indices, Matrix

STREAM_VALUES = 4_000_000
"""Values of a piece of a stream that one compiled call visits."""


def is_linear(model: Any) -> bool:
    """Whether a stream can be learned from; else an AttributeError that says why not."""
    if model.kernel == "linear" or isinstance(model.kernel, Linear):
        return True
    raise AttributeError(
        f"partial_fit keeps no samples, which kernel={model.kernel!r} needs. Use fit, or map the features first."
    )


def next_piece(
    model: Any, X: Any, y: Any, classes: Any, sample_weight: Any, class_weight: Any = None
) -> tuple[Matrix, Indices, Floats]:
    """The validated piece: its rows, labels 0 … k − 1 and factors."""
    is_first = not hasattr(model, "intercept_")
    X, y = validate_data(
        model, X, y, reset=is_first, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True
    )
    check_magnitude(X)
    if is_first:
        check_classification_targets(y)
        if classes is None:
            raise InvalidInputError("classes must be passed on the first call to partial_fit: all labels to come.")
        model.classes_ = unique_labels(classes)
        if len(model.classes_) < 2:
            raise InvalidInputError(f"A classifier needs at least two classes, got {model.classes_.tolist()}.")
    elif classes is not None and not np.array_equal(model.classes_, np.unique(classes)):
        raise InvalidInputError(f"classes={classes!r} is not what the first call had: {model.classes_}.")
    labels = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    is_known = model.classes_[labels] == y
    if not is_known.all():
        raise InvalidInputError(f"Labels {np.unique(y[~is_known]).tolist()} are none of classes {model.classes_}.")
    weights = np.ones(len(labels))
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            raise InvalidInputError(f"Negative values in sample_weight: {float(weights.min())!r}.")
    if isinstance(class_weight, str):
        raise InvalidInputError(f"class_weight={class_weight!r} needs all samples. Use a dict in partial_fit.")
    if class_weight is not None:
        each = np.arange(len(model.classes_))
        weights *= class_factors(class_weight, model.classes_, each, np.ones(len(each)))[labels]
    return X, labels.astype(np.intp, copy=False), weights


class StreamLearner(OneVsRest):
    """Abstract base: `partial_fit` by the steps of Pegasos, with their count carried on from piece to piece."""

    class_weight: Any
    batch_size: Any
    project: Any
    _stream: list[Iterates] | None

    @abstractmethod
    def _solver(self) -> Pegasos:
        """The algorithm that the parameters describe."""

    @abstractmethod
    def _trade_off(self) -> Regularization:
        """λ, in some spelling; never the hard margin."""

    @abstractmethod
    def _bias(self) -> Bias:
        """The constant feature, or none."""

    @available_if(is_linear)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over some samples in the order given, from where the last call (or `fit`) ended.

        Parameters
        ----------
        X, y
            The next samples of the stream; a linear kernel only.
        classes : array-like, optional
            All labels of the stream: needed in the first call.
        sample_weight : array-like, optional
            Factors of the losses; 1 is the weight of an average sample.

        Notes
        -----
        λ comes from `C`, whose spelling must not depend on the number of samples: `Regularization.pegasos`, `tikhonov` or `mean`.
        The model after k pieces is that of one pass over all of them, bit by bit, if each piece is a whole number of batches. No
        certificate: it would need all samples.

        Examples
        --------
        >>> from maxmargin import PegasosSVC
        >>> model = PegasosSVC().partial_fit([[0.0], [2.0]], [0, 1], classes=[0, 1]).partial_fit([[3.0]], [1])
        >>> model.t_, model.predict([[4.0]])
        (3, array([1]))
        """
        with unchanged_by_errors(self):
            X, labels, weights = next_piece(self, X, y, classes, sample_weight, self.class_weight)
            stream = self._stream_state()
        with deferred_interrupt() as was_interrupted:
            rows = Rows.of_matrix(X, sums_duplicates=bool(self.project))
            most = max(1, STREAM_VALUES * len(labels) // max(rows.n_values, 1) // int(self.batch_size))
            step = most * int(self.batch_size)
            counts, s = Counts.none(len(labels)), self._bias().scale
            for iterates in stream:
                iterates.expect(-(-len(labels) // int(self.batch_size)))
            signs, visits = signs_of(labels, len(self.classes_)), np.arange(len(labels), dtype=np.int64)
            for start in range(0, len(labels), step):
                for iterates, y_signs in zip(stream, signs, strict=True):
                    step_rows(iterates, counts, rows, y_signs * weights, s, visits[start : start + step])
                if was_interrupted():
                    break
            self._store_stream(X, stream)
        return self

    def _why_uncertified(self) -> str:
        return (
            "A model that was learned from a stream (partial_fit) has no certificate, which needs all samples at once. "
            "Use fit on samples that are at hand."
        )

    def _stream_state(self) -> list[Iterates]:
        """The iterates of each problem: those of the last piece, or begun at the model of the last fit."""
        trade_off = self._trade_off()
        if trade_off.spelling in ("sum", "ridge"):
            raise InvalidInputError(
                f"C={self.C!r} depends on the number of samples, which a stream does not know. "
                "Use Regularization.pegasos(lam), tikhonov(lam) or mean(C)."
            )
        rule = self._solver().rule(1.0 / trade_off.cost(1.0))
        stream: list[Iterates] | None = getattr(self, "_stream", None)
        if stream is not None and replace(stream[0].rule, average_from=0) == rule:
            return stream
        if not hasattr(self, "intercept_"):
            n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
            return [Iterates.start(rule, self.n_features_in_ + 1) for _ in range(n_problems)]
        t = int(self.t_)
        return [Iterates.resume(rule, np.append(w, b), t) for w, b in zip(self.coef_, self.intercept_, strict=True)]

    def _store_stream(self, X: Matrix, stream: list[Iterates]) -> None:
        of_all_samples = ("certificate_", "status_", "solver_", "trace_", "fingerprint_")
        for name in (*of_all_samples, "dual_coef_", "support_", "support_vectors_"):
            self.__dict__.pop(name, None)
        outputs = np.array([iterates.output() for iterates in stream])
        self._stream = stream
        self._weights, self._coefficients = outputs[:, :-1].copy(), None
        self.intercept_ = outputs[:, -1].copy()
        self.kernel_ = Linear()
        self.t_ = stream[0].t
        self.n_iter_ = getattr(self, "n_iter_", 1)
