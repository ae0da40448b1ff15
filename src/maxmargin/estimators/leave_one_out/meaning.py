"""What is left out of: which costs the machine without a sample has, where they depend on the samples.

C/n and λ depend on the number of samples, ``class_weight="balanced"`` on the weights of the classes. `resolve` says when they are
turned into costs: "once", on all samples, or for "each" left-out sample anew, on the others, as n separate fits would do. In the
second case samples of the same weight (and class, where that matters) still have their costs in common: leaving one of them out
of a problem on all samples with these costs is what its own fit solves.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core import Problem, Regularization
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import check_choice
from maxmargin.estimators.leave_one_out.case import Case
from maxmargin.estimators.training_data import class_factors
from maxmargin.kernels import kernel_from_name
from maxmargin.typing import Floats, Indices

RESOLVE = ("once", "each")


@dataclass(frozen=True, eq=False)
class Group:
    """Samples whose machines have their costs in common, and the binary problems on all samples with these costs."""

    samples: Indices
    problems: list[Problem]


def groups_of(case: Case, resolve: str) -> list[Group]:
    """The samples, grouped by the costs that the others have without them; one group where the costs stay as they are."""
    check_choice("resolve", resolve, RESOLVE)
    if resolve == "each":
        _refuse_scaled_kernel(case.probe)
    if resolve == "once" or case.problems[0].is_hard or not _depends_on_samples(case.probe):
        return [Group(np.arange(case.X.shape[0]), case.problems)]
    keys = np.column_stack([case.weights, case.labels if _depends_on_class(case) else np.zeros(len(case.labels))])
    _, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.ravel()
    return [_group(case, np.flatnonzero(which == k)) for k in range(int(which.max()) + 1)]


def _group(case: Case, samples: Indices) -> Group:
    rest = case.weights.copy()
    rest[samples[0]] = 0.0
    factors = _factors(case.probe, case.labels, rest)
    trade_off = Regularization.of(case.probe.C)
    problems = []
    for problem, rows in zip(case.problems, case.rows, strict=True):
        total = float(rest[rows].sum())
        cost = trade_off.cost(total) * case.weights[rows] * factors[case.labels[rows]]
        problems.append(replace(problem, cost=cost))
    return Group(samples, problems)


def _factors(probe: Any, labels: Indices, rest: Floats) -> Floats:
    """The classes' factors as a fit on the samples with weight sets them; 1 for a class that is gone."""
    if not _is_balanced(probe):
        return class_factors(probe.class_weight, probe.classes_, labels, rest)
    on = rest > 0
    left, own = np.unique(labels[on], return_inverse=True)
    factors = np.ones(len(probe.classes_))
    factors[left] = class_factors("balanced", probe.classes_[left], own, rest[on])
    return factors


def _depends_on_samples(probe: Any) -> bool:
    return _is_balanced(probe) or Regularization.of(probe.C).spelling in ("mean", "tikhonov", "pegasos")


def _depends_on_class(case: Case) -> bool:
    """Whether the sample's class matters: for balanced classes, and where it decides which pairs lose a sample."""
    return _is_balanced(case.probe) or len({len(rows) for rows in case.rows} | {case.X.shape[0]}) > 1


def _is_balanced(probe: Any) -> bool:
    return isinstance(probe.class_weight, str)


def _refuse_scaled_kernel(probe: Any) -> None:
    """gamma="scale" is another number without each of the samples: another kernel, so that nothing is shared."""
    if not hasattr(probe, "kernel"):
        return
    kernel = kernel_from_name(probe.kernel, degree=probe.degree, gamma=probe.gamma, coef0=probe.coef0)
    gamma = getattr(kernel, "gamma", None)
    if isinstance(gamma, str) and gamma == "scale":
        raise NotSupportedError(
            'resolve="each" cannot serve gamma="scale": without each sample the kernel would be another one. '
            'Use a number for gamma, or resolve="once".'
        )
