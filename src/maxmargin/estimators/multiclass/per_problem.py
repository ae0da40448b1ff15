"""The answers of several binary problems side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np


class PerProblem(tuple[Any, ...]):
    """One entry for each binary problem, in scikit-learn's order; `worst` is that of the problem with the largest gap."""

    worst: Any

    @classmethod
    def of(cls, items: Sequence[Any], worst: int) -> "PerProblem":
        """The items, and which of them belongs to the problem with the largest gap."""
        out = cls(items)
        out.worst = items[worst]
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (list(self), next(k for k, item in enumerate(self) if item is self.worst))


class Certificates(PerProblem):
    """The certificates of all binary problems; in words, the one with the largest gap."""

    @property
    def is_certified(self) -> bool:
        """Whether each of them is."""
        return all(certificate.is_certified for certificate in self)

    def __str__(self) -> str:
        return f"Of {len(self)} problems, the one with the largest gap: {self.worst}"


def alone(items: Sequence[Any]) -> Any:
    """What is known of a single problem by itself, of several in a tuple."""
    return items[0] if len(items) == 1 else tuple(items)


def certificates_of(items: Sequence[Any]) -> Any:
    """One certificate by itself, several in a tuple with `worst`."""
    return items[0] if len(items) == 1 else Certificates.of(items, worst_of(items))


def worst_of(certificates: Sequence[Any]) -> int:
    """Which certificate has the largest gap."""
    return int(np.argmax([certificate.relative_gap for certificate in certificates]))


def store_endings(
    model: Any,
    certificates: Sequence[Any],
    statuses: Sequence[Any],
    solvers: Sequence[str],
    traces: Sequence[Any],
    worst: int,
) -> None:
    """Set `certificate_`, `status_`, `solver_` and `trace_`: of one problem by itself, of several in a tuple."""
    is_one = len(certificates) == 1
    model.certificate_ = certificates[0] if is_one else Certificates.of(certificates, worst)
    for name, items in {"status_": statuses, "solver_": solvers, "trace_": traces}.items():
        setattr(model, name, items[0] if is_one else PerProblem.of(items, worst))


def store_solutions(model: Any, solutions: Sequence[Any]) -> None:
    """The same from what the solver handed back."""
    certificates, statuses, solvers, traces = zip(
        *((solution.certificate, solution.status, solution.solver, solution.trace) for solution in solutions),
        strict=True,
    )
    store_endings(model, certificates, statuses, solvers, traces, worst_of(certificates))
