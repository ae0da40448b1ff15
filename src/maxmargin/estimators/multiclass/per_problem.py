"""Solve the binary problems of one fit, and store their results together."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from maxmargin.core import Solution, Status
from maxmargin.estimators.multiclass.parallel import in_threads, jobs_elsewhere, map_elsewhere
from maxmargin.notebook import box
from maxmargin.solvers import Budget

Train = Callable[..., Solution]
"""A function that solves one problem, with the arguments of `solve`."""


class PerProblem(tuple[Any, ...]):
    """One entry for each binary problem, in scikit-learn's order; `worst` is that of the problem with the largest gap."""

    worst: Any

    @classmethod
    def of(cls, items: Sequence[Any], worst: int) -> Any:
        """A single item by itself; several, and which of them belongs to the problem with the largest gap."""
        if len(items) == 1:
            return items[0]
        out = cls(items)
        out.worst = items[worst]
        return out


class Certificates(PerProblem):
    """The certificates of all binary problems; in words, the one with the largest gap."""

    @property
    def is_certified(self) -> bool:
        """Whether each of them is."""
        return all(certificate.is_certified for certificate in self)

    def _repr_html_(self) -> str:
        return box(str(self), {}, self.is_certified)

    def __str__(self) -> str:
        return f"Of {len(self)} problems, the one with the largest gap: {self.worst}"


def going_on(start: Any, train: Train) -> Train:
    """`train`; or, if the start already solves the problem, a function that returns the start."""
    is_over = isinstance(start, Solution) and start.status is Status.SOLVED
    return (lambda *problem, warm, **settings: warm) if is_over else train


def solve_several(
    model: Any,
    problems: Sequence[Any],
    train: Sequence[Train],
    budget: Budget,
    n_threads: int,
    watch: Any,
    share: Callable[[], Any],
) -> list[Solution]:
    """The solution of each problem, in threads or by joblib's backend, which runs only `train`.

    Other processes report only that they have ended. In threads, a watch also learns which `share` of a problem is done.
    """
    budget = replace(budget, bytes=budget.bytes // min(n_threads, len(problems)))  # this many fits keep rows at once

    def run(k: int, budget: Budget) -> Solution:
        model._refuse(k, problems[k])
        if watch is not None:
            watch.begin(k)
        solution = train[k](budget=budget, **({} if watch is None else {"observe": watch.observer(k, share())}))
        if watch is not None:
            watch.end(k, solution)
        settled: Solution = model._settled(k, problems[k], solution)
        return settled

    if len(train) == 1:
        return [run(0, budget)]
    if not model._takes_backends or not jobs_elsewhere():
        return in_threads(run, len(train), budget, n_threads)
    solutions = map_elsewhere(operator.call, [(partial(task, budget=budget),) for task in train])
    for k, solution in enumerate(solutions if watch is not None else ()):
        watch.begin(k)
        watch.end(k, solution)
    return solutions


def alone(items: Sequence[Any]) -> Any:
    """What is known of a single problem by itself, of several in a tuple."""
    return items[0] if len(items) == 1 else tuple(items)


def store_endings(model: Any, worst: int, **endings: Sequence[Any]) -> None:
    """Set `certificate_`, `status_`, `solver_` and `trace_`: of one problem by itself, of several in a tuple."""
    for name, items in endings.items():
        kind = Certificates if name == "certificate" else PerProblem
        setattr(model, f"{name}_", kind.of(items, worst))


def store_solutions(model: Any, solutions: Sequence[Any]) -> None:
    """The same from what the solver handed back."""
    names = ("certificate", "status", "solver", "trace")
    endings = {name: [getattr(solution, name) for solution in solutions] for name in names}
    store_endings(model, largest_gap(endings["certificate"]) if len(solutions) > 1 else 0, **endings)


def largest_gap(certificates: Sequence[Any]) -> int:
    """Which of some certificates has the largest gap."""
    return int(np.argmax([certificate.relative_gap for certificate in certificates]))
