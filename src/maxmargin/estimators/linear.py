"""LinearSVC: the linear support vector machine, with a free bias and a proof; and its L1 penalty over a range of C.

Where the first feature enters along C, and in which order the others do: `l1_min_c`, `l1_path`.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from maxmargin.analysis.critical_cost import critical_cost
from maxmargin.core import Bias, Candidate, Certificate, Problem, Regularization, products
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import bias_from, check_choice, check_tol, soft
from maxmargin.estimators.migration import SparseCoef, check_one_way
from maxmargin.estimators.multiclass.crammer_singer import OneVsRestOrJoint
from maxmargin.estimators.multiclass.one_vs_rest import labels_from, largest
from maxmargin.kernels import Kernel, Linear
from maxmargin.solvers import solve
from maxmargin.typing import Floats, Indices, Matrix

SPAN = 100.0
"""By default a path goes from the critical C to this many times as much."""


@dataclass(eq=False, repr=False)
class LinearSVC(SparseCoef, OneVsRestOrJoint):
    r"""The linear soft-margin support vector machine.

        min ½‖w‖² + Σ_j c_j ℓ(y_j (⟨w, x_j⟩ + b)),        c_j = C · sample_weight_j · class_weight

    with the bias b free (unpenalised), which LIBLINEAR cannot do with the hinge. Learning stops when the relative duality gap is
    proved to be at most `tol`. More than two classes: one-vs-rest, in threads; or all of them in one problem (`multi_class`).

    Parameters
    ----------
    penalty : {"l2", "l1"}
        ½‖w‖², or ‖w‖₁: few features get a weight, the others exactly zero.
    loss : {"hinge", "squared_hinge", "ramp"}
        max(0, 1 − z), its square, or min(1, max(0, 1 − z)), to which an outlier is worth no more than 1.
    C : float or Regularization
        The trade-off, in any of its spellings; larger fits the samples more closely. With the L1 penalty λ stands before
        ‖w‖₁: ``Regularization.ridge(lam)`` is Σξ + λ‖w‖₁.
    fit_intercept : bool
        False: the hyperplane passes through the origin.
    intercept_scaling : float or None
        None leaves the bias free. A number s penalises it as the weight of a constant feature s, as LIBLINEAR does.
    class_weight : dict, "balanced" or None
        Factors of the costs; "balanced" makes the (weighted) classes count the same.
    tol : float
        The relative duality gap to prove.
    max_iter : int
        Rounds of the solver (sweeps of "dual_cd", Newton steps of "proximal_newton", linear programs of "linear_program",
        rounds of three or six sweeps of "primal_cd", nodes of "exact"); −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    solver : str or Solver
        "auto"; for L2 "dual_cd", "proximal_newton" or "interior_point"; for L1 "primal_cd" or, with the hinge, "linear_program".
        With the ramp they solve its convex steps; "exact" searches its global optimum, for at most 30 samples.
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape and classes.
    n_jobs : int or None
        Threads; None takes as many as BLAS may use. The model does not depend on it. More than two classes go to joblib's
        backend instead where one is chosen that shares no memory (``joblib.parallel_config``).
    random_state : int, RandomState or None
        Of the visiting order of "dual_cd"; None is 0.
    verbose : bool or int
        Show the gap while it falls, and how each problem ended, on stderr; levels above 0 show the same.
    n_starts : int
        Ramp only, as in `SVC`: from how many points to descend.
    dual : "auto", True or False
        No effect: every solver reaches the same proved optimum. scikit-learn's programs pass it.
    multi_class : {"ovr", "crammer_singer"}
        More than two classes one-vs-rest, or in one problem, that of Crammer and Singer (hinge and L2 only):
        ½ Σ_m ‖w_m‖² + Σ_j c_j max_m (1 − [m = y_j] + F_m(x_j) − F_{y_j}(x_j)), with one certificate.
    probability : bool
        False only: for probabilities use ``CalibratedClassifierCV(LinearSVC(), ensemble=False)``.

    Attributes
    ----------
    coef_ : array (1, d) or (n_classes, d)
    intercept_ : array (1,) or (n_classes,)
    support_, dual_coef_
        The samples with a dual variable, and these, signed: (1, n_SV) or (n_classes, n_SV). Those of one joint problem sum up to
        0 for each sample.
    certificate_, status_, solver_, trace_
        The proof, how the fit ended, which solver and why, its certified moments; tuples with `.worst` for more than two classes.
    outliers_, objective_, objective_bound_
        Ramp only, as in `SVC`: the samples that were left out, the objective, and a value that no model can be below.
        `certificate_` is then that of the last convex step.
    classes_, n_features_in_, n_iter_
        As in scikit-learn.

    Notes
    -----
    Cost: O(non-zeros) a round, in time linear in their number; memory O(n + d) beside the data, which are not copied (float32
    stays float32).

    Examples
    --------
    >>> from maxmargin import LinearSVC
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC(C=10).fit(X, y)
    >>> model.predict([[0.2, 0.2], [3.0, 2.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    penalty: str = "l2"
    loss: str = "hinge"
    _: KW_ONLY
    C: Any = 1.0
    fit_intercept: bool = True
    intercept_scaling: float | None = None
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int = -1
    max_seconds: float | None = None
    solver: Any = "auto"
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = False
    n_starts: int = 1
    dual: Any = "auto"
    multi_class: str = "ovr"
    probability: bool = False

    _takes_backends = _may_be_solved_at_once = True

    def _checked_tol(self) -> float:
        if (self.dual, self.probability) != ("auto", False):
            check_one_way(self)
        return super()._checked_tol()

    # -- fit -----------------------------------------------------------------------------------------------------

    def _resolved_kernel(self, X: Matrix, weights: Floats) -> Kernel:
        return Linear()

    def _trade_off(self) -> Regularization:
        return soft(self.C)

    def _bias(self) -> Bias:
        return bias_from(self.fit_intercept, self.intercept_scaling)

    # -- predict -------------------------------------------------------------------------------------------------

    def certified_predictions(self, X: Any) -> tuple[Any, Any]:
        """(labels, is_certain): the predictions, and which of them cannot change between this model and the exact optimum.

        The exact optimum lies in a ball of radius √gap about this model, so its F(x) has an interval; a label is certain where
        the whole interval agrees with it. A smaller `tol` makes more of them certain. With the L1 penalty or the ramp loss
        there is no such ball, and none is; nor where several classes in one problem have free biases.

        Examples
        --------
        >>> from maxmargin import LinearSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> labels, is_certain = LinearSVC(tol=1e-8).fit(X, y).certified_predictions([[0.0], [2.9]])
        >>> labels, is_certain
        (array([0, 1]), array([ True,  True]))
        """
        X, coef = self._checked(X), products.dense_rows(self.coef_)
        scores = np.asarray(products.scores(X, coef.T))
        labels = labels_from(self._shaped(scores + self.intercept_), self.classes_)
        if self.is_joint:
            return labels, self._are_certain(X, scores, np.array([products.score_errors(X, w) for w in coef]).T)
        if not self._balls:
            return labels, np.zeros(len(labels), dtype=bool)
        lengths, ends = products.lengths_above(X), []
        for ball, f, w in zip(self._balls, scores.T, coef, strict=True):
            ends.append(ball.interval(f, products.score_errors(X, w, lengths), lengths))
        lower, upper = np.swapaxes(ends, 0, 1)
        if len(self.classes_) == 2:
            return labels, np.where(labels == self.classes_[1], lower[0] > 0, upper[0] < 0)
        return labels, largest((scores + self.intercept_).T, lower, upper).is_certain


# -- the L1 penalty over a range of C --------------------------------------------------------------------------------


@dataclass(frozen=True)
class L1Path:
    """The models of a path, from the smallest C to the largest.

    Attributes
    ----------
    Cs : array (k,)
    coef : array (k, d)
    intercept : array (k,)
    certificates : tuple of Certificate
        The proof of each.
    entered_at : array (d,)
        The smallest C of the path at which a feature has a weight; ∞ if it has none anywhere.

    Examples
    --------
    >>> from maxmargin import l1_path
    >>> path = l1_path([[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], [0, 0, 1, 1], Cs=[0.2, 10.0])
    >>> path.entered_at
    array([10., 10.])
    """

    Cs: Floats
    coef: Floats
    intercept: Floats
    certificates: tuple[Certificate, ...]
    entered_at: Floats

    @property
    def entry_order(self) -> Indices:
        """The features with a weight, in the order in which they enter; of those at the same C the larger weight first."""
        at = np.searchsorted(self.Cs, self.entered_at)
        entered = np.flatnonzero(at < len(self.Cs))
        size = np.abs(self.coef[at[entered], entered])
        return entered[np.lexsort((-size, at[entered]))]

    @property
    def n_features(self) -> Indices:
        """How many features have a weight, at each C."""
        return np.asarray(np.count_nonzero(self.coef, axis=1))


def l1_min_c(
    X: Any,
    y: Any,
    *,
    loss: str = "hinge",
    fit_intercept: bool = True,
    intercept_scaling: float | None = None,
    class_weight: Any = None,
    sample_weight: Any = None,
) -> float:
    """The largest C at which ``LinearSVC(penalty="l1")`` keeps every weight at zero; above it some feature enters.

    Without a bias, or with classes of equal weight, it is 1/‖Σ s_j y_j x_j‖_∞ for the hinge (s: the weights); with a free bias
    and unequal classes a small linear program. Of several classes, one-vs-rest, the smallest value. Cost: a pass over the data a
    class, or such programs. scikit-learn's function of this name is for the squared hinge and penalises the bias. X, y and
    sample_weight are those of `LinearSVC.fit`; loss, fit_intercept, intercept_scaling and class_weight are those of `LinearSVC`.

    Examples
    --------
    >>> from maxmargin import LinearSVC, l1_min_c
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], [0, 0, 1, 1]
    >>> l1_min_c(X, y)
    0.25
    >>> [LinearSVC("l1", C=C).fit(X, y).coef_.any().item() for C in (0.249, 0.251)]
    [False, True]
    """
    model = _at_one(loss, fit_intercept, intercept_scaling, class_weight)
    return min(map(critical_cost, model._problems(*model._validated(X, y, sample_weight))))


def l1_path(
    X: Any,
    y: Any,
    *,
    Cs: Any = 30,
    loss: str = "hinge",
    fit_intercept: bool = True,
    intercept_scaling: float | None = None,
    class_weight: Any = None,
    sample_weight: Any = None,
    tol: float = 1e-6,
) -> L1Path:
    """Train ``LinearSVC(penalty="l1")`` over a grid of C, each model begun at the last one.

    min ‖w‖₁ + C Σ_j s_j ℓ(y_j F_j) for two classes. Cost: a few linear programs (hinge) or sweeps (squared hinge) a C.

    Parameters
    ----------
    X, y, sample_weight
        As in `LinearSVC.fit`.
    Cs : int or array
        The values, or how many of them, evenly spaced in logarithms from the critical C (`l1_min_c`) to 100 times that.
    loss : {"hinge", "squared_hinge"}
    fit_intercept, intercept_scaling, class_weight, tol
        As in `LinearSVC`.

    Examples
    --------
    >>> from maxmargin import l1_path
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], [0, 0, 1, 1]
    >>> path = l1_path(X, y, Cs=[0.2, 0.3, 10.0])
    >>> path.n_features, path.entry_order
    (array([0, 1, 2]), array([0, 1]))
    """
    tol = check_tol(tol)
    unit = _at_one(loss, fit_intercept, intercept_scaling, class_weight)._binary_problem("A path is for", X, y, sample_weight)
    grid = _grid(Cs, unit)
    warm: Candidate | None = None
    solutions = []
    for k, C in enumerate(grid):
        if warm is not None:
            warm = Candidate(warm.w, warm.b, warm.beta * (C / grid[k - 1]))  # what was at its bound stays there
        warm = solve(replace(unit, cost=C * unit.cost), tol=tol, warm=warm)
        solutions.append(warm)
    coef, intercept = np.array([solution.w for solution in solutions]), np.array([solution.b for solution in solutions])
    has_weight = coef != 0.0
    first = np.where(has_weight.any(axis=0), grid[np.argmax(has_weight, axis=0)], np.inf)
    certificates = tuple(solution.certificate for solution in solutions if solution.certificate is not None)
    return L1Path(grid, coef, intercept, certificates, first)


def _grid(Cs: Any, unit: Problem) -> Floats:
    if isinstance(Cs, int | np.integer) and not isinstance(Cs, bool):
        least = critical_cost(unit)
        if Cs < 1 or not np.isfinite(least):
            raise InvalidInputError(f"A path needs at least one C, and a feature that enters; got Cs={Cs} and l1_min_c={least}.")
        return np.asarray(np.geomspace(least, SPAN * least, int(Cs)))
    grid = np.asarray(Cs, dtype=np.float64)
    if grid.ndim != 1 or len(grid) == 0 or not (np.isfinite(grid) & (grid > 0)).all() or (np.diff(grid) <= 0).any():
        raise InvalidInputError(f"Cs must be a number of values, or positive numbers that rise, got {Cs!r}.")
    return grid


def _at_one(loss: str, intercept: bool, scaling: Any, class_weight: Any) -> LinearSVC:
    """The machine with the L1 penalty at C = 1."""
    check_choice("loss", loss, ("hinge", "squared_hinge"))
    return LinearSVC("l1", loss, fit_intercept=intercept, intercept_scaling=scaling, class_weight=class_weight)
