"""The histogram of margins: every sample counted once, in its zone and bin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.analysis.margin_histogram import MOST_BINS, margin_histogram
from maxmargin.errors import InvalidInputError

FLOATS = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(FLOATS, min_size=1, max_size=60))
def test_each_sample_is_counted_once_in_its_zone(z):
    z = np.array(z)
    found = margin_histogram(z, rounding=0.0)
    assert found.wrong.sum() == (z <= 0).sum()
    assert found.inside.sum() == ((z > 0) & (z < 1)).sum()
    assert found.outside.sum() == (z >= 1).sum()
    assert len(found.edges) - 1 == len(found.wrong) <= MOST_BINS + 2


@given(st.lists(st.floats(-3.0, 4.0), min_size=1, max_size=60))
def test_bins_agree_with_a_slow_count(z):
    z = np.array(z)
    found = margin_histogram(z, rounding=0.0)
    total = found.wrong + found.inside + found.outside
    width = found.edges[1] - found.edges[0]
    near = np.abs(z[:, None] - found.edges).min(axis=1) < 1e-6 * width  # an edge may be rounded either way
    for k in range(len(total)):
        low, high = found.edges[k], found.edges[k + 1]
        surely = int(((z > low) & (z < high) & ~near).sum())
        assert surely <= total[k] <= surely + near.sum() + found.n_beyond


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 1e4])
def test_the_margin_is_an_edge(scale):
    z = scale * np.random.default_rng(0).standard_normal(500)
    edges = margin_histogram(z).edges
    assert np.abs(edges - 1.0).min() < 1e-9 * max(scale, 1.0)


def test_a_margin_of_one_up_to_rounding_is_outside():
    assert margin_histogram([1.0 - 1e-9, 0.9]).outside.sum() == 1


def test_the_far_ones_are_told():
    z = np.concatenate([np.random.default_rng(1).uniform(0.0, 2.0, 5000), [-1e6]])
    found = margin_histogram(z)
    assert found.n_beyond == 1
    assert found.edges[0] > -10
    assert found.wrong[0] == 1


@pytest.mark.parametrize("bad", [[], [np.nan], [np.inf, 1.0]])
def test_what_is_no_margin_is_refused(bad):
    with pytest.raises(InvalidInputError, match="finite"):
        margin_histogram(bad)
