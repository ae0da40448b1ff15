"""The answers of several binary problems side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.notebook import box


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
