"""HardMarginSVC: the widest street between two classes, or the proof that there is none."""

from typing import Any

from maxmargin.estimators.kernel_machine import KernelClassifier


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
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    solver : str or Solver
        "auto", "constraint_generation" or "interior_point".
    decision_function_shape, break_ties
        For more than two classes, as in scikit-learn's SVC.
    verbose : bool
        Show the gap while it falls, and how each problem ended, on stderr.

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

    def __init__(
        self,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = -1,
        max_seconds: float | None = None,
        cache_size: Any = "auto",
        solver: Any = "auto",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.solver = solver
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.verbose = verbose
