"""Combinations with coefficients ≥ 0, or the direction that excludes them: one of the two, always checked."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from maxmargin.theory.cone import Coefficients, Separator, in_cone, inner
from tests.strategies import examples

small = st.integers(-3, 3).map(Fraction)


def vectors(d):
    return st.tuples(*[small] * d)


@examples(150)
@given(st.integers(1, 4).flatmap(lambda d: st.tuples(st.lists(vectors(d), max_size=6), vectors(d))))
def test_either_answer_is_a_proof(drawn):
    columns, b = drawn
    found = in_cone(columns, b)
    if isinstance(found, Coefficients):
        assert all(x >= 0 for x in found.x)
        assert tuple(sum((x * a[i] for x, a in zip(found.x, columns, strict=True)), Fraction(0)) for i in range(len(b))) == b
    else:
        assert isinstance(found, Separator)
        assert all(inner(found.d, a) <= 0 for a in columns)
        assert inner(found.d, b) > 0


def test_a_cycling_pivot_rule_would_not_end_here():
    """Beale's example, whose columns make the largest-coefficient rule cycle."""
    F = Fraction
    columns = [(F(1, 4), F(1, 2), F(0)), (F(-60), F(-90), F(0)), (F(-1, 25), F(-1, 50), F(1)), (F(9), F(3), F(0))]
    columns += [(F(1), F(0), F(0)), (F(0), F(1), F(0)), (F(0), F(0), F(1))]
    assert isinstance(in_cone(columns, (F(0), F(0), F(1))), Coefficients)
