"""What Pegasos and the perceptron share: a vector for each class, and learning from a stream, whose samples are not kept."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import validate_data

from maxmargin.core import Bias, Problem
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_flag, unchanged_by_errors
from maxmargin.estimators.kernel_machine import KernelParameters
from maxmargin.estimators.multiclass.one_vs_rest import OneVsRest
from maxmargin.estimators.training_data import READABLE, checked_rows, checked_weights, class_factors
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.kernels.tiles import values_of
from maxmargin.solvers.base import deferred_interrupt
from maxmargin.solvers.linear.rows import Rows
from maxmargin.solvers.stochastic.samples import Samples
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix

OF_ALL_SAMPLES = (
    *("certificate_", "status_", "solver_", "trace_", "fingerprint_", "mistakes_"),
    *("dual_coef_", "support_", "support_vectors_", "shape_fit_", "_reference"),
)
"""What a fitted estimator no longer has once it goes on from a stream."""


def _is_linear(model: Any) -> bool:
    """Whether a stream can be learned from; else an AttributeError that says why not."""
    if model.kernel == "linear" or isinstance(model.kernel, Linear):
        return True
    raise AttributeError(f"partial_fit keeps no samples, which kernel={model.kernel!r} needs. Use fit, or map the features.")


@dataclass(eq=False, repr=False, kw_only=True)
class StreamLearner(KernelParameters, OneVsRest):
    """Abstract base: a vector of the feature space and a bias for each class, whose constant feature is penalised.

    `partial_fit` goes on from piece to piece, or from the model of the last `fit`.
    """

    n_jobs: int | None = None
    random_state: Any = None
    batch_size = 1

    def _bias(self) -> Bias:
        """The weight of a constant feature, as far as there is one."""
        return Bias.penalized() if check_flag("fit_intercept", self.fit_intercept) else Bias.none()

    def _store_vectors(self, X: Matrix, kernel: Kernel, vectors: Floats, biases: Floats, used: Indices, keep: bool) -> None:
        """Keep the weights of a linear kernel; of every other (or to `keep` them) the samples `used`, with coefficients."""
        self.kernel_, self.intercept_, self.support_ = kernel, biases, used.astype(np.int32)
        is_linear = isinstance(kernel, Linear)
        self._weights: Any = vectors if is_linear else None
        self._coefficients: Any = None if is_linear else vectors[:, used]
        self.__dict__.pop("support_vectors_", None)
        if keep or not is_linear:
            self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else values_of(X[used])
            self._reference = kernel.reference(X, used)

    def _vectors(self, n: int) -> Floats:
        return super()._vectors(n) if self._coefficients is None else self._spread(self._coefficients, n)

    def _scores(self, X: Matrix) -> Floats:
        if self._coefficients is None:
            return super()._scores(X)
        sums = Expansion(self.kernel_, self._reference, self._coefficients)(X, usable_threads(self.n_jobs), np.float64)
        return np.asarray(sums[0].T + self.intercept_)

    # -- streams -------------------------------------------------------------------------------------------------

    @available_if(_is_linear)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over some samples in the order given, from where the last call (or `fit`) ended.

        Parameters
        ----------
        X, y
            The next samples of the stream; a linear kernel only, as others would keep samples.
        classes : array-like, optional
            All labels of the stream: needed in the first call.
        sample_weight : array-like, optional
            `PegasosSVC`: factors of the losses; 1 is the weight of an average sample. `Perceptron`: lengths of the updates, in
            units of η; 0 leaves a sample out.

        Notes
        -----
        The model after k pieces is that of one pass over all of them, bit by bit, if each piece is a whole number of batches.
        Nothing is proved, as that would need all samples: there is no certificate, and `witness_` is None.

        `PegasosSVC`: λ comes from `C`, whose spelling must not depend on the number of samples: `Regularization.pegasos`,
        `tikhonov` or `mean`. `Perceptron`: `output` is "last" or "averaged", `margin` is for `fit`.

        Examples
        --------
        >>> from maxmargin import PegasosSVC, Perceptron
        >>> model = PegasosSVC().partial_fit([[0.0], [2.0]], [0, 1], classes=[0, 1]).partial_fit([[3.0]], [1])
        >>> model.t_, model.predict([[4.0]])
        (3, array([1]))
        >>> model = Perceptron().partial_fit([[0.0], [2.0]], [0, 1], classes=[0, 1]).partial_fit([[3.0]], [1])
        >>> model.t_, model.n_updates_, model.predict([[4.0]])
        (3, 2, array([1]))
        """
        with unchanged_by_errors(self):
            X, labels, weights = self._next_piece(X, y, classes, sample_weight)
            samples = Samples(Rows.of_matrix(X), self._bias().scale)
            stream = self._stream_state(len(labels))
        signed = [signs * weights for signs in self._signs(labels)]
        with deferred_interrupt() as was_interrupted:
            for visits in samples.cut(np.arange(len(labels), dtype=np.int64), int(self.batch_size)):
                self._visit(stream, samples, signed, visits)
                if was_interrupted():
                    break
            for name in OF_ALL_SAMPLES:
                self.__dict__.pop(name, None)
            self._coefficients, self.kernel_ = None, Linear()
            self.n_iter_ = getattr(self, "n_iter_", 1)
            self._stream, vectors = stream, self._store_stream(stream)
            self._weights, self.intercept_ = vectors[:, :-1].copy(), vectors[:, -1].copy()
        return self

    def _next_piece(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Matrix, Indices, Floats]:
        """The validated piece: its rows, labels 0 … k − 1 and factors."""
        is_first = not hasattr(self, "intercept_")
        X, y = validate_data(self, X, y, reset=is_first, **READABLE)
        X = checked_rows(X)
        if is_first and classes is None:
            raise InvalidInputError("classes must be passed on the first call to partial_fit: all labels to come.")
        if is_first:
            self.classes_ = unique_labels(classes)
        if len(self.classes_) < 2:
            raise InvalidInputError(f"A classifier needs at least two classes, got {self.classes_.tolist()}.")
        if classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise InvalidInputError(f"classes={classes!r} is not what the first call had: {self.classes_}.")
        labels = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        is_known = self.classes_[labels] == y
        if not is_known.all():
            raise InvalidInputError(f"Labels {np.unique(y[~is_known]).tolist()} are none of classes {self.classes_}.")
        if isinstance(self.class_weight, str):
            raise InvalidInputError(f"class_weight={self.class_weight!r} needs all samples. Use a dict in partial_fit.")
        weights = checked_weights(sample_weight, X)
        factors = class_factors(self.class_weight, self.classes_, labels, weights)
        return X, labels, weights * factors[labels]

    @abstractmethod
    def _stream_state(self, n_samples: int) -> Any:
        """Where the stream stands before so many samples: where the last piece ended, or the last fit. Checks parameters."""

    @abstractmethod
    def _visit(self, stream: Any, samples: Samples, signed: list[Floats], visits: Indices) -> None:
        """Learn from some samples in turn; `signed` holds y times weight for each binary problem."""

    @abstractmethod
    def _store_stream(self, stream: Any) -> Floats:
        """Keep where it stands now; return the model: w of each problem, with b behind it."""

    def _lesson(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Self, Problem]:
        """A copy that is not fitted, and its problem of two classes, to be solved step by step."""
        copy = type(self)(**self.get_params(deep=False))
        copy._checked_tol()
        return copy, copy._binary_problem("steps shows", X, y, sample_weight)
