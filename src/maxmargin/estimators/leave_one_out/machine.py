"""A classifier to leave samples out of: its binary problems, the costs that they have, and how their decisions make a label.

C/n and λ depend on the number of samples, ``class_weight="balanced"`` on the weights of the classes. `resolve` says when they are
turned into costs: "once", on all samples, or for "each" left-out sample anew, on the others, as n separate fits would do. In the
second case samples of the same weight (and class, where that matters) still have their costs in common: leaving one of them out
of a problem on all samples with these costs is what its own fit solves.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.analysis.leave_one_out import Goal, tightened
from maxmargin.analysis.leave_one_out.full import TUNING
from maxmargin.core import Problem, Regularization, Solution, to_candidate
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import check_choice, check_tol
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.multiclass.crammer_singer import refuse_joint
from maxmargin.estimators.multiclass.one_vs_one import Vote, opponents
from maxmargin.estimators.multiclass.one_vs_rest import largest
from maxmargin.estimators.separable import refuse_contradictions
from maxmargin.estimators.svc import KernelClassifier
from maxmargin.estimators.training_data import Fingerprint, class_factors
from maxmargin.kernels import kernel_from_name
from maxmargin.solvers import Budget, solver_from_name
from maxmargin.typing import Flags, Floats, Indices, Matrix


@dataclass(frozen=True)
class LabelRule:
    """How decisions, known as intervals, make a label, and whether it is certain.

    Decisions are (n_problems, n) arrays of lower and upper ends. A decision of 0 goes to the negative class (``classes_[0]`` of
    two). One-vs-rest takes the largest decision, the first of equals. One-vs-one takes the votes of signs, and with
    ``break_ties=True`` adds s/(3(|s| + 1)) to the votes, s the sum of decisions, as scikit-learn does.
    """

    n_classes: int
    is_one_vs_rest: bool
    breaks_ties: bool

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What to know of the decisions, one after the other: signs, and values where these are compared."""
        if self.n_classes == 2 or not (self.is_one_vs_rest or self.breaks_ties):
            return (Goal(True),)
        widths = (Goal(False, TUNING.sure_within**power) for power in (0.25, 1, 2, 4))
        return (*widths,) if self.is_one_vs_rest else (Goal(True), *widths)

    def open_entries(self, lower: Floats, upper: Floats, goal: Goal) -> Flags:
        """Which (problem, sample) to know better, to this goal, so that open labels become certain."""
        may_count = np.ones(lower.shape, dtype=bool)
        if goal.at_sign:
            may_count = (lower <= 0) & (upper > 0)
        elif self.is_one_vs_rest:
            may_count = upper >= lower.max(axis=0)
        return may_count & ~self.label(lower, upper).is_certain  # type: ignore[no-any-return]

    def label(self, lower: Floats, upper: Floats) -> Vote:
        """The class of each sample, and whether no decision within its interval changes it."""
        value = middle(lower, upper)
        if self.n_classes > 2 and self.is_one_vs_rest:
            return largest(value, lower, upper)
        return largest(self._votes(value, value)[0], *self._votes(lower, upper))

    def _votes(self, lower: Floats, upper: Floats) -> Floats:
        """The ends of the votes of each class, which are monotone in every decision, and what tells equal ones apart."""
        votes, sums = np.zeros((2, 2, self.n_classes, lower.shape[1]))
        for k, (i, j) in enumerate(opponents(self.n_classes)):
            sure, never = lower[k] > 0, upper[k] <= 0
            votes[:, i] += sure, ~never
            votes[:, j] += never, ~sure
            sums[:, i] += lower[k], upper[k]
            sums[:, j] += -upper[k], -lower[k]
        if self.n_classes == 2 or not self.breaks_ties:
            return votes - np.arange(self.n_classes)[:, np.newaxis] / self.n_classes  # the first of equals
        with np.errstate(invalid="ignore"):
            return votes + np.where(np.isinf(sums), np.sign(sums), sums / (np.abs(sums) + 1.0)) / 3.0


def middle(lower: Floats, upper: Floats) -> Floats:
    """A value in the interval; 0 where nothing is known."""
    with np.errstate(invalid="ignore"):
        value = np.where(lower == upper, lower, 0.5 * (lower + upper))
    half = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
    return np.where(np.isfinite(value) | (lower == upper), value, half)


@dataclass(frozen=True, eq=False)
class Machine:
    """A classifier to leave samples out of: its binary problems, and a dual point to start each from, if one is known."""

    probe: Any
    X: Matrix
    labels: Indices
    weights: Floats
    problems: list[Problem]
    betas: list[Floats | None]

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any, without: int | None = None) -> "Machine":
        """Validate as `fit` does; costs and kernel parameters are those of a fit without a sample."""
        if not isinstance(estimator, LinearSVC | KernelClassifier):
            raise NotSupportedError(
                f"leave_one_out takes LinearSVC, SVC and HardMarginSVC, got {type(estimator).__name__}: the others have no "
                "exact optimum to leave a sample out of."
            )
        probe = type(estimator)(**estimator.get_params(deep=False))
        X, labels, weights = probe._validated(X, y, sample_weight)
        refuse_joint(probe, "leave_one_out")
        check_tol(probe.tol)
        seen = weights if without is None else np.where(np.arange(len(weights)) == without, 0.0, weights)
        problems = probe._problems(X, labels, weights, probe._resolved_kernel(X, seen))
        if not (problems[0].penalty.strongly_convex and problems[0].loss.convex):
            raise NotSupportedError(
                "leave_one_out needs the L2 penalty and a convex loss, for which one optimum can be bounded; "
                f"got {problems[0].penalty!r} and {problems[0].loss!r}."
            )
        betas: list[Floats | None] = [None] * len(problems)
        is_fitted = getattr(estimator, "shape_fit_", None) == X.shape
        if is_fitted and np.array_equal(estimator.classes_, probe.classes_):
            stored = estimator._candidates(X, labels, weights)
            if all(mine.kernel == theirs.kernel for mine, (theirs, _) in zip(problems, stored, strict=True)):
                betas = [candidate.beta for _, candidate in stored]
        found = cls(probe, X, labels, weights, problems, betas)
        return found if without is None or problems[0].is_hard else found._without_one_of(np.array([without]))

    def has_rows_of(self, estimator: Any) -> bool:
        """Whether an estimator was fitted on these rows, in any order; True of one that was not fitted."""
        if not hasattr(estimator, "intercept_"):
            return True
        kept = getattr(estimator, "fingerprint_", None)
        own = Fingerprint.of(self.X, self.labels, self.weights)
        return kept is not None and own is not None and kept.rows_in_any_order == own.rows_in_any_order

    @property
    def rows(self) -> list[Indices]:
        """The samples of each problem."""
        return [problem.row(np.arange(problem.n)) for problem in self.problems]

    @property
    def rule(self) -> LabelRule:
        """How the decisions make a label."""
        breaks_ties = getattr(self.probe, "break_ties", False)
        return LabelRule(len(self.probe.classes_), isinstance(self.probe, LinearSVC), breaks_ties)

    def solve(self, n_threads: int) -> list[Solution]:
        """Each problem, tightly; a hard margin separates, or what was proved is raised."""
        solver = solver_from_name(self.probe.solver, seed=0, n_threads=n_threads)
        solutions = []
        for k, (problem, beta) in enumerate(zip(self.problems, self.betas, strict=True)):
            if problem.is_hard:
                refuse_contradictions(problem, *self.probe._sides()[k])
            warm = None if beta is None else to_candidate(problem, beta)
            solution = tightened(problem, solver, tol=self.probe.tol, warm=warm)
            solutions.append(self.probe._settled(k, problem, solution))
        return solutions

    @property
    def max_bytes(self) -> int:
        """What the equations of each problem may take."""
        budget: Budget = self.probe._budget(-1, None, self.probe.cache_size)
        return budget.bytes // len(self.problems)

    def groups(self, resolve: str) -> list[tuple["Machine", Indices]]:
        """The machine with the costs of the others, and the samples whose machines these are; one group where costs stay."""
        check_choice("resolve", resolve, ("once", "each"))
        if resolve == "each":
            _refuse_scaled_kernel(self.probe)
        spelling = Regularization.of(self.probe.C).spelling
        depends = self._is_balanced or spelling in ("mean", "tikhonov", "pegasos")
        if resolve == "once" or self.problems[0].is_hard or not depends:
            return [(self, np.arange(self.X.shape[0]))]
        # The class of a sample matters for balanced classes, and where it decides which pairs lose a sample.
        by_class = self._is_balanced or any(problem.rows is not None for problem in self.problems)
        keys = np.column_stack([self.weights, self.labels if by_class else np.zeros(len(self.labels))])
        which = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
        groups = [np.flatnonzero(which == k) for k in range(int(which.max()) + 1)]
        return [(self._without_one_of(samples), samples) for samples in groups]

    @property
    def _is_balanced(self) -> bool:
        return isinstance(self.probe.class_weight, str)

    def _without_one_of(self, samples: Indices) -> "Machine":
        """The problems with the costs that a fit without one of these samples sets."""
        rest = self.weights.copy()
        rest[samples[0]] = 0.0
        factors, trade_off = self._factors(rest), Regularization.of(self.probe.C)
        costs = [trade_off.cost(float(rest[rows].sum())) * self.weights[rows] * factors[self.labels[rows]] for rows in self.rows]
        return replace(self, problems=[replace(p, cost=cost) for p, cost in zip(self.problems, costs, strict=True)])

    def _factors(self, rest: Floats) -> Floats:
        """The classes' factors as a fit on the samples with weight sets them; 1 for a class that is gone."""
        classes = self.probe.classes_
        if not self._is_balanced:
            return class_factors(self.probe.class_weight, classes, self.labels, rest)
        on = rest > 0
        left, own = np.unique(self.labels[on], return_inverse=True)
        factors = np.ones(len(classes))
        factors[left] = class_factors("balanced", classes[left], own, rest[on])
        return factors


def _refuse_scaled_kernel(probe: Any) -> None:
    """gamma="scale" is another number without each of the samples: another kernel, so that nothing is shared."""
    if isinstance(probe, LinearSVC):
        return
    kernel = kernel_from_name(probe.kernel, degree=probe.degree, gamma=probe.gamma, coef0=probe.coef0)
    if str(getattr(kernel, "gamma", None)) == "scale":
        raise NotSupportedError(
            'resolve="each" cannot serve gamma="scale": without each sample the kernel would be another one. '
            'Use a number for gamma, or resolve="once".'
        )
