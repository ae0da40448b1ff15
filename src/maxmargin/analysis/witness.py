"""The three answers to "can a hyperplane separate these classes?", two proofs that anyone can check, and "not known".

    Separable       (w, b) with y_j(⟨w, φ(x_j)⟩ + b) > 0 for all j
    NotSeparable    convex weights p (positives) and q (negatives) with Σ p_j φ(x_j) = Σ q_j φ(x_j);
                    through the origin: convex weights p of all samples with Σ p_j y_j φ(x_j) = 0
    Undecided       neither could be proved; the margin is at most so much

The checks on linear data are exact: floats are rational numbers, and every inequality that rounding could turn is decided in
rational arithmetic. For kernels the values k(x, z) themselves are rounded, and the checks say so.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from maxmargin.analysis.rational import exact_score
from maxmargin.core import Candidate, Problem
from maxmargin.core.certificate.scores import scores
from maxmargin.core.products import dense_rows
from maxmargin.rounding import UNIT, shown_above, shown_below
from maxmargin.typing import Flags, Floats


@dataclass(frozen=True)
class Check:
    """The outcome of checking a witness: true or false, exact or not, and a sentence."""

    holds: bool
    is_exact: bool
    sentence: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class Separable:
    """A hyperplane that separates the classes.

    Attributes
    ----------
    w, b
        The hyperplane, scaled so that the closest sample has y F ≈ 1; for a kernel w holds the coefficients of Σ w_j φ(x_j).
    margin : float
        min_j y_j F_j / ‖w‖, the distance of the closest sample; the largest possible one, up to the solver's tolerance.

    Examples
    --------
    >>> from maxmargin import separability
    >>> witness = separability([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> witness.w.round(9), round(witness.b, 9), round(witness.margin, 9)
    (array([1.]), -2.0, 1.0)
    >>> print(witness.check())
    Each of the 3 samples lies on its right side, exactly.
    """

    w: Floats
    b: float
    margin: float
    problem: Problem = field(repr=False)
    is_separable: ClassVar[bool] = True

    def check(self) -> Check:
        """Verify y_j F_j > 0 for every sample: exactly on linear data, beyond the rounding of its sums for a kernel."""
        problem, on = self.problem, self.problem.present
        found = scores(problem, Candidate(self.w, self.b, np.zeros(problem.n)))
        z = (problem.y * (found.values + self.b))[on]
        # what rounding could turn is decided in rationals, where the data are linear
        error = (found.error + 4.0 * UNIT * (np.abs(found.values) + abs(self.b)))[on]
        holds = bool((z > error).all())
        if problem.is_linear and not holds and (z >= -error).all():
            close = problem.row(on[z <= error])
            exact = [exact_score(self.w, self.b, dense_rows(problem.X, slice(row, row + 1))[0]) for row in close]
            holds = all(score * int(y) > 0 for score, y in zip(exact, problem.y[on[z <= error]], strict=True))
        how = "exactly" if problem.is_linear else "beyond the rounding of float64"
        who, where = ("Each", "lies on its") if holds else ("Not all", "lie on their")
        return Check(holds, problem.is_linear, f"{who} of the {len(on)} samples {where} right side, {how}.")

    def __str__(self) -> str:
        return f"Separable: a hyperplane keeps every sample at least {shown_below(self.margin, 4)} away, on its right side."


@dataclass(frozen=True, eq=False)
class NotSeparable:
    """Weights that prove that no hyperplane has a margin above `margin_bound`; where that is 0, none separates the classes.

    With a bias: the weighted means of the two classes are the same point. Through the origin: Σ p_j y_j x_j = 0, so that no w
    can have y_j⟨w, x_j⟩ > 0 for all of them.

    Attributes
    ----------
    weights : array (n,)
        p_j ≥ 0, one per sample: summing to 1 in each class, or to 1 over all where the hyperplane must pass through 0.
    margin_bound : float
        What they prove: no hyperplane has a margin above this; 0 where `exact` weights exist.
    exact : dict of int to Fraction, or None
        The same weights as rational numbers, for which the identity holds without rounding.

    Examples
    --------
    >>> from maxmargin import separability
    >>> witness = separability([[0.0], [1.0], [3.0]], [0, 1, 0])
    >>> witness.exact
    {0: Fraction(2, 3), 1: Fraction(1, 1), 2: Fraction(1, 3)}
    >>> bool(witness.check())
    True
    """

    weights: Floats
    margin_bound: float
    problem: Problem = field(repr=False)
    exact: dict[int, Fraction] | None = field(default=None, repr=False)
    is_separable: ClassVar[bool] = False

    def check(self) -> Check:
        """Verify the identity: in rational arithmetic where the exact weights are at hand, else its residual in float64."""
        problem = self.problem
        groups = groups_of(problem)
        if not (self.weights >= 0).all() or any(abs(self.weights[own].sum() - 1.0) > 1e-9 for own in groups):
            return Check(False, self.exact is not None, "The weights are no convex weights: negative, or not summing to one.")
        if self.exact is None:
            bound = margin_bound(problem, self.weights)
            holds = bool(bound <= self.margin_bound * (1 + 1e-6) + np.finfo(float).tiny)
            return Check(holds, False, f"In float64: the weights prove that no margin exceeds {shown_above(bound, 2)}.")
        rounded = np.zeros(problem.n)
        rounded[list(self.exact)] = [float(weight) for weight in self.exact.values()]
        if not np.allclose(rounded, self.weights, rtol=1e-12, atol=1e-300):
            return Check(False, True, "The weights differ from their exact values.")
        total: Counter[int] = Counter()
        for j, weight in self.exact.items():
            x = dense_rows(problem.X, problem.row(np.array([j])))[0]
            for k in np.flatnonzero(x).tolist():
                total[k] += int(problem.y[j]) * weight * Fraction(float(x[k]))  # type: ignore[assignment]
        normalised = all(sum(weight for j, weight in self.exact.items() if own[j]) == 1 for own in groups)
        holds = normalised and min(self.exact.values()) >= 0 and not any(total.values())
        word = "holds" if holds else "FAILS"
        return Check(holds, True, f"Exactly: the identity {word} for {len(self.exact)} samples, in rational arithmetic.")

    def __str__(self) -> str:
        is_homogeneous = self.problem.bias.kind == "none"
        claim = "Not separable by a hyperplane through the origin" if is_homogeneous else "Not separable"
        count = int((self.weights > 0).sum())
        samples = "1 sample" if count == 1 else f"{count} samples"
        if self.exact is None and self.margin_bound > 0:
            return f"{claim} with any margin above {shown_above(self.margin_bound, 2)}, shown by {samples} in float64."
        if is_homogeneous:
            return f"{claim}: Σ p_j y_j x_j = 0 with weights p_j > 0, shown by {samples}."
        return f"{claim}: weighted means of the two classes coincide, shown by {samples}."


@dataclass(frozen=True, eq=False)
class Undecided:
    """Too close to call: the margin, if there is one, is at most `margin_bound`; the data have size `scale`.

    Examples
    --------
    >>> from maxmargin import Undecided
    >>> print(Undecided(margin_bound=1e-15, scale=2.0))
    Undecided at the precision of float64: a margin above 1e-15 is impossible, a smaller one could be neither found nor
    excluded (the data have size 2).
    """

    margin_bound: float
    scale: float
    is_separable: ClassVar[None] = None

    def check(self) -> Check:
        """Always false: there is no claim to check."""
        return Check(False, False, str(self))

    def __str__(self) -> str:
        return (
            f"Undecided at the precision of float64: a margin above {shown_above(self.margin_bound, 2)} is impossible, "
            f"a smaller one could be neither found nor excluded (the data have size {self.scale:.2g})."
        )


def groups_of(problem: Problem) -> list[Flags]:
    """Those whose weights sum to one: the samples of each class, or without a bias all of them."""
    return [problem.y != 0] if problem.bias.kind == "none" else [problem.y > 0, problem.y < 0]


def margin_bound(problem: Problem, weights: Floats) -> float:
    """The largest margin that convex weights leave possible: ½‖Σpφ − Σqφ‖ (without a bias: ‖Σp_j y_j φ_j‖), rounding added."""
    signed, groups = weights * problem.y, groups_of(problem)
    size = float(np.sqrt(np.maximum(problem.diag()[weights > 0], 0.0)).max(initial=0.0))
    for own in groups:
        signed[own] /= weights[own].sum()
    half = 1.0 / len(groups)
    u = problem.combine(signed)
    squared = problem.norm2(u, problem.decision(u))
    rounding = 8 * UNIT * (int((weights > 0).sum()) + 8)
    if problem.is_linear:
        return half * (math.sqrt(squared) + rounding * size)
    return half * math.sqrt(max(squared, 0.0) + rounding * size**2)
