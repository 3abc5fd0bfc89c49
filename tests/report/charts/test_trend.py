"""The chart of a trend: blocks on a line, and an SVG document."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from mfbench.compare.history.series import select_series
from mfbench.compare.history.trends import trend_of
from mfbench.report.charts.trend import draw_trend, sparkline, trend_chart

pytest.importorskip("ruptures")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def trend(make_entry):
    levels = np.repeat([1.0, 1.5], 6)
    entries = [make_entry(k, {("<A>", "iris"): level}) for k, level in enumerate(levels)]
    return trend_of(select_series(entries)[0])


def test_a_rise_and_a_fall():
    assert sparkline([1.0, 2.0, 1.0]) == "▁█▁"


def test_only_the_last_values_are_shown():
    assert sparkline([9.0] * 50 + [1.0] * 30) == "▄" * 30


def test_small_noise_does_not_fill_the_line():
    assert set(sparkline([1.0, 1.005, 0.995, 1.0])) <= set("▄▅")


@pytest.mark.parametrize("values", [[], [0.0], [-1.0, -2.0], [0.0, 0.0]])
def test_odd_values(values):
    assert len(sparkline(values)) == len(values)


def test_the_picture_has_a_dot_for_each_run_and_a_line_at_each_change(trend):
    root = ElementTree.fromstring(draw_trend(trend, "a & b"))
    assert root.find(f"{SVG}title").text == "a & b"
    assert len(root.findall(f"{SVG}circle")) == 12
    marks = [line for line in root.findall(f"{SVG}line") if line.get("stroke") == "#999999"]
    levels = [line for line in root.findall(f"{SVG}line") if line.get("stroke") == "#d55e00"]
    assert (len(marks), len(levels)) == (1, 2)
    texts = [element.text for element in root.findall(f"{SVG}text")]
    assert trend.changes[0].first_after.commit[:7] in texts


def test_the_chart_has_a_name_fit_for_a_file(trend):
    chart = trend_chart(3, trend)
    assert chart.name == "trend-03-a-iris-time"
    assert "&lt;A&gt;/iris: time" in chart.svg("")
    assert "My title" in chart.svg("My title")
