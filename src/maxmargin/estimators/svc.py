"""SVC and HardMarginSVC: support vector machines with a kernel, each pair of classes by itself, and a proof."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from maxmargin.estimators.kernel_machine import KernelClassifier
from maxmargin.estimators.migration import check_probability

__all__ = ["SVC", "HardMarginSVC", "KernelClassifier"]


@dataclass(eq=False, repr=False)
class SVC(KernelClassifier):
    r"""The soft-margin support vector machine with a kernel: scikit-learn's SVC, with a proof.

        min ½‖w‖² + Σ_j c_j ℓ(y_j (⟨w, φ(x_j)⟩ + b)),        c_j = C · sample_weight_j · class_weight

    with the bias b free. Learning stops when the relative duality gap is proved to be at most `tol`. More than two classes:
    one-vs-one, in threads.

    Parameters
    ----------
    C : float or Regularization
        The trade-off, in any of its spellings; larger fits the samples more closely. ``inf`` is the hard margin, as in
        `HardMarginSVC`.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"}, callable or Kernel
        With "linear" the solvers of `LinearSVC` do the work: `solver_` says which, and why.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn; ``gamma="scale"`` counts sample weights.
    loss : {"hinge", "squared_hinge", "ramp"}
        max(0, 1 − z), its square, or min(1, max(0, 1 − z)), to which an outlier is worth no more than 1.
    fit_intercept : bool
        False: the hyperplane passes through the origin of the feature space.
    class_weight : dict, "balanced" or None
        Factors of the costs; "balanced" makes the (weighted) classes count the same.
    tol : float
        The relative duality gap to prove.
    max_iter : int
        Rounds of the solver; −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    solver : str or Solver
        "auto" or a name of the registry, such as "interior_point"; with the ramp it solves the convex steps, and "exact" searches
        the global optimum, for at most 30 samples.
    shrinking : bool
        Whether SMO may leave out samples for a while that seem settled. It changes the time, not the optimum; other solvers do
        not ask.
    decision_function_shape : {"ovr", "ovo"}
        For more than two classes: a column a class, or a pair of them.
    break_ties : bool
        For more than two classes: of classes with as many won pairs the one with the largest decision value, not the first.
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape and labels; C and the kernel may be others.
    n_jobs : int or None
        Threads of `fit` and of predictions; None takes as many as BLAS may use. The model does not depend on it.
    random_state : int, RandomState or None
        For solvers that draw; None is 0.
    verbose : bool or int
        Show the gap while it falls, and how each problem ended, on stderr; levels above 0 show the same.
    n_starts : int
        Ramp only: from how many points to descend. The first is the hinge's solution; the best end is kept.
    probability : bool
        False only: for probabilities use ``CalibratedClassifierCV(SVC(), ensemble=False)``.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_, intercept_, coef_, classes_, class_weight_, n_iter_, n_features_in_
        As in scikit-learn's SVC: sparse data make `dual_coef_` and `coef_` sparse; `coef_` is there for the linear kernel.
    certificate_ : Certificate
        The proof: primal and dual value, gap, KKT violation, groups, margin. A tuple with `.worst` for more than two classes.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.
    outliers_, objective_, objective_bound_
        Ramp only: the samples that the last convex step left out (their loss is 1), the ramp's objective, and a value that no
        model can be below: 0 unless ``solver="exact"`` proved more. A tuple for more than two classes. `certificate_` is that
        of the last convex step.
    kernel_ : Kernel
        With its parameters as numbers.

    Notes
    -----
    Cost: in time about (samples × support vectors) kernel values, each O(d), or with the RBF kernel O(entries that differ from
    their feature's usual value) where these are few; memory beside the data: `cache_size`, at most two and a half copies of the
    data in float32 (in float64 for tol < 1e-4), and 50 MB for tiles and vectors. Prediction: see `decision_function` and
    `predict`.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], ["out", "in", "in", "in", "out"]
    >>> model = SVC(C=10).fit(X, y)
    >>> model.predict([[0.1], [2.2]])
    array(['out', 'in'], dtype='<U3')
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    C: Any = 1.0
    _: KW_ONLY
    kernel: Any = "rbf"
    loss: str = "hinge"
    class_weight: Any = None
    tol: float = 1e-3
    shrinking: bool = True
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    n_starts: int = 1
    probability: bool = False

    def _checked_tol(self) -> float:
        if self.probability is not False:
            check_probability(self)
        return super()._checked_tol()


@dataclass(eq=False, repr=False, kw_only=True)
class HardMarginSVC(KernelClassifier):
    r"""The hard-margin support vector machine: of all separating hyperplanes the one furthest from the samples.

        min ½‖w‖²   subject to   y_j (⟨w, φ(x_j)⟩ + b) ≥ 1  for all j

    The margin is 1/‖w‖. Where no hyperplane separates the classes `fit` raises `NotSeparableError`, whose `witness` proves it.
    The same as ``SVC(C=inf)``. More than two classes: one-vs-one, so that each pair must be separable.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or Kernel
        Where to look for the hyperplane.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn.
    fit_intercept : bool
        False: the hyperplane passes through the origin.
    tol : float
        The relative duality gap to prove.
    max_iter : int
        Rounds of constraint generation (of the interior-point method, if that was asked for); −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    solver : str or Solver
        "auto", "constraint_generation" or "interior_point".
    decision_function_shape, break_ties
        For more than two classes, as in scikit-learn's SVC.
    verbose : bool or int
        Show the gap while it falls, and how each problem ended, on stderr; levels above 0 show the same.

    Attributes
    ----------
    coef_, intercept_, support_, support_vectors_, dual_coef_, n_support_, classes_, n_features_in_, n_iter_
        As in scikit-learn's SVC.
    certificate_ : Certificate
        The proof: primal and dual value, gap, KKT violation, groups, margin. A tuple with `.worst` for more than two classes.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.

    Notes
    -----
    Cost: a few passes over the data and small interior-point solves, about O(nnz + s³) for s support vectors a round; memory
    O(n + s²) beside the data.

    Examples
    --------
    >>> from maxmargin import HardMarginSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["left", "left", "right", "right"]
    >>> model = HardMarginSVC().fit(X, y)
    >>> model.predict([[1.4], [1.6]])
    array(['left', 'right'], dtype='<U5')
    >>> round(model.certificate_.margin, 9)
    0.5
    >>> HardMarginSVC().fit(X, ["left", "right", "left", "right"])
    Traceback (most recent call last):
    ...
    maxmargin.errors.NotSeparableError: No hyperplane separates 'right' from 'left'. Not separable: weighted means of the two
    classes coincide, shown by 3 samples. Use a soft margin, or another kernel.
    """

    tol: float = 1e-6
