"""A classifier to be left out of: from an estimator and data to its binary problems."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.analysis.leave_one_out import tightened
from maxmargin.core import Candidate, Problem, Solution
from maxmargin.core.dual import make_feasible
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import check_tol
from maxmargin.estimators.leave_one_out.decisions import ByBrokenTies, ByLargest, BySigns, Rule
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.multiclass.one_vs_one import pairs_of
from maxmargin.estimators.separable import refuse_contradictions, separated
from maxmargin.estimators.svc import KernelClassifier
from maxmargin.solvers import Budget, solver_from_name
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(frozen=True, eq=False)
class Case:
    """A classifier to be left out of: its binary problems, the samples of each, a start for each."""

    estimator: Any
    probe: Any
    X: Matrix
    labels: Indices
    weights: Floats
    problems: list[Problem]
    rows: list[Indices]
    warm: list[Candidate | None]

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> "Case":
        """Validate as `fit` does."""
        if not isinstance(estimator, LinearSVC | KernelClassifier):
            raise NotSupportedError(
                f"leave_one_out takes LinearSVC, SVC and HardMarginSVC, got {type(estimator).__name__}: the others have no "
                "exact optimum to leave a sample out of."
            )
        probe = type(estimator)(**estimator.get_params(deep=False))
        X, labels, weights = probe._validated(X, y, sample_weight)
        check_tol(probe.tol)
        problems = probe._problems(X, labels, weights)
        if not (problems[0].penalty.strongly_convex and problems[0].loss.convex):
            raise NotSupportedError(
                "leave_one_out needs the L2 penalty and a convex loss, for which one optimum can be bounded; "
                f"got {problems[0].penalty!r} and {problems[0].loss!r}."
            )
        warm: list[Candidate | None] = [None] * len(problems)
        is_fitted = getattr(estimator, "shape_fit_", None) == X.shape
        if is_fitted and np.array_equal(estimator.classes_, probe.classes_):
            found = estimator._candidates(X, labels, weights)
            same = all(mine.kernel == theirs.kernel for mine, (theirs, _) in zip(problems, found, strict=True))
            warm = [candidate for _, candidate in found] if same else warm
        everyone = np.arange(X.shape[0])
        is_paired = isinstance(probe, KernelClassifier)
        rows = (
            [pair.rows for pair in pairs_of(labels, len(probe.classes_))] if is_paired else [everyone] * len(problems)
        )
        return cls(estimator, probe, X, labels, weights, problems, rows, warm)

    def from_betas(self, betas: list[Floats]) -> "Case":
        """The same, started from these dual variables."""
        starts = [make_feasible(problem, beta) for problem, beta in zip(self.problems, betas, strict=True)]
        warm: list[Candidate | None] = [
            Candidate(problem.combine(beta), 0.0, beta) for problem, beta in zip(self.problems, starts, strict=True)
        ]
        return replace(self, warm=warm)

    @property
    def rule(self) -> Rule:
        """How the decisions make a label."""
        n_classes = len(self.probe.classes_)
        if n_classes == 2:
            return BySigns(2)
        if isinstance(self.probe, LinearSVC):
            return ByLargest()
        return ByBrokenTies(n_classes) if self.probe.break_ties else BySigns(n_classes)

    def solve(self, n_threads: int) -> list[Solution]:
        """Each problem, tightly."""
        solver = solver_from_name(self.probe.solver, seed=0, n_threads=n_threads)
        solutions = []
        for k, problem in enumerate(self.problems):
            if not problem.is_hard:
                solutions.append(tightened(problem, solver, tol=self.probe.tol, warm=self.warm[k]))
                continue
            names = self.probe.classes_.tolist()
            pair = pairs_of(self.labels, len(names))[k]
            refuse_contradictions(problem, names[pair.positive], names[pair.negative])
            solution = tightened(problem, solver, tol=self.probe.tol, warm=self.warm[k])
            solutions.append(separated(problem, solution, names[pair.positive], names[pair.negative]))
        return solutions

    @property
    def max_bytes(self) -> int:
        """What the Gram matrices may take together."""
        cache_size = getattr(self.probe, "cache_size", "auto")
        budget: Budget = self.probe._budget(-1, None, cache_size)
        return budget.bytes // len(self.problems)
