"""The path of the L1 penalty along C."""

import numpy as np
import pytest

from maxmargin import LinearSVC, l1_min_c, l1_path
from maxmargin.errors import InvalidInputError
from tests.problems import clouds


def test_a_path_enters_features_one_after_the_other():
    X, labels, _ = clouds(flips=4)
    path = l1_path(X, labels, Cs=8)
    assert path.Cs[0] == pytest.approx(l1_min_c(X, labels))
    assert path.certificates[0].primal == pytest.approx(path.Cs[0] * len(X), rel=1e-6)  # that of w = 0
    assert path.n_features[-1] >= 2
    assert set(path.entry_order[:2].tolist()) == {0, 1}
    assert max(certificate.relative_gap for certificate in path.certificates) <= 1e-6
    alone = LinearSVC("l1", C=path.Cs[4], tol=1e-6).fit(X, labels)
    assert path.certificates[4].primal == pytest.approx(alone.certificate_.primal, rel=2e-6)
    assert (path.entered_at[path.entry_order] >= path.Cs[0]).all()


def test_a_path_refuses_what_makes_none():
    X, labels, _ = clouds()
    for Cs in (0, [], [1.0, 1.0], [-1.0], [[1.0]], [np.inf]):
        with pytest.raises(InvalidInputError, match="C"):
            l1_path(X, labels, Cs=Cs)
    with pytest.raises(InvalidInputError, match="two classes"):
        l1_path(X, np.arange(len(X)) % 3)
    with pytest.raises(InvalidInputError, match="loss"):
        l1_path(X, labels, loss="ramp")
    with pytest.raises(InvalidInputError, match="a feature that enters"):
        l1_path(np.zeros((4, 1)), [0, 0, 1, 1])
