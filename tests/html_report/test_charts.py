"""Charts as data: ticks, places and legends; and how numbers are written."""

import re

import numpy as np
from contourpy import contour_generator

from maxmargin.html_report.charts import Chart, number, rings, ticks
from maxmargin.html_report.report import TEMPLATES


def drawn(chart):
    """The template's figure."""
    source = "{% from 'macros.html.j2' import figure %}{% call figure(chart) %}the caption{% endcall %}"
    return TEMPLATES.from_string(source).render(chart=chart)


def test_ticks_are_round_and_inside():
    for low, high in ((0.0, 1.0), (-3.7, 12.2), (1e-7, 3e-7), (-1e6, 5e5)):
        found = ticks((low, high))
        assert 3 <= len(found) <= 8
        assert low - 1e-9 * (high - low) <= min(found)
        assert max(found) <= high + 1e-9 * (high - low)


def test_powers_of_ten_are_whole():
    for low, powers in ((-7.2, ["−6", "−4", "−2", "0"]), (-1.5, ["−1", "0"])):
        svg = drawn(Chart("", "", "", (0.0, 1.0), (low, 0.3), has_powers=True))
        assert re.findall(r">10<tspan [^>]*>(.*?)</tspan>", svg) == powers


def test_what_has_words_is_in_the_legend():
    chart = Chart("", "", "", (0.0, 1.0), (0.0, 1.0))
    chart.draw("box", "bar", [[(0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (0.0, 1.0)]], "bars")
    chart.marks([0.5], [0.5], "circle", "dot", 2.0, "marks")
    chart.vertical(0.5, "edge")
    chart.vertical(2.0, "edge")
    assert [class_ for _, class_, _, _ in chart.parts] == ["bar", "dot", "edge"]
    svg = drawn(chart)
    assert re.findall(r'<use href="#(\w+)"[^>]* class="(\w+)"/></svg>(\w+)', svg) == [
        ("box", "bar", "bars"),
        ("circle", "dot", "marks"),
    ]
    assert 'd="M76.0 250.0L392.0 250.0L392.0 12.0L76.0 12.0z"' in svg
    assert '<g class="dot"><use href="#circle" transform="translate(392.0 131.0)scale(2.0)"/></g>' in svg
    assert "the caption" in svg


def test_areas_have_their_holes_and_curves_their_ends():
    x = np.linspace(-1.0, 1.0, 80)
    contours = contour_generator(x, x, np.hypot(*np.meshgrid(x, x)))
    chart = Chart("", "", "", (-1.0, 1.0), (-1.0, 1.0))
    chart.draw("box", "band", rings(contours.filled(0.4, 0.8)))
    chart.draw("line", "edge", contours.lines(0.6))
    chart.draw("line", "edge", contours.lines(5.0))
    (band, area), (edge, curve) = re.findall(r'<path class="(\w+)" d="(.*?)"/>', drawn(chart))
    assert (band, area.count("M"), area.count("z")) == ("band", 2, 2)
    assert (edge, curve.count("M"), curve.count("z")) == ("edge", 1, 0)


def test_numbers_have_thousands_apart_and_a_real_minus():
    assert number(1234567) == "1\u202f234\u202f567"
    assert number(-0.5) == "−0.5"
