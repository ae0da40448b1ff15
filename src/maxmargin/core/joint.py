"""Several classes in one problem (Crammer & Singer, JMLR 2001): a weight vector for each class, one slack for each sample.

    P(W, b) = ½ Σ_m ‖w_m‖² + Σ_j c_j max_m (e_jm + F_m(x_j) − F_{y_j}(x_j)),     F_m(x) = ⟨w_m, x⟩ + b_m,   e_jm = 1 − [m = y_j]
    D(β)    = Σ_j β_j^{y_j} − ½ Σ_m ‖w_m(β)‖²,     w_m(β) = Σ_j β_j^m x_j,     β_j^m ≤ c_j [m = y_j],   Σ_m β_j^m = 0

and Σ_j β_j^m = 0 for each class where its bias is free. With η_j^m = c_j [m = y_j] − β_j^m each sample has a point of a simplex:
η ≥ 0, Σ_m η_j^m = c_j. Those of the wrong classes say everything; that of the sample's own class is what is left of c_j.

For two classes it is the binary problem with the costs 2c and w = w_1 − w_0, at half of its value.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from maxmargin.core import products
from maxmargin.core.bias import Bias
from maxmargin.core.losses import Hinge
from maxmargin.errors import InvalidInputError
from maxmargin.kernels.tiles import distinct
from maxmargin.rounding import gamma
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(frozen=True, eq=False)
class JointProblem:
    """The linear machine of Crammer and Singer: data, classes, costs and bias, all frozen.

    Parameters
    ----------
    X : matrix (n, d)
        Dense or CSR, float32 or float64.
    labels : index array (n,)
        The class of each sample, 0 … k − 1.
    cost : array (n,)
        c_j ≥ 0 for each sample, finite. 0 = absent.
    n_classes : int
        k. Each class needs a sample with a positive cost.
    bias : Bias
        One for each class: free, penalised as the weight of a constant feature, or none.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core.joint import JointProblem
    >>> problem = JointProblem(np.eye(3), np.arange(3), np.ones(3), 3, Bias.none())
    >>> W = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]]) / 3
    >>> round(problem.primal(W, np.zeros(3)), 12), round(problem.dual(W.T), 12)
    (1.0, 1.0)
    """

    X: Matrix
    labels: Indices
    cost: Floats
    n_classes: int
    bias: Bias = field(default_factory=Bias.free)

    loss = Hinge()
    is_linear, is_hard, is_classification, has_one_class = True, False, True, False

    def __post_init__(self) -> None:
        if sp.issparse(self.X) and not self.X.has_canonical_format:
            object.__setattr__(self, "X", distinct(self.X))
        object.__setattr__(self, "labels", np.asarray(self.labels, dtype=np.intp))
        object.__setattr__(self, "cost", np.asarray(self.cost, dtype=np.float64))
        shapes = self.labels.shape, self.cost.shape
        if shapes != (self.X.shape[:1],) * 2:
            raise InvalidInputError(f"labels and cost must have one number for each of {self.X.shape[0]} samples, got {shapes}.")
        if not ((self.cost >= 0) & np.isfinite(self.cost)).all():
            raise InvalidInputError("cost must be ≥ 0 and finite for each sample; 0 leaves a sample out.")
        if len(np.unique(self.labels[self.cost > 0])) != self.n_classes or self.n_classes < 2:
            raise InvalidInputError(f"Each of at least two classes 0 … {self.n_classes - 1} needs a sample with a positive cost.")

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.labels)

    @cached_property
    def counted(self) -> Indices:
        """The samples with a positive cost."""
        return np.flatnonzero(self.cost > 0)

    @cached_property
    def squares(self) -> Floats:
        """‖x_j‖² for each sample: O(nnz), once."""
        return products.squares(self.X)

    @cached_property
    def lengths(self) -> Floats:
        """An upper bound of ‖x_j‖ for each sample."""
        return products.lengths_above(self.X, self.squares)

    def diag(self) -> Floats:
        """The squares, under the name that they have with kernels."""
        return self.squares

    def zeros(self) -> Floats:
        """β = 0, as W = 0 makes it."""
        return np.zeros((self.n, self.n_classes))

    def wrong(self) -> Floats:
        """e: 0 for the class of each sample and 1 for the others, (n, k)."""
        wrong = np.ones((self.n, self.n_classes))
        wrong[np.arange(self.n), self.labels] = 0.0
        return wrong

    def decision(self, W: Floats) -> Floats:
        """⟨w_m, x_j⟩, (n, k), without the biases: O(k · nnz)."""
        return np.asarray(products.scores(self.X, W.T))

    def combine(self, beta: Floats) -> Floats:
        """w_m(β), (k, d): O(k · nnz)."""
        return np.ascontiguousarray(products.combine(self.X, beta).T)

    def primal(self, W: Floats, b: Floats) -> float:
        """P(W, b)."""
        F = self.decision(W) + b
        own = F[np.arange(self.n), self.labels]
        constant = b / self.bias.scale if self.bias.kind == "penalized" else np.zeros(1)
        return float(0.5 * ((W * W).sum() + constant @ constant) + self.cost @ ((F + self.wrong()).max(axis=1) - own))

    def dual(self, beta: Floats) -> float:
        """D(β), for a β that satisfies the constraints: they are not checked."""
        W, sums = self.combine(beta), self.bias.scale * beta.sum(axis=0)
        return float(beta[np.arange(self.n), self.labels].sum() - 0.5 * ((W * W).sum() + sums @ sums))

    def biases(self, beta: Floats) -> Floats:
        """b_m = s² Σ_j β_j^m of penalised biases; 0 of others, whose best values the solver has to find."""
        return np.asarray(self.bias.scale**2 * beta.sum(axis=0))

    def feasible(self, beta: Floats) -> Floats:
        """β with the constraints satisfied up to rounding: clipped, scaled into c_j, its columns balanced."""
        return self.signed(self.shares(beta))

    def shares(self, beta: Floats) -> Floats:
        """η of the wrong classes that β means, made feasible up to rounding; 0 for the class of the sample."""
        shares = np.maximum(np.negative(beta, order="C"), 0.0)  # the bits of sums depend on the layout
        everybody = np.arange(self.n)
        shares[everybody, self.labels] = 0.0
        total = shares.sum(axis=1)
        too_many = np.flatnonzero(total > self.cost)
        shares[too_many] *= (self.cost[too_many] / total[too_many])[:, np.newaxis]
        return self._balanced(shares) if self.bias.is_free else shares

    def signed(self, shares: Floats) -> Floats:
        """β from the η of the wrong classes: −η, and their sum for the class of the sample."""
        beta = -shares
        beta[np.arange(self.n), self.labels] = shares.sum(axis=1)
        return beta

    def _balanced(self, shares: Floats) -> Floats:
        """Move η from class to class within samples until Σ_j β_j^m = 0 for each class.

        Samples that share out their cost between both classes give first: that costs nothing of first order at an optimum.
        """
        own = (np.arange(self.n), self.labels)
        full = shares.copy()
        full[own] = np.maximum(self.cost - shares.sum(axis=1), 0.0)
        excess = self.signed(shares).sum(axis=0)
        for _ in range(self.n_classes - 1):
            m, k = int(excess.argmax()), int(excess.argmin())
            amount = min(excess[m], -excess[k])
            rounding = gamma(self.n) * float(self.cost.sum())
            if amount <= rounding:
                break
            for may_give in (full[:, m] > 0.0, True):
                giving = np.where(may_give, full[:, k], 0.0)
                there = float(giving.sum())
                moved = giving * (min(amount, there) / there if there > 0.0 else 0.0)
                full[:, k] -= moved
                full[:, m] += moved
                amount -= float(moved.sum())
                if amount <= rounding:
                    break
            excess = np.bincount(self.labels, self.cost, self.n_classes) - full.sum(axis=0)
        full[own] = 0.0
        return np.maximum(full, 0.0)
