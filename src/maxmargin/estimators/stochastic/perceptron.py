"""Perceptron: the first algorithm that learned a hyperplane from its mistakes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from maxmargin.analysis.bounds import Bound, perceptron_updates
from maxmargin.analysis.separability import separable_from
from maxmargin.analysis.witness import Separable
from maxmargin.core import Bias, Candidate, Problem, Solution, Status, Workspace
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.estimators.base import check_choice, check_flag, unchanged_by_errors
from maxmargin.estimators.multiclass.one_vs_rest import PREDICT_BYTES, OneVsRest, signs_of
from maxmargin.estimators.multiclass.parallel import in_threads
from maxmargin.estimators.progress.callbacks import watching
from maxmargin.estimators.progress.convergence import warn_of_mistakes
from maxmargin.estimators.stochastic.partial_fit import STREAM_VALUES, is_linear, next_piece
from maxmargin.kernels import Kernel, Linear
from maxmargin.solvers import Budget, Clock, Event, solve
from maxmargin.solvers.interrupts import deferred_interrupt
from maxmargin.solvers.linear.rows import Rows
from maxmargin.solvers.stochastic.perceptron import Perceptron as Run
from maxmargin.solvers.stochastic.perceptron import run_perceptron, visit_rows
from maxmargin.solvers.stochastic.sample_order import Visits
from maxmargin.threads import one_blas_thread, usable_threads
from maxmargin.typing import Floats, Indices, Matrix


class PerceptronStep(NamedTuple):
    """One visit of the perceptron.

    Attributes
    ----------
    epoch, visit : int
        Counted from 1; visits go on through the epochs.
    sample : int
        Its row number.
    score : float
        y F(x) before the visit: ≤ 0 is a mistake.
    is_mistake : bool
    w, b
        After the visit; with a kernel w holds a coefficient for each sample.
    n_updates : int
        Mistakes so far.
    margin_bound : float
        What they prove: no unit vector has a larger margin than ρ/√n_updates (∞ before the first).
    """

    epoch: int
    visit: int
    sample: int
    score: float
    is_mistake: bool
    w: Floats
    b: float
    n_updates: int
    margin_bound: float


class PerceptronStream(NamedTuple):
    """Where each problem of a stream stands: w and its lazy sum u, a constant feature behind both, for η = 1; visits so far."""

    w: Floats
    u: Floats
    t: Indices


class Perceptron(OneVsRest):
    r"""The perceptron: visit the samples in turn, and add each one that is on its wrong side.

        if y_j F(x_j) ≤ 0:   w ← w + η y_j φ(x_j),   b ← b + η y_j

    until an epoch makes no mistake: then a hyperplane separates the classes, and `witness_` proves it. With margin γ and radius ρ
    (of the samples with the constant feature 1 behind them, if there is an intercept) it makes at most (ρ/γ)² updates. Where no
    hyperplane separates the classes it never ends by itself. More than two classes: one-vs-rest.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or Kernel
        "linear" keeps w; every other kernel counts the mistakes at each sample. The updates are the same.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn.
    eta : float
        The learning rate. From w = 0 on it scales w and b and changes no decision.
    max_iter : int
        Epochs, at most; −1 is no limit. A `ConvergenceWarning` says when the last one still made mistakes.
    max_seconds : float or None
        Seconds after which the present model is returned.
    fit_intercept : bool
        A constant feature 1, whose weight is the intercept. False: the hyperplane passes through the origin.
    output : {"last", "averaged", "voted"}
        The last w; its mean over all visits; the vote of all versions of w, each with as many votes as visits that it lived
        through (Freund & Schapire, 1999). Votes lie between −1 and 1.
    margin : float, "compute" or None
        γ of the mistake bound: known, computed by the hard-margin solver, or not asked for.
    shuffle : bool
        A fresh random order each epoch; False visits the samples as they come.
    n_jobs : int or None
        Threads for more than two classes.
    random_state : int, RandomState or None
        Of the order; None is 0.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, n_iter_
        As in scikit-learn; `coef_` for the linear kernel only.
    n_updates_ : int
        Mistakes made, of all classes' problems.
    t_ : int
        Visits made (the most of any class's problem): from here `partial_fit` goes on.
    mistakes_ : array of int, or tuple of them
        The sample of each mistake, in order; one array a class for more than two.
    support_, support_vectors_, dual_coef_
        The samples of the mistakes, and η · (number of mistakes) · y.
    witness_ : Separable or None
        The proof that w separates, with `check()`; a tuple for more than two classes. It refers to the training data.
    mistake_bound_ : Bound or None
        ⌊(ρ/γ)²⌋ where γ is known or computed, and the classes can be separated; a tuple for more than two classes.

    Notes
    -----
    Cost: O(non-zeros) an epoch, the average included; with a kernel n values a mistake. The voted form also keeps the samples of
    the mistakes, and takes one pass over the mistakes for each prediction.

    Examples
    --------
    >>> from maxmargin import Perceptron
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = Perceptron(margin="compute").fit(X, y)
    >>> model.predict([[0.2, 0.2], [3.0, 2.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.n_updates_ <= int(model.mistake_bound_), bool(model.witness_.check())
    (True, True)
    """

    _stream: PerceptronStream | None
    _votes: list[tuple[Indices, Floats, Floats]] | None

    def __init__(
        self,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        eta: float = 1.0,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        fit_intercept: bool = True,
        output: str = "last",
        margin: Any = None,
        shuffle: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.eta = eta
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.output = output
        self.margin = margin
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.random_state = random_state

    # -- fit -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Train on samples X and labels y; a perceptron has no use for weights.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            CSR is used as it is, other formats are converted; for ``kernel="precomputed"`` the (n, n) Gram matrix.
        y : array-like (n_samples,)
            Labels of any kind, at least two different ones.
        """
        return super().fit(X, y)

    def _fit(self, X: Matrix, labels: Indices, weights: Floats) -> bool:
        self._check_parameters()
        budget = self._budget(self.max_iter, self.max_seconds)
        runs = self._runs(X, labels, weights)
        with watching(self, X, labels, weights, 0.0, self._problem_names()) as watch:

            def train(k: int, budget: Budget) -> bool:
                run, clock = runs[k], Clock(budget)

                def observe(run: Run) -> bool:
                    share = 1.0 if run.is_clean else run.epochs / max(self.max_iter, run.epochs + 1)
                    wrong = max(run.last_mistakes, 0) / run.problem.n
                    return watch.see(k, Event(clock.seconds, run.epochs, wrong, None), share)

                watch.begin(k)
                with one_blas_thread():
                    was_interrupted = run_perceptron(run, clock, observe)
                watch.end(k, _as_solution(run, was_interrupted))
                return was_interrupted

            interrupted = in_threads(train, len(runs), budget, usable_threads(self.n_jobs))
            self._store(X, runs)
        warn_of_mistakes(type(self).__name__, [run.last_mistakes for run in runs], self.n_iter_)
        return any(interrupted)

    @available_if(is_linear)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over some samples in the order given, from where the last call (or `fit`) ended.

        Parameters
        ----------
        X, y
            The next samples of the stream; a linear kernel only, as a sum over mistakes would keep their samples.
        classes : array-like, optional
            All labels of the stream: needed in the first call.
        sample_weight : array-like, optional
            Lengths of the updates, in units of η; 0 leaves a sample out.

        Notes
        -----
        The model after k pieces is that of one pass over all of them, bit by bit. Nothing is proved: that w separates all samples
        could only be said with all of them at hand, so that `witness_` is None. `output` is "last" or "averaged"; `margin` is for
        `fit`.

        Examples
        --------
        >>> from maxmargin import Perceptron
        >>> model = Perceptron().partial_fit([[0.0], [2.0]], [0, 1], classes=[0, 1]).partial_fit([[3.0]], [1])
        >>> model.t_, model.n_updates_, model.predict([[4.0]])
        (3, 2, array([1]))
        """
        with unchanged_by_errors(self):
            self._check_parameters()
            if self.output == "voted" or self.margin is not None:
                what = 'output="voted"' if self.output == "voted" else f"margin={self.margin!r}"
                raise InvalidInputError(
                    f"{what} needs samples that a stream does not keep. Use fit, or output='last' or 'averaged' and margin=None."
                )
            check_flag("fit_intercept", self.fit_intercept)
            X, labels, weights = next_piece(self, X, y, classes, sample_weight)
            stream = self._stream_state()
        rows = Rows.of_matrix(X)
        visits = np.flatnonzero(weights > 0).astype(np.int64)
        step = max(1, STREAM_VALUES * len(labels) // max(rows.n_values, 1))
        scale, count = float(self.fit_intercept), 0
        signs = signs_of(labels, len(self.classes_))
        with deferred_interrupt() as was_interrupted:
            for start in range(0, len(visits), step):
                piece = visits[start : start + step]
                for y_signs, w, u, t in zip(signs, *stream, strict=True):
                    count += len(visit_rows(rows, y_signs * weights, scale, piece, int(t), w, u)[0])
                stream.t[:] += len(piece)
                if was_interrupted():
                    break
            self._store_stream(stream, count)
        return self

    def _stream_state(self) -> PerceptronStream:
        """A copy of where the last piece or fit ended; w = 0 at the first."""
        if not hasattr(self, "intercept_"):
            n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
            w, u = np.zeros((2, n_problems, self.n_features_in_ + 1))
            return PerceptronStream(w, u, np.zeros(n_problems, dtype=np.int64))
        stream: PerceptronStream | None = getattr(self, "_stream", None)
        if stream is None:
            raise InvalidInputError(
                "This perceptron cannot go on: where it stood is not known. Train it with fit or partial_fit, and keep it by "
                "pickle or save."
            )
        return PerceptronStream(stream.w.copy(), stream.u.copy(), stream.t.copy())

    def _store_stream(self, stream: PerceptronStream, count: int) -> None:
        gone = ("mistakes_", "dual_coef_", "support_", "support_vectors_", "shape_fit_", "_reference")
        for name in gone:
            self.__dict__.pop(name, None)
        nothing: Any = None if len(stream.w) == 1 else (None,) * len(stream.w)
        self.witness_ = self.mistake_bound_ = nothing
        vectors = stream.w
        if self.output == "averaged":
            vectors = stream.w - stream.u / np.maximum(stream.t, 1)[:, None]
        self._stream, self._coefficients = stream, None
        self._votes = None
        self._weights = float(self.eta) * vectors[:, :-1]
        self.intercept_ = float(self.eta) * float(self.fit_intercept) * vectors[:, -1]
        self._bias_scale = float(self.fit_intercept)
        self.kernel_ = Linear()
        self.n_updates_ = getattr(self, "n_updates_", 0) + count
        self.t_ = int(stream.t.max())
        self.n_iter_ = getattr(self, "n_iter_", 1)

    def steps(self, X: Any, y: Any) -> Iterator[PerceptronStep]:
        """Visit after visit, as `fit` makes them: what pictures and lessons are made of. Two classes, small data.

        Changes nothing in the estimator. Costs a copy of w a visit.

        Examples
        --------
        >>> from maxmargin import Perceptron
        >>> for step in Perceptron(fit_intercept=False, shuffle=False).steps([[1.0], [-2.0]], [0, 1]):
        ...     print(step.visit, step.sample, step.is_mistake, step.w)
        1 0 True [-1.]
        2 1 False [-1.]
        3 0 False [-1.]
        4 1 False [-1.]
        """
        probe = type(self)(**self.get_params(deep=False))
        probe._check_parameters()
        X, labels, weights = probe._validated(X, y, None)
        if len(probe.classes_) != 2:
            raise InvalidInputError(f"steps shows two classes, got {len(probe.classes_)}: {probe.classes_}.")
        run = probe._runs(X, labels, weights)[0]
        radius = _radius(run.problem)
        eta, clock = float(self.eta), Clock(probe._budget(self.max_iter, self.max_seconds))
        while not run.is_clean and clock.spent() is None:
            count = 0
            for sample in run.visits.epoch():
                score = run.problem.y[sample] * _score(run, sample)
                is_mistake = bool(run.visit(np.array([sample])))
                count += is_mistake
                n_updates = len(run.sequence)
                bound = radius / n_updates**0.5 if n_updates else np.inf
                w, b = _model(run, run.w)
                yield PerceptronStep(
                    run.epochs + 1, run.clock, int(sample), eta * score, is_mistake, eta * w, eta * b, n_updates, bound
                )
            run.last_mistakes = count
            run.epochs += 1
            clock.rounds += 1

    def _check_parameters(self) -> None:
        check_choice("output", self.output, ("last", "averaged", "voted"))
        check_flag("shuffle", self.shuffle)
        if not _is_positive(self.eta):
            raise InvalidInputError(f"eta is the learning rate and must be a positive number, got {self.eta!r}.")
        if not (self.margin is None or _is_positive(self.margin) or isinstance(self.margin, str)):
            raise InvalidInputError(f'margin must be a positive number, "compute" or None, got {self.margin!r}.')
        if isinstance(self.margin, str):
            check_choice("margin", self.margin, ("compute",))

    def _runs(self, X: Matrix, labels: Indices, weights: Floats) -> list[Run]:
        kernel = self._resolved_kernel(X, weights)
        bias = Bias.penalized() if check_flag("fit_intercept", self.fit_intercept) else Bias.none()
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        hard = np.full(len(labels), np.inf)
        runs = []
        for y in signs_of(labels, len(self.classes_)):
            problem = Problem(X, y, cost=hard, kernel=kernel, bias=bias)
            n_values = int(getattr(X, "nnz", X.size)) if problem.is_linear else 0
            visits = Visits.of(np.arange(len(y)), "permuted" if self.shuffle else "given", seed, n_values)
            runs.append(Run.start(problem, Workspace(problem), visits))
        return runs

    def _store(self, X: Matrix, runs: list[Run]) -> None:
        kernel: Kernel = runs[0].problem.kernel
        models = [_model(run, run.average() if self.output == "averaged" else run.w) for run in runs]
        counts = np.array([np.bincount(run.sequence, minlength=X.shape[0]) * run.problem.y for run in runs])
        used = np.flatnonzero(counts.any(axis=0))
        eta, is_binary = float(self.eta), len(runs) == 1
        vectors = eta * np.array([w for w, _ in models])
        self._store_vectors(X, kernel, vectors, eta * np.array([b for _, b in models]), used, keep=True)
        self.dual_coef_ = eta * counts[:, used]
        self.n_iter_ = max(max(run.epochs for run in runs), 1)
        self.n_updates_ = sum(len(run.sequence) for run in runs)
        self._votes = [_votes(run, used) for run in runs] if self.output == "voted" else None
        self._bias_scale = runs[0].problem.bias.scale
        clocks = np.array([run.clock for run in runs], dtype=np.int64)
        self.t_ = int(clocks.max())
        self._stream = None
        if isinstance(kernel, Linear):
            self._stream = PerceptronStream(
                np.array([run.w for run in runs]), np.array([run.u for run in runs]), clocks
            )
        for name, items in (
            ("mistakes_", [run.sequence for run in runs]),
            ("witness_", [_witness(run) for run in runs]),
            ("mistake_bound_", [self._bound(run) for run in runs]),
        ):
            setattr(self, name, items[0] if is_binary else tuple(items))

    def _bound(self, run: Run) -> Bound | None:
        """(ρ/γ)² with the margin that was given, or with that of the hard-margin solver's hyperplane."""
        if self.margin is None:
            return None
        gamma = self.margin
        if gamma == "compute":
            certificate = solve(run.problem, tol=1e-6).certificate
            if certificate is None or not np.isfinite(certificate.primal):
                return None
            gamma = 1.0 / np.sqrt(2.0 * certificate.primal)  # of a hyperplane that was found: no larger than the best
        rho = _radius(run.problem)
        return perceptron_updates(rho=rho, gamma=min(float(gamma), rho))

    def _why_uncertified(self) -> str:
        return "A perceptron minimises nothing, so it has no gap to certify. Where it separates, witness_ proves it."

    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        raise NotSupportedError(self._why_uncertified())

    # -- predict -------------------------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        if self._votes is None:
            return super()._scores(X)
        out = np.empty((X.shape[0], len(self._votes)))
        longest = max(len(votes) for _, _, votes in self._votes)
        step = max(1, PREDICT_BYTES // (8 * max(longest, 1)))
        for start in range(0, X.shape[0], step):
            K = self.kernel_.block(X[start : start + step], self._reference, dtype=np.float64) + self._bias_scale**2
            for k, (samples, signs, votes) in enumerate(self._votes):
                versions = np.cumsum(K[:, samples] * signs, axis=1)  # F of each version of w
                out[start : start + step, k] = np.where(versions > 0, 1.0, -1.0) @ votes
        return out


def _model(run: Run, vector: Floats) -> tuple[Floats, float]:
    """(w, b) of a vector with its constant feature."""
    s = run.problem.bias.scale
    if run.problem.is_linear:
        return vector[:-1].copy(), s * float(vector[-1])
    return vector.copy(), s * s * float(vector.sum())


def _score(run: Run, sample: int) -> float:
    """F of one sample."""
    if run.gram is not None:
        return float(run.scores[sample])
    w, b = _model(run, run.w)
    row = run.problem.X[[sample]]
    return float((row @ w)[0]) + b


def _radius(problem: Problem) -> float:
    """ρ = max ‖φ̃_j‖."""
    return float(np.sqrt(problem.diag().max() + problem.bias.scale**2))


def _witness(run: Run) -> Separable | None:
    """The proof that w separates; None where it does not, or by less than rounding."""
    if not run.is_clean:
        return None
    w, b = _model(run, run.w)
    candidate = Candidate(w, b, np.zeros(run.problem.n))
    return separable_from(run.problem, candidate)


def _votes(run: Run, used: Indices) -> tuple[Indices, Floats, Floats]:
    """Of each version of w: which of the used samples made it, with which sign, and its share of the votes."""
    samples, lives = run.sequence, run.survivals()
    return np.searchsorted(used, samples), run.problem.y[samples], lives / max(int(lives.sum()), 1)


def _as_solution(run: Run, was_interrupted: bool) -> Solution:
    """What those who watch are told at the end."""
    status = Status.SOLVED if run.is_clean else Status.ITERATION_BUDGET
    ended = Solution(run.w, 0.0, run.w, status, n_iter=run.epochs, solver="Perceptron")
    return replace(ended, status=Status.INTERRUPTED) if was_interrupted else ended


def _is_positive(value: Any) -> bool:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return bool(is_number and 0 < value < np.inf)
