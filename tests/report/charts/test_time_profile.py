"""The performance profile: a line for each method, valid and self-contained SVG."""

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from mfbench.report.charts.time_profile import draw_profile, time_profile_chart


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def test_a_profile_has_a_line_for_each_method_whatever_fails():
    ratios = pd.DataFrame({"A": [1.0, 1.0], "B": [30.0, np.inf], "C <x>": [np.inf, np.inf]})
    svg = draw_profile(ratios, "times")
    assert {"A", "B", "C <x>", "times", "100"} <= set(texts(svg))
    paths = [e for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("path")]
    assert len(paths) == 2 * 3


def test_the_chart_draws_it_under_a_title():
    svg = time_profile_chart(pd.DataFrame({"A": [1.0]})).svg("times")
    assert "times" in texts(svg)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|<script|<image", svg)
