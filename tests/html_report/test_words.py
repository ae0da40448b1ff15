"""How values are written."""

from maxmargin.html_report.words import number


def test_numbers_have_thousands_apart_and_a_real_minus():
    assert number(1234567) == "1\u202f234\u202f567"
    assert number(-0.5) == "−0.5"
