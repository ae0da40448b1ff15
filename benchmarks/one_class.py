"""One class alone, with an RBF kernel, against scikit-learn's OneClassSVM, at equal certified gap: see `benchmarks.family`.

The column C holds ν.
"""

from typing import Any

from benchmarks import family
from benchmarks.options import Options
from maxmargin import OneClassSVM

CASES = ((0.1, 1e-3), (0.5, 1e-3))
"""ν and gap."""


def machine(C: float, **settings: Any) -> OneClassSVM:
    """Ours, with ν = C."""
    return OneClassSVM(nu=C, **settings)


def run(options: Options) -> None:
    """Run, print, save and draw."""
    family.race("one_class", machine, family.ScikitLearn("OneClassSVM", machine), family.cloud, family.CLOUDS, CASES, options)
