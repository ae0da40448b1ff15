"""Perceptron: the first algorithm that learned a hyperplane from its mistakes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from maxmargin.analysis.bounds import Bound, perceptron_updates
from maxmargin.analysis.separability import separable_from
from maxmargin.analysis.witness import Separable
from maxmargin.core import Candidate, Problem
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_choice, check_flag, is_number, seed_from
from maxmargin.estimators.multiclass.per_problem import Train, alone
from maxmargin.estimators.progress.callbacks import warn_of_mistakes
from maxmargin.estimators.stochastic.partial_fit import StreamLearner
from maxmargin.kernels.tiles import TILE_ROWS, rows_that_fit
from maxmargin.solvers import Clock, Event, solve
from maxmargin.solvers.stochastic.perceptron import Run, train, visit_samples
from maxmargin.solvers.stochastic.samples import Samples, largest_square, split_bias
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


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(StreamLearner):
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

    eta: float = 1.0
    max_iter: int = 1000
    output: str = "last"
    margin: Any = None
    shuffle: bool = True

    # -- fit -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Train on samples X and labels y, as the other classifiers do; a perceptron has no use for weights."""
        return super().fit(X, y)

    def _checked_tol(self) -> float:
        """0: an epoch without a mistake."""
        check_choice("output", self.output, ("last", "averaged", "voted"))
        check_flag("shuffle", self.shuffle)
        if not (is_number(self.eta) and 0 < self.eta < np.inf):
            raise InvalidInputError(f"eta is the learning rate and must be a positive number, got {self.eta!r}.")
        if is_number(self.margin) and not 0 < self.margin < np.inf:
            raise InvalidInputError(f'margin must be a positive number, "compute" or None, got {self.margin!r}.')
        if not is_number(self.margin):
            check_choice("margin", self.margin, ("compute", None))
        return 0.0

    def _trainer(self, k: int, seed: int) -> Train:
        return partial(train, self.shuffle, seed)

    def _share(self, tol: float) -> Callable[[Event], float]:
        """The share of the epochs; all of it once one was clean."""
        return lambda event: event.iteration / max(self.max_iter, event.iteration + 1) if event.relative_gap else 1.0

    def _warn(self, solutions: list[Any], tol: float) -> None:
        warn_of_mistakes(type(self).__name__, [run.last_mistakes for run in solutions], self.n_iter_)

    def _store(self, X: Matrix, labels: Indices, problems: list[Problem], runs: list[Any]) -> None:
        stream = PerceptronStream(*(np.array([getattr(run, name) for run in runs]) for name in ("w", "u", "clock")))
        models = [split_bias(vector, problems[0]) for vector in self._output(stream)]
        counts = np.array([np.bincount(run.log[0], minlength=X.shape[0]) * run.problem.y for run in runs])
        used = np.flatnonzero(counts.any(axis=0))
        vectors, biases = (float(self.eta) * np.array(parts) for parts in zip(*models, strict=True))
        self._store_vectors(X, problems[0].kernel, vectors, biases, used, keep=True)
        self.dual_coef_ = float(self.eta) * counts[:, used]
        self.n_iter_ = max(max(run.epochs for run in runs), 1)
        self.n_updates_ = int(np.abs(counts).sum())
        self._votes = [_votes(run, used) for run in runs] if self.output == "voted" else None
        self.t_, self._bias_scale = int(stream.t.max()), problems[0].bias.scale
        self._stream = stream if problems[0].is_linear else None
        self.mistakes_ = alone([run.log[0] for run in runs])
        self.witness_ = alone([_witness(run) for run in runs])
        self.mistake_bound_ = alone([self._bound(problem) for problem in problems])

    def _bound(self, problem: Problem) -> Bound | None:
        """(ρ/γ)² with the margin that was given, or with that of the hard-margin solver's hyperplane."""
        if self.margin is None:
            return None
        gamma, rho = self.margin, float(np.sqrt(largest_square(problem)))
        if gamma == "compute":
            certificate = solve(problem, tol=1e-6).certificate
            if certificate is None or not np.isfinite(certificate.primal):
                return None
            gamma = 1.0 / np.sqrt(2.0 * certificate.primal)  # of a hyperplane that was found: no larger than the best
        return perceptron_updates(rho=rho, gamma=min(float(gamma), rho))

    def _why_uncertified(self) -> str:
        return "A perceptron minimises nothing, so it has no gap to certify. Where it separates, witness_ proves it."

    # -- streams -------------------------------------------------------------------------------------------------

    def _stream_state(self, n_samples: int) -> PerceptronStream:
        """Where the last piece or fit ended; w = 0 at the first."""
        self._checked_tol()
        if self.output == "voted" or self.margin is not None:
            what = f"output={self.output!r} with margin={self.margin!r} needs samples that a stream does not keep."
            raise InvalidInputError(f'{what} Use fit, or output="last" or "averaged" with margin=None.')
        if not hasattr(self, "intercept_"):
            self.n_updates_ = 0
            w, u = np.zeros((2, len(self._sides()), self.n_features_in_ + 1))
            return PerceptronStream(w, u, np.zeros(len(w), dtype=np.int64))
        stream: PerceptronStream | None = getattr(self, "_stream", None)
        if stream is None:
            raise InvalidInputError("It is not known where this perceptron stood, so that it cannot go on. Use fit first.")
        return PerceptronStream(stream.w.copy(), stream.u.copy(), stream.t.copy())

    def _visit(self, stream: PerceptronStream, samples: Samples, signed: list[Floats], visits: Indices) -> None:
        visits = visits[signed[0][visits] != 0]  # the others have no weight
        for own, w, u, t in zip(signed, *stream, strict=True):
            self.n_updates_ += visit_samples(samples, own, visits, int(t), w, u).shape[1]
        stream.t[:] += len(visits)

    def _store_stream(self, stream: PerceptronStream) -> Floats:
        self.witness_ = self.mistake_bound_ = alone([None] * len(stream.w))
        self._votes, self._bias_scale = None, self._bias().scale
        self.t_ = int(stream.t.max())
        return float(self.eta) * self._output(stream)

    def _output(self, stream: PerceptronStream) -> Floats:
        """The last w of each problem, or its mean over all visits."""
        return stream.w - stream.u / np.maximum(stream.t, 1)[:, None] if self.output == "averaged" else stream.w

    # -- lessons -------------------------------------------------------------------------------------------------

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
        copy, problem = self._lesson(X, y)
        run, clock = Run.start(problem, self.shuffle, seed_from(self.random_state)), Clock(copy._allowance(problem))
        eta, radius = float(self.eta), float(np.sqrt(largest_square(problem)))
        while not run.is_clean and clock.spent() is None:
            before = len(run.log[0])
            for sample in next(run.visits):
                w, b = split_bias(run.w, problem)
                score = eta * problem.y[sample] * (problem.decision(w)[sample] + b)
                is_mistake = bool(run.visit(np.array([sample])))
                updates = len(run.log[0])
                bound = radius / updates**0.5 if updates else np.inf
                w, b = split_bias(run.w, problem)
                yield PerceptronStep(run.epochs + 1, run.clock, int(sample), score, is_mistake, eta * w, eta * b, updates, bound)
            run.last_mistakes = updates - before
            run.epochs += 1
            clock.rounds += 1

    # -- predict -------------------------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        if self._votes is None:
            return super()._scores(X)
        out = np.empty((X.shape[0], len(self._votes)))
        step = rows_that_fit(max(len(votes) for _, _, votes in self._votes), TILE_ROWS)
        for start in range(0, X.shape[0], step):
            K = self.kernel_.block(X[start : start + step], self._reference, dtype=np.float64) + self._bias_scale**2
            for k, (samples, signs, votes) in enumerate(self._votes):
                versions = np.cumsum(K[:, samples] * signs, axis=1)  # F of each version of w
                out[start : start + step, k] = np.where(versions > 0, 1.0, -1.0) @ votes
        return out


def _witness(run: Run) -> Separable | None:
    """The proof that w separates; None where it does not, or by less than rounding."""
    candidate = Candidate(*split_bias(run.w, run.problem), np.zeros(run.problem.n))
    return separable_from(run.problem, candidate) if run.is_clean else None


def _votes(run: Run, used: Indices) -> tuple[Indices, Floats, Floats]:
    """Of each version of w: which of the used samples made it, with which sign, and its share of the votes."""
    samples, times = run.log
    lives = np.diff(times, append=run.clock + 1)  # the visits that each version lived through, that of its making included
    return np.searchsorted(used, samples), run.problem.y[samples], lives / max(int(lives.sum()), 1)
