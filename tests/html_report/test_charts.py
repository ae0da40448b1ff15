"""Charts as data: ticks, places and legends; and how numbers are written."""

import numpy as np
from contourpy import contour_generator

from maxmargin.html_report.charts import Chart, number, ticks


def test_ticks_are_round_and_inside():
    for low, high in ((0.0, 1.0), (-3.7, 12.2), (1e-7, 3e-7), (-1e6, 5e5)):
        found = ticks(low, high)
        assert 3 <= len(found) <= 8
        assert low - 1e-9 * (high - low) <= min(found)
        assert max(found) <= high + 1e-9 * (high - low)


def test_powers_of_ten_are_whole():
    chart = Chart("", "", "", (0.0, 1.0), (-7.2, 0.3), has_powers=True)
    assert [words for _, words in chart.y_ticks] == ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]
    chart = Chart("", "", "", (0.0, 1.0), (-1.5, 0.3), has_powers=True)
    assert [words for _, words in chart.y_ticks] == ["10⁻¹", "10⁰"]


def test_what_has_words_is_in_the_legend():
    chart = Chart("", "", "", (0.0, 1.0), (0.0, 1.0))
    chart.boxes([(0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 0.0)], "bar", "bars")
    chart.marks([0.5], [0.5], "circle", "dot", 2.0, "marks")
    chart.vertical(0.5, "edge")
    chart.vertical(2.0, "edge")
    assert chart.legend == [("box", "bar", "bars"), ("circle", "dot", "marks")]
    (_, _, bars), (_, shape, ((x, y, radius),)), _ = chart.parts
    assert bars.count("z") == 1
    assert (shape, float(radius)) == ("circle", 2.0)
    assert (float(x), float(y)) == (float(chart.x(0.5)), float(chart.y(0.5)))


def test_areas_have_their_holes_and_curves_their_ends():
    x = np.linspace(-1.0, 1.0, 80)
    contours = contour_generator(x, x, np.hypot(*np.meshgrid(x, x)))
    chart = Chart("", "", "", (-1.0, 1.0), (-1.0, 1.0))
    chart.areas(contours.filled(0.4, 0.8), "band")
    chart.curves(contours.lines(0.6), "edge")
    chart.curves(contours.lines(5.0), "edge")
    (band, _, area), (edge, _, curve) = chart.parts
    assert (band, area.count("M"), area.count("z")) == ("band", 2, 2)
    assert (edge, curve.count("M"), curve.count("z")) == ("edge", 1, 0)


def test_numbers_have_thousands_apart_and_a_real_minus():
    assert number(1234567) == "1\u202f234\u202f567"
    assert number(-0.5) == "−0.5"
