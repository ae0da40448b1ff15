import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin._loops.smo.largest_violations import largest
from tests.strategies import examples, generators


@examples(100)
@given(rng=generators(), n=st.integers(0, 60), most=st.integers(0, 70), kind=st.sampled_from(["few", "wide", "plain"]))
def test_they_are_the_largest(rng, n, most, kind):
    values = rng.standard_normal(n)
    if kind == "few":
        values = np.round(values)
    if kind == "wide":
        values *= 10.0 ** rng.uniform(-30, 300, n)
    values[rng.random(n) < 0.2] = -np.inf
    finite = np.sort(values[np.isfinite(values)])[::-1]
    found = largest(values, most)
    assert len(set(found)) == len(found) == min(most, len(finite))
    chosen = np.sort(values[found])[::-1]
    rest = 1e-11 * np.ptp(finite) if len(finite) else 0.0  # what halving the range leaves
    np.testing.assert_allclose(chosen, finite[: len(found)], rtol=0, atol=rest)
