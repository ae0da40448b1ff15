"""NuSVR with an RBF kernel and ν = ½ against scikit-learn's: see `benchmarks.family`.

scikit-learn's model keeps no ε. It is judged as one of `SVR` with the ε of our optimum.
"""

from typing import Any

from benchmarks import family
from benchmarks.options import Options
from maxmargin import SVR, NuSVR

CASES = ((1.0, 1e-3), (10.0, 1e-3))
"""C and gap."""

NU = 0.5


class Judged(family.ScikitLearn):
    """Judged with the tube that our optimum has."""

    def gap(self, model: Any, X: Any, y: Any, C: float) -> float:
        """The relative gap as a regression of that ε; the loosest tolerance that has it may be a little stricter than needed."""
        key = (id(X), C)
        if key not in _EPSILONS:
            _EPSILONS[key] = NuSVR(C=C, nu=NU, tol=1e-4).fit(X, y).epsilon_
        twin = family.ScikitLearn("SVR", lambda **settings: SVR(epsilon=_EPSILONS[key], **settings))
        return twin.gap(model, X, y, C)


_EPSILONS: dict[tuple[int, float], float] = {}


def machine(**settings: Any) -> NuSVR:
    """Ours."""
    return NuSVR(nu=NU, **settings)


def run(options: Options) -> None:
    """Run, print, save and draw."""
    family.race("nu", machine, Judged("NuSVR", machine, nu=NU), family.regression, family.REGRESSION, CASES, options)
