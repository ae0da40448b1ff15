"""The problem: the only definition of the objective.

    P(w, b) = Ω(w) + τb + Σ_j c_j ℓ(m_j),     m_j = r_j − y_j F_j,     F_j = ⟨w, φ(x_j)⟩ + b
    D(β)    = Σ_j (r_j α_j − c_j ℓ*(α_j)) − Ω*(w(β)),   α = β y in its box,   w(β) = Σ_j β_j φ(x_j),   Σβ = τ if b is free

ℓ is written as a function of the slack m; `Loss.value` takes z = 1 − m. In classification the target r is 1 and the total τ is 0.
Regression (ε-SVR) has each row twice, with y = ±1 and r = ±t − ε. One class has y = 1, r = 0, τ = 1 and b = −ρ. With `groups`
each group of samples has its own b and its own τ that its β sum up to: ν-SVC has r = 0, the classes as groups, totals ±½ and b∓ρ.

A **vector of the feature space** is an array: the d weights where the kernel is linear, else n coefficients v of Σ_j v_j φ(x_j).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core import products
from maxmargin.core.bias import Bias as Bias
from maxmargin.core.losses import Hinge, Loss
from maxmargin.core.penalties import L1, L2, Penalty
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernel_matrix.tiles import PackedRows
from maxmargin.kernels import Kernel, Linear
from maxmargin.kernels.tiles import distinct, row_width, rows_that_fit
from maxmargin.rounding import exact_sum, gamma
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(frozen=True, eq=False)
class Problem:
    """A support vector machine to be trained: data, loss, penalty, kernel, costs and bias, all frozen.

    Parameters
    ----------
    X : matrix (N, d)
        Dense or CSR, float32 or float64; for a precomputed kernel the (N, N) Gram matrix.
    y : array (n,)
        Labels −1 and +1.
    cost : array (n,)
        c_j ≥ 0 for each sample; all of the positive ones finite, or all infinite (the hard margin). 0 = absent.
    loss, penalty, kernel, bias
        What is minimised; the kernel must be resolved (no ``gamma="scale"``).
    rows : index array (n,), optional
        Which rows of X are the samples; all of them by default. Choosing rows copies nothing.
    target : array (n,), optional
        r_j, the margin that a sample is to reach; 1 for all of them by default.
    total : float ≥ 0
        τ, which Σβ is to be; needs a free bias where it is not 0.
    groups, totals : arrays (n,) of 0 … G − 1 and (G,), optional
        Each group of samples has a free bias of its own, and its β sum up to its total; b is then an array (G,).
    shared : KernelMatrix, optional
        That of all rows of X: what it holds ready serves all problems on the same data.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> problem = Problem(X, np.array([-1.0, -1.0, 1.0, 1.0]), cost=np.full(4, 10.0))
    >>> problem.primal(np.array([2.0]), -3.0), problem.dual(np.array([0.0, -2.0, 2.0, 0.0]))
    (2.0, 2.0)
    """

    X: Matrix
    y: Floats
    cost: Floats
    loss: Loss = field(default_factory=Hinge)
    penalty: Penalty = field(default_factory=L2)
    kernel: Kernel = field(default_factory=Linear)
    bias: Bias = field(default_factory=Bias.free)
    rows: Indices | None = None
    target: Floats | None = None
    total: float = 0.0
    groups: Indices | None = None
    totals: Floats | None = None
    shared: KernelMatrix | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if sp.issparse(self.X) and not self.X.has_canonical_format:  # entries of one place are one number from here on
            object.__setattr__(self, "X", distinct(self.X))
        n = self.X.shape[0] if self.rows is None else len(self.rows)
        for name in ("y", "cost") if self.target is None else ("y", "cost", "target"):
            array = np.asarray(getattr(self, name), dtype=np.float64)
            if array.shape != (n,):
                raise InvalidInputError(f"{name} must have one number for each of the {n} samples, got {array.shape}.")
            object.__setattr__(self, name, array)
        if not (np.abs(self.y) == 1.0).all():
            raise InvalidInputError("y must hold −1 and +1 only; encode other labels first.")
        present = self.cost > 0
        if not (self.cost >= 0).all():
            raise InvalidInputError("cost must be ≥ 0 for each sample; 0 leaves a sample out.")
        if not present.any() or (self.is_classification and self.y.min() == self.y.max()):
            missing = "has a positive cost" if not present.any() else f"has the label {-self.y[0]:+.0f}"
            raise InvalidInputError(f"No sample {missing}; samples of two classes are needed.")
        infinite = np.isinf(self.cost[present])
        if infinite.any() and not infinite.all():
            raise InvalidInputError("Costs must be all finite (soft margin) or all infinite (hard margin), not mixed.")
        if not self.is_classification:
            self._check_family(bool(infinite.any()))
        if isinstance(self.penalty, L1) and not self.is_linear:
            raise NotSupportedError(
                f"The L1 penalty counts features, got kernel {self.kernel!r} that has none. Use L2(), or Linear()."
            )

    def _check_family(self, is_hard: bool) -> None:
        """What targets and a total need."""
        if self.target is not None and not np.isfinite(self.target).all():
            raise InvalidInputError("target must be a finite number for each sample.")
        if is_hard or not isinstance(self.penalty, L2):
            raise NotSupportedError("Targets and a total need finite costs and the L2 penalty.")
        if self.groups is not None:
            self._check_groups()
        if not 0.0 <= self.total < math.inf or (self.total > 0.0 and not self.bias.is_free):
            raise InvalidInputError(f"total must be a finite number ≥ 0, and 0 without a free bias; got {self.total!r}.")
        most = float(self.loss.upper(self.cost)[self.y > 0].sum())
        if self.total > most:
            raise InvalidInputError(f"total = {self.total!r} cannot be reached: β sums up to {most!r} at most.")

    def _check_groups(self) -> None:
        """What groups need: a free bias, a group for each sample, a total for each group that its β can reach."""
        object.__setattr__(self, "groups", np.asarray(self.groups, dtype=np.intp))
        object.__setattr__(self, "totals", np.asarray(self.totals, dtype=np.float64))
        assert self.groups is not None
        assert self.totals is not None
        if self.groups.shape != (self.n,) or self.totals.ndim != 1:
            raise InvalidInputError("groups must name a group for each sample, and totals hold a number for each group.")
        if not self.bias.is_free or self.total != 0.0:
            raise InvalidInputError("Groups need a free bias, and take totals instead of a total.")
        upper = self.loss.upper(self.cost)
        for g, total in enumerate(self.totals.tolist()):
            most = float(upper[(self.groups == g) & (self.y == math.copysign(1.0, total))].sum())
            if not abs(total) <= most:
                raise InvalidInputError(f"The total {total!r} of group {g} cannot be reached: |Σβ| is at most {most!r}.")

    @property
    def is_classification(self) -> bool:
        """Whether every target is 1, the total 0, and there is one bias."""
        return self.target is None and self.total == 0.0 and self.groups is None

    def offset(self, b: Any, on: Indices | slice = slice(None)) -> Any:
        """The bias of each of these samples: b itself, or that of their group."""
        return b if self.groups is None or np.ndim(b) == 0 else b[self.groups[on]]

    def biased(self, b: Any) -> float:
        """τb, or the sum of the groups' τb."""
        return float(self.total * b if self.totals is None else self.totals @ b)

    @property
    def t(self) -> Floats:
        """The linear term of the dual: t_j = y_j r_j, so that D(β) = tᵀβ − … and the kinks of the loss in b are at t − f."""
        return self.y if self.target is None else self.y * self.target

    def slack(self, F: Floats, on: Indices | slice = slice(None)) -> Floats:
        """m = r − yF of samples with decision values F: all of them, or those that `on` names."""
        return (1.0 if self.target is None else self.target[on]) - self.y[on] * F

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)

    @property
    def is_linear(self) -> bool:
        """Whether a vector of the feature space is the d weights themselves."""
        return isinstance(self.kernel, Linear)

    @cached_property
    def is_hard(self) -> bool:
        """Whether no sample may lie inside the margin (infinite costs)."""
        return bool(np.isinf(self.cost).any())

    @property
    def has_one_class(self) -> bool:
        """Whether all samples that count have the same label: then a free b alone can satisfy them."""
        labels = self.y[self.counted]
        return bool(labels.min() == labels.max())

    @property
    def present(self) -> Indices:
        """The samples that count: those with a positive cost."""
        return np.flatnonzero(self.cost > 0)

    @cached_property
    def counted(self) -> Indices | slice:
        """The same samples as an index that copies nothing where they are all."""
        return slice(None) if (self.cost > 0).all() else self.present

    @cached_property
    def squares(self) -> Floats:
        """‖x_j‖² for each sample, of the rows of X as they are: O(nnz), once."""
        squares = products.squares(self.X)
        return squares if self.rows is None else squares[self.rows]

    @cached_property
    def lengths(self) -> Floats:
        """An upper bound of ‖x_j‖ for each sample, of the rows of X as they are: O(nnz), once."""
        if self.rows is None:
            return products.lengths_above(self.X, self.squares)
        return products.lengths_above(self.X)[self.rows]

    @cached_property
    def entries(self) -> Floats:
        """The number of products in ⟨w, x_j⟩ for each sample."""
        entries = np.broadcast_to(products.entries(self.X), self.X.shape[:1])
        return entries if self.rows is None else entries[self.rows]

    @cached_property
    def period(self) -> int:
        """n, or n/2 where the second half of the samples repeats the rows of the first with the other label: a regression."""
        m, rows = self.n // 2, None if self.target is None else self.rows
        is_twice = rows is not None and np.array_equal(rows[:m], rows[m:]) and np.array_equal(self.y, np.repeat([1.0, -1.0], m))
        return m if is_twice else self.n

    def zero(self) -> Floats:
        """The zero vector of the feature space."""
        return np.zeros(self.X.shape[1] if self.is_linear else self.n)

    def decision(self, w: Floats, n_threads: int = 1) -> Floats:
        """f_j = ⟨w, φ(x_j)⟩ for each sample, without the bias: O(nnz), or n × (non-zeros of w) kernel values."""
        if self.is_linear:
            return products.scores(self.X, w, self.rows)
        used = np.flatnonzero(w)
        return self.gram_times(used, w[used], n_threads)

    def combine(self, beta: Floats) -> Floats:
        """w(β) = Σ_j β_j φ(x_j), as a vector of the feature space."""
        return products.combine(self.X, beta, self.rows) if self.is_linear else beta

    def norm2(self, w: Floats, f: Floats) -> float:
        """‖w‖², given f = `decision(w)`; negative values can come only from a kernel that is not PSD."""
        return float(w @ w) if self.is_linear else float(w @ f)

    def kernel_matrix(self, dtype: Any = np.float64, max_bytes: int = 0, n_threads: int = 1) -> KernelMatrix:
        """K of the samples, with a budget for rows that are kept; it shares what is ready with other problems on the data."""
        return KernelMatrix(self.kernel, self.X, max_bytes, dtype, self.rows, n_threads=n_threads, shared=self.shared)

    def diag(self, i: Indices | None = None) -> Floats:
        """k(x_j, x_j) for each sample, or for samples i."""
        return np.asarray(self.kernel_matrix().diag(i))

    def gram(self, i: Indices, j: Indices) -> Floats:
        """The block K[i, j] in float64; i and j number the samples."""
        return np.asarray(self.kernel.between(self.X, self.row(i), self.row(j), dtype=np.float64), dtype=np.float64)

    def gram_times(self, j: Indices, v: Floats, n_threads: int = 1, i: Indices | None = None) -> Floats:
        """K[i, j] v in float64, by default for all samples i; in small tiles, the same bits on any number of threads."""
        if i is None and self.period < self.n:
            return np.tile(self.gram_times(j, v, n_threads, np.arange(self.period)), 2)
        expansion = self.expansion(j, v)
        f = np.empty(self.n if i is None else len(i))
        for at, rows in self.pieces(i):
            f[at] = expansion(rows, n_threads, np.float64)[0, 0]
        return f

    def expansion(self, j: Indices, v: Floats) -> Expansion:
        """x ↦ Σ_j v_j k(x, x_j)."""
        like = self.kernel_matrix().shared
        return Expansion(self.kernel, self.kernel.reference(self.X, self.row(j)), v[np.newaxis], like=like)

    @property
    def packed(self) -> PackedRows | None:
        """The float32 rows of all samples, if they are shared with other problems."""
        matrix = self.kernel_matrix(np.float32)
        return matrix.packed if matrix.shared is not None and matrix.centre.is_packed else None

    def pieces(self, i: Indices | None = None) -> Iterator[tuple[slice, Matrix]]:
        """The rows of all samples, or of samples i, with their places: X itself, or copies of so many at a time."""
        chosen = self.rows if i is None else self.row(i)
        if chosen is None:
            yield slice(None), self.X
            return
        step = rows_that_fit(row_width(self.X), len(chosen))
        for start in range(0, len(chosen), step):
            at = slice(start, min(start + step, len(chosen)))
            yield at, self.X[chosen[at]]

    def row(self, i: Indices) -> Indices:
        """The rows of X that hold samples i."""
        return i if self.rows is None else self.rows[i]

    def primal(self, w: Floats, b: float) -> float:
        """P(w, b): +∞ where a hard margin is violated."""
        return self.primal_from(w, b, self.decision(w))

    def primal_from(self, w: Floats, b: float, f: Floats) -> float:
        """P(w, b), given f = `decision(w)`."""
        on = self.counted
        m = self.slack(f[on] + self.offset(b, on), on)
        if self.is_hard and m.max() > 0:
            return np.inf
        losses = 0.0 if self.is_hard else float(self.cost[on] @ self.loss.value(1.0 - m))
        return self.regularizer(w, b, f) + self.biased(b) + losses

    def regularizer(self, w: Floats, b: float, f: Floats) -> float:
        """Ω of the penalised weights, given f = `decision(w)`."""
        if self.is_linear:
            return self.penalty.value(self.augmented(w, b))
        return 0.5 * (self.norm2(w, f) + self._constant_weight(b) ** 2)

    def dual(self, beta: Floats) -> float:
        """D(β): −∞ where β leaves its box or, with a free bias, does not sum to the total up to the rounding of the sum."""
        alpha = beta * self.y
        rest = 0.0
        if self.totals is not None:
            rest = max(abs(exact_sum(np.append(beta[self.groups == g], -t))) for g, t in enumerate(self.totals.tolist()))
        elif self.bias.is_free:
            rest = exact_sum(np.append(beta, -self.total))
        is_balanced = abs(rest) <= gamma(self.n) * float(np.abs(beta).sum())
        if not is_balanced or (alpha < 0).any() or (alpha > self.loss.upper(self.cost)).any():
            return -np.inf
        return self.dual_from(beta, self.image(beta))

    def image(self, beta: Floats) -> Floats:
        """What a dual point makes: for a linear problem w(β) with its bias coordinate, for a kernel the scores Kβ."""
        return self.augmented_dual(beta) if self.is_linear else self.decision(beta)

    def dual_from(self, beta: Floats, image: Floats) -> float:
        """D(β), given its `image`."""
        alpha = beta * self.y
        gain = float(alpha.sum() if self.target is None else self.target @ alpha)
        gain -= float(self.loss.dual_penalty(alpha, self.cost).sum())
        if self.is_linear:
            return gain - self.penalty.conjugate(image)
        return gain - 0.5 * (self.norm2(beta, image) + (self.bias.scale * float(beta.sum())) ** 2)

    def residual(self, w: Floats, b: float, f: Floats, beta: Floats, image: Floats) -> float:
        """Ω(w) + Ω*(w(β)) − ⟨w, w(β)⟩ ≥ 0 without cancellation (½‖w − w(β)‖² for L2), given f and β's `image`."""
        if self.is_linear:
            return self.penalty.residual(self.augmented(w, b), image)
        constant = self._constant_weight(b) - self.bias.scale * float(beta.sum())
        return 0.5 * (max(self.norm2(w - beta, f - image), 0.0) + constant**2)

    def augmented(self, w: Floats, b: float) -> Floats:
        """The penalised weights: w, and b/s behind it where the bias is the weight of a constant feature s."""
        return np.append(w, self._constant_weight(b)) if self.bias.kind == "penalized" else w

    def augmented_dual(self, beta: Floats) -> Floats:
        """w(β), and sΣβ behind it where the bias is the weight of a constant feature s."""
        w = self.combine(beta)
        return np.append(w, self.bias.scale * float(beta.sum())) if self.bias.kind == "penalized" else w

    def _constant_weight(self, b: float) -> float:
        return b / self.bias.scale if self.bias.kind == "penalized" else 0.0
