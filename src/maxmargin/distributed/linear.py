"""LinearSVC on Dask: the linear support vector machine past one machine, with the same proof."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import Solution, Status, loss_from_name, products
from maxmargin.distributed.cocoa import cocoa
from maxmargin.distributed.course import Course, Rounds
from maxmargin.distributed.inputs import Survey, lazy_rows, partitions_of, surveyed, widened
from maxmargin.distributed.newton import newton_from_parts, sampled
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.block import Crew, Plan
from maxmargin.distributed.workers.dask_cluster import crew_for
from maxmargin.errors import NotSupportedError
from maxmargin.estimators import base
from maxmargin.estimators.base import bias_from, soft
from maxmargin.estimators.multiclass.one_vs_rest import OneVsRest, labels_from
from maxmargin.estimators.multiclass.per_problem import store_solutions
from maxmargin.estimators.progress.callbacks import Digits, check_verbose, watching
from maxmargin.estimators.training_data import class_factors
from maxmargin.solvers import Clock, Observer
from maxmargin.solvers.linear.proximal_newton import first_size
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats


@dataclass(repr=False, eq=False)
class LinearSVC(OneVsRest):
    r"""The linear soft-margin support vector machine on Dask collections, or on files that the workers read.

        min ½‖w‖² + Σ_j c_j ℓ(y_j (⟨w, x_j⟩ + b)),        c_j = C · sample_weight_j · class_weight

    The optimum is that of `maxmargin.LinearSVC`, and so is the proof: learning stops when the relative duality gap, computed by
    sums over all partitions, is at most `tol`. It runs on the workers of the current Dask client; without one, in threads of
    this process. More than two classes: one-vs-rest, all of them in one pass over the data.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}
        max(0, 1 − z), or its square.
    C : float or Regularization
        The trade-off, in any of its spellings.
    class_weight : dict, "balanced" or None
        Factors of the costs.
    fit_intercept : bool
        False: the hyperplane passes through the origin.
    intercept_scaling : float or None
        None leaves the bias free. A number s penalises it as the weight of a constant feature s.
    tol : float
        The relative duality gap to prove.
    max_iter : int
        Rounds, each of which reads every partition; −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`.
    keep : bool or None
        True: the partitions stay in the workers' memory. False: they are read or computed anew in each round, one at a time in
        each thread. None: they stay if they take at most a third of the memory.
    n_blocks : int or None
        The samples are divided into so many blocks, at most one a partition, which are improved at the same time. None: one for
        each thread of the workers. Fewer blocks take fewer rounds.
    n_jobs : int or None
        Threads where there is no client; None takes as many as BLAS may use.
    random_state : int, RandomState or None
        Of visiting orders and samples; None is 0. The same partitions, blocks and seed give the same model.
    verbose : bool or int
        Show the gap while it falls, on stderr; levels above 0 show the same.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, n_iter_
        As in scikit-learn; the last counts rounds.
    certificate_, status_, solver_, trace_
        The proof, how the fit ended, which method and why, its certified moments; tuples with `.worst` for more than two classes.
    n_bytes_ : int
        Of all commands sent to blocks and of all answers.
    n_moved_, n_lost_ : int
        How often a block had to be set up on another worker, and how often dual variables were lost by that.
    is_kept_ : bool
        Whether the partitions stayed in memory.

    Notes
    -----
    Cost of a round: one pass over each block, and 8(d + 1) bytes there and back for each block and class; up to 1000 features
    back 8(d + 1)² bytes. The dual variables stay on the workers, so there is no `dual_coef_`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from maxmargin.distributed import LinearSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> y = da.from_array(np.where(X[:, 0] > 0.2, "yes", "no"), chunks=250)
    >>> model = LinearSVC().fit(da.from_array(X, chunks=(250, 5)), y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> labels = model.predict(da.from_array([[1.0, 0, 0, 0, 0], [-1.0, 0, 0, 0, 0]]))
    >>> labels.compute()
    array(['yes', 'no'], dtype='<U3')
    """

    loss: str = "hinge"
    _: KW_ONLY
    C: Any = 1.0
    class_weight: Any = None
    fit_intercept: bool = True
    intercept_scaling: float | None = None
    tol: float = 1e-3
    max_iter: int = -1
    max_seconds: float | None = None
    keep: bool | None = None
    n_blocks: int | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = False

    # -- fit -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        X : Dask array, Dask dataframe, list of paths, or array-like
            Dask arrays are cut along their rows; their blocks are dense or CSR. Files are svmlight (features counted from 1 on),
            Parquet, npz or CSV, each one a partition that a worker reads. Anything else is one partition.
        y : Dask array or series, str, or array-like
            The labels, cut as X is. For dataframes and files it may be the name of a column (of an array in npz files); for files
            None is the last column, or "y".
        sample_weight : like y, optional
            0 leaves a sample out. For files a list with an array for each.
        """
        with base.unchanged_by_errors(self):
            was_interrupted = self._fit(X, y, sample_weight)
        if was_interrupted:
            raise KeyboardInterrupt
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> bool:
        tol = base.check_tol(self.tol)
        base.check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        check_verbose(self.verbose)
        bias, trade_off = bias_from(self.fit_intercept, self.intercept_scaling), soft(self.C)
        keep = None if self.keep is None else base.check_flag("keep", self.keep)
        n_blocks = None if self.n_blocks is None else base.check_integer("n_blocks", self.n_blocks, note=" or None")
        clock, seed = Clock(base.budget_from(self.max_iter, self.max_seconds)), base.seed_from(self.random_state)
        crew = crew_for(partitions_of(X, y, sample_weight), keep, n_blocks, self.n_jobs)
        try:
            facts = surveyed(crew.survey())
            classes = self.classes_ = facts.classes
            self.n_features_in_, self.shape_fit_ = facts.n_features, (facts.n, facts.n_features)
            self.__dict__.pop("feature_names_in_", None)
            if facts.names is not None:
                self.feature_names_in_ = np.array(facts.names, dtype=object)
            factors = class_factors(self.class_weight, classes, np.arange(len(classes)), facts.totals)
            cost = trade_off.cost(float(facts.totals.sum())) * factors
            positives, loss = tuple(positive for positive, _ in self._opponents()), loss_from_name(self.loss)
            plan = Plan(classes, cost, positives, facts.n_features, loss, bias, crew.keep, crew.n_blocks, seed)
            crew.prepare(plan)
            self.class_weight_ = factors
            return self._train(crew, plan, facts, tol, clock)
        finally:
            crew.close()

    def _train(self, crew: Crew, plan: Plan, facts: Survey, tol: float, clock: Clock) -> bool:
        nothing, names = np.empty(0), self._problem_names()
        with watching(self, nothing, partial(self._as_given, nothing.astype(np.intp)), nothing, tol, names) as watch:
            for k in range(len(names)):
                watch.begin(k)
            observers = [watch.observer(k, Digits(tol).share) for k in range(len(names))]
            solutions, self.n_lost_ = run(crew, plan, facts, tol, clock, observers)
            for k, solution in enumerate(solutions):
                watch.end(k, solution)
            self.coef_ = np.array([solution.w for solution in solutions])
            self.intercept_ = np.array([solution.b for solution in solutions])
            self.n_iter_ = max(clock.rounds, 1)
            store_solutions(self, solutions)
            self.n_bytes_, self.n_moved_, self.is_kept_ = crew.n_bytes, crew.n_moved, crew.keep
        self._warn(solutions, tol)
        return any(solution.status is Status.INTERRUPTED for solution in solutions)

    # -- predict -------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Any:
        """F(x) = ⟨w, x⟩ + b, lazily for Dask collections and files: positive for ``classes_[1]``; else one column a class."""
        check_is_fitted(self, "coef_")
        rows, model = lazy_rows(X, self.n_features_in_), (self.coef_, self.intercept_)
        if rows is None:
            return super().decision_function(X)
        if len(self.coef_) == 1:
            return rows.map_blocks(scores_of, *model, drop_axis=1, meta=np.empty(0))
        return rows.map_blocks(scores_of, *model, chunks=(rows.chunks[0], (len(self.coef_),)), meta=np.empty((0, 0)))

    def predict(self, X: Any) -> Any:
        """The labels, lazily for Dask collections and files."""
        F, classes = self.decision_function(X), self.classes_
        if isinstance(F, np.ndarray):
            return labels_from(F, classes)
        return F.map_blocks(labels_from, classes, drop_axis=list(range(1, F.ndim)), meta=np.empty(0, classes.dtype))

    def _candidates(self, X: Any, labels: Any, weights: Any) -> Any:
        raise NotSupportedError("maxmargin.distributed.LinearSVC keeps no dual variables to judge; its proof is certificate_.")


def scores_of(X: Any, coef: Floats, intercept: Floats) -> Floats:
    """F of each row; one column a class for more than two."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    F = np.asarray(products.scores(widened(X, coef.shape[1]), coef.T) + intercept)
    return F.ravel() if len(intercept) == 1 else F


def run(
    crew: Crew, plan: Plan, facts: Survey, tol: float, clock: Clock, observers: Sequence[Observer]
) -> tuple[list[Solution], int]:
    """(A solution of each binary problem, how often dual variables were lost). Ctrl-C ends all of them with the best so far."""
    rounds = Rounds(crew, clock, len(observers))
    courses = [Course(rounds, plan, facts, k, tol, observe) for k, observe in enumerate(observers)]
    method: Callable[[Course], None] = cocoa
    how = "each improves its own dual variables"
    if not plan.is_wide:
        bytes_per_row = 12 * facts.n_values // facts.n + 1
        size = min(first_size(facts.n, facts.n_features), facts.n // 4, TUNING.alone_bytes / 2 // bytes_per_row)
        parts = crew.ask({0: (sampled, size / facts.n)})[0]["parts"]
        method, how = partial(newton_from_parts, parts=parts), "sums of d × d equations"
    why = f"{facts.n_present} samples with {plan.n_features} features on {plan.n_blocks} blocks: {how}"
    # one thread of BLAS: the vectors are short, and the blocks need the other threads
    with one_blas_thread(), ThreadPoolExecutor(len(courses), thread_name_prefix="maxmargin-course") as pool:
        running = [pool.submit(course.until_done, method, why) for course in courses]
        with suppress(KeyboardInterrupt):
            wait(running, return_when=FIRST_EXCEPTION)
        rounds.status = Status.INTERRUPTED  # for those that have not ended
        return [solution.result() for solution in running], sum(course.n_lost for course in courses)
