"""PegasosSVC: the soft margin by stochastic subgradient descent, on a data set or on a stream."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Problem, Regularization, certify
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import budget_from, check_flag, check_integer, check_tol, seed_from, soft
from maxmargin.estimators.multiclass.per_problem import store_solutions
from maxmargin.estimators.progress.callbacks import check_verbose
from maxmargin.estimators.stochastic.partial_fit import StreamLearner
from maxmargin.solvers import Budget, Pegasos
from maxmargin.solvers.stochastic.iterates import Counts, Iterates, step_through
from maxmargin.solvers.stochastic.samples import Samples, largest_square, split_bias
from maxmargin.typing import Floats, Indices, Matrix

FEWEST_EPOCHS = 1000
"""Epochs that ``n_epochs=None`` allows at least, and makes where ``tol`` is None."""

MOST_VALUES = 10**9
"""Stored values that ``n_epochs=None`` lets a fit visit beyond its fewest epochs: 5 s of one thread, 15 s for short rows."""


class PegasosStep(NamedTuple):
    """One step of Pegasos or SGD.

    Attributes
    ----------
    t : int
        Counted from 1.
    samples : array of int
        The batch that was looked at: one sample, as a rule.
    scores : array
        y F(x) of each, before the step: < 1 is a violation.
    is_violation : array of bool
    w, b
        After the step: what `fit` would return if it ended here (with a kernel w holds a coefficient for each sample).
    primal, dual : float
        P(w, b) and D(β) with the shares of violations so far, in the λ/2 form: the optimum lies between them.
    """

    t: int
    samples: Indices
    scores: Floats
    is_violation: Any
    w: Floats
    b: float
    primal: float
    dual: float


@dataclass(eq=False, repr=False, kw_only=True)
class PegasosSVC(StreamLearner):
    r"""The soft margin by Pegasos or SGD: cheap steps, each of which looks at one sample.

        min (λ/2)(‖w‖² + b²) + (1/n) Σ_j max(0, 1 − y_j(⟨w, φ(x_j)⟩ + b))

        step t:   w ← (1 − 1/t) w + (1/(λt)) y_j φ(x_j) if y_j F(x_j) < 1,  else  w ← (1 − 1/t) w

    The bias is the weight of a constant feature 1, and so is penalised. Stops when the relative duality gap, proved by the shares
    of violations as the dual point, is at most `tol`. More than two classes: one-vs-rest, in threads.

    Parameters
    ----------
    C : Regularization, float or None
        The trade-off, in any of its spellings; ``Regularization.pegasos(lam)`` is the λ above, None is λ = 1e-4. A float is
        scikit-learn's C.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or Kernel
        "linear" keeps w, every other kernel counts of violations.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn.
    method : {"pegasos", "sgd"}
        Pegasos: a fresh permutation each epoch (of more than 100 000 stored values 4 neighbours stay together). SGD:
        uniform draws, and w = θ/(λt) where Pegasos has θ/(λ(t − 1)), as in Shalev-Shwartz & Ben-David, section 15.5, whose
        output is the mean of all iterates (``average=True``).
    average : {"tail", True, False}
        The mean of the last iterates (an eighth of them at least, a third at most, whatever their number), of all, or the
        last one.
    n_epochs : int or None
        Epochs, at most. None: as many as make ρ²/(λ · tol) steps, the rate at which the suboptimality falls (ρ is the largest
        ‖φ(x)‖), but no more than some seconds take, and at least 1000; exactly 1000 where ``tol`` is None.
    batch_size : int
        Samples a step.
    project : bool
        Pegasos's optional projection to ‖w‖ ≤ 1/√λ.
    fit_intercept : bool
        False: the hyperplane passes through the origin.
    class_weight : dict, "balanced" or None
        Factors of the costs; "balanced" makes the (weighted) classes count the same.
    tol : float or None
        The relative duality gap to prove. None: all epochs are made, and the gap is only told.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    shuffle : bool
        False: Pegasos visits the samples as they come.
    n_jobs : int or None
        Threads for more than two classes.
    random_state : int, RandomState or None
        Of the order; None is 0.
    verbose : bool or int
        Show the gap while it falls, and how each problem ended, on stderr; levels above 0 show the same.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, n_iter_
        As in scikit-learn; `coef_` for the linear kernel only, `n_iter_` counts epochs.
    t_ : int
        Steps made: from here `partial_fit` goes on.
    certificate_, status_, solver_, trace_
        The proof, how the fit ended, which solver, its certified moments; tuples with `.worst` for more than two classes. A
        stream has none: its samples are gone.
    support_, dual_coef_
        The samples with a dual variable, and these: shares of violations times the cost, signed. With a kernel also
        `support_vectors_`.

    Notes
    -----
    Cost: O(non-zeros) an epoch, the average included; the suboptimality falls like 1/(λ · steps). Memory O(n + d) beside the
    data. A kernel costs n values a violation.

    Examples
    --------
    >>> from maxmargin import PegasosSVC, Regularization
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = PegasosSVC(C=Regularization.pegasos(0.1)).fit(X, y)
    >>> model.predict([[0.2, 0.2], [3.0, 2.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.certificate_.relative_gap <= 1e-2
    True
    """

    C: Any = None
    method: str = "pegasos"
    average: Any = "tail"
    n_epochs: int | None = None
    batch_size: int = 1
    project: bool = False
    class_weight: Any = None
    tol: float | None = 1e-2
    cache_size: Any = "auto"
    shuffle: bool = True
    verbose: int = False

    _rounds = "n_epochs"

    # -- fit -----------------------------------------------------------------------------------------------------

    def _checked_tol(self) -> float:
        check_verbose(self.verbose)
        return 0.0 if self.tol is None else check_tol(self.tol)

    def _solver(self, seed: int, n_threads: int) -> Pegasos:
        """The algorithm that the parameters describe; it checks `method`, `average` and `project` itself."""
        if not check_flag("shuffle", self.shuffle) and self.method == "sgd":
            raise InvalidInputError('shuffle=False is for method="pegasos": SGD draws its samples at random.')
        size, project = check_integer("batch_size", self.batch_size), check_flag("project", self.project)
        order = "uniform" if self.method == "sgd" else ("permuted" if self.shuffle else "given")
        return Pegasos(self.method, self.average, size, project, order, seed)

    def _trade_off(self) -> Regularization:
        return Regularization.pegasos(1e-4) if self.C is None else soft(self.C)

    def _allowance(self, problem: Problem) -> Budget:
        if self.n_epochs is None:
            n_epochs = FEWEST_EPOCHS if self.tol is None else max(FEWEST_EPOCHS, _epochs_for(problem, self.tol))
        else:
            n_epochs = check_integer("n_epochs", self.n_epochs, note=" or None")
        return budget_from(n_epochs, self.max_seconds, self.cache_size)

    def _store(self, X: Matrix, labels: Indices, problems: list[Problem], solutions: list[Any]) -> None:
        if self.tol is None:  # nothing was asked for, so nothing was missed
            solutions = [replace(s, certificate=replace(s.certificate, tol=None)) for s in solutions]
        store_solutions(self, solutions)
        betas, vectors = np.array([s.beta for s in solutions]), np.array([s.w for s in solutions])
        used = np.flatnonzero((betas if problems[0].is_linear else np.vstack([betas, vectors])).any(axis=0))
        self._store_vectors(X, problems[0].kernel, vectors, np.array([s.b for s in solutions]), used, keep=False)
        self.dual_coef_ = betas[:, used]
        self.n_iter_ = max(max(s.n_iter for s in solutions), 1)
        self.t_ = self.n_iter_ * -(-len(problems[0].present) // int(self.batch_size))
        self._stream: Any = None

    # -- streams -------------------------------------------------------------------------------------------------

    def _stream_state(self, n_samples: int) -> list[Iterates]:
        """The iterates of the last piece, or new ones, begun at the model of the last fit or at w = 0."""
        trade_off = self._trade_off()
        if trade_off.spelling in ("sum", "ridge"):
            what = f"C={self.C!r} depends on the number of samples, which a stream does not know."
            raise InvalidInputError(f"{what} Use Regularization.pegasos(lam), tikhonov(lam) or mean(C).")
        rule = self._solver(seed_from(self.random_state), 1).rule(1.0 / trade_off.cost(1.0))
        stream: list[Iterates] | None = getattr(self, "_stream", None)
        if stream is None or replace(stream[0].rule, average_from=0) != rule:
            models = np.zeros((len(self._sides()), self.n_features_in_ + 1))
            if hasattr(self, "intercept_"):
                models = np.column_stack([self.coef_, self.intercept_])
            stream = [Iterates.at(rule, w, getattr(self, "t_", 0)) for w in models]
        for iterates in stream:
            iterates.expect(-(-n_samples // int(self.batch_size)))
        return stream

    def _visit(self, stream: list[Iterates], samples: Samples, signed: list[Floats], visits: Indices) -> None:
        for iterates, own in zip(stream, signed, strict=True):
            step_through(iterates, Counts.none(len(own)), samples, own, visits)

    def _store_stream(self, stream: list[Iterates]) -> Floats:
        self.t_ = stream[0].t
        return np.array([iterates.output() for iterates in stream])

    def _why_uncertified(self) -> str:
        return "A model that was learned from a stream has no certificate, which needs all samples at once. Use fit."

    # -- lessons -------------------------------------------------------------------------------------------------

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[PegasosStep]:
        """Step after step, as `fit` makes them, until the gap is `tol` or the epochs end: for pictures and lessons.

        Two classes, small data: each step is judged from scratch. Changes nothing in the estimator.

        Examples
        --------
        >>> from maxmargin import PegasosSVC, Regularization
        >>> model = PegasosSVC(C=Regularization.pegasos(0.5), average=False, shuffle=False, fit_intercept=False)
        >>> for step in model.set_params(n_epochs=2, tol=None).steps([[1.0], [-2.0]], [1, 0]):
        ...     print(step.t, step.samples, step.is_violation, step.w, round(step.primal, 9))
        1 [0] [ True] [2.] 1.0
        2 [1] [False] [1.] 0.25
        3 [0] [False] [0.66666667] 0.277777778
        4 [1] [False] [0.5] 0.3125
        """
        copy, problem = self._lesson(X, y, sample_weight)
        tol, total = -1.0 if self.tol is None else float(self.tol), float(problem.cost.sum())
        solver = copy._solver(seed_from(self.random_state), 1)
        state = solver.init(problem, Budget.bytes, None)
        for _ in range(copy._allowance(problem).iterations or 0):
            order = next(state.visits)
            for batch in np.split(order, range(solver.batch, len(order), solver.batch)):
                w, b = split_bias(state.iterates.last(), problem)
                scores = problem.y[batch] * (problem.decision(w)[batch] + b)
                before = state.counts.table[batch, 1]
                step_through(state.iterates, state.counts, state.samples, state.signed, batch)
                candidate = solver.finish(state, tol)
                judged = certify(problem, candidate, tol=tol)
                yield PegasosStep(
                    state.iterates.t, batch, scores, state.counts.table[batch, 1] > before,
                    candidate.w, candidate.b, judged.primal / total, judged.dual / total,
                )  # fmt: skip
                if judged.relative_gap <= tol:
                    return


def _epochs_for(problem: Problem, tol: float) -> int:
    """Epochs that make ρ²/(λ · tol) steps, no more than MOST_VALUES allow.

    After so many the bound ρ²/(λ · steps) of the suboptimality (Shalev-Shwartz et al., 2011, up to its logarithm and constant) is
    tol times the objective of w = 0.
    """
    n = len(problem.present)
    most = MOST_VALUES // ((problem.X.size if problem.is_linear else n * n) + n)  # as if a visit took a value more
    per_epoch = tol / float(problem.cost.max())  # λ · tol · n, with λ = 1/(n · cost)
    square = largest_square(problem)
    return most if square >= most * per_epoch else int(np.ceil(square / per_epoch))
