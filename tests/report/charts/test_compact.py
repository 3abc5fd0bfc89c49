"""A drawing in its compact form shows what the long one does."""

import re
import xml.etree.ElementTree as ElementTree

import altair
import pandas as pd
import pytest

from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import picture, picture_of, specification

FRAME = pd.DataFrame({"x": range(40), "y": [0.0, 1 / 3] * 20})


@pytest.fixture
def chart():
    bars = altair.Chart(FRAME).mark_bar().encode(x="x:O", y="y")
    return Chart("bars", "Bars", spec=lambda: bars, alt=lambda: "Twenty <bars>")


def test_a_file_is_a_document_with_one_label(chart):
    svg = picture(chart).decode()
    root = ElementTree.fromstring(svg)
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert root.get("role") == "img" and root.get("aria-label") == "Twenty <bars>"
    assert svg.count("aria-") == 1


def test_it_is_smaller_and_has_the_same_text(chart):
    long, short = picture_of(specification(chart)).decode(), picture(chart).decode()
    assert len(short) < 0.4 * len(long)
    assert re.findall(r">([^<>]+)</text>", short) == re.findall(r">([^<>]+)</text>", long)


def test_bars_without_height_are_left_out(chart):
    assert len(re.findall(r'd="M[^"]*h[^"]*Z"', picture(chart).decode())) == 20
