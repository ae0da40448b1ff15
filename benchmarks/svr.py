"""Regression with an RBF kernel against scikit-learn's SVR, at equal certified gap: see `benchmarks.family`."""

from functools import partial

from benchmarks import family
from benchmarks.options import Options
from maxmargin import SVR

CASES = ((1.0, 1e-3), (10.0, 1e-3))
"""C and gap."""


def run(options: Options) -> None:
    """Run, print, save and draw."""
    ours = partial(SVR, epsilon=family.EPSILON)
    peer = family.ScikitLearn("SVR", ours, epsilon=family.EPSILON)
    family.race("svr", ours, peer, family.regression, family.REGRESSION, CASES, options)
