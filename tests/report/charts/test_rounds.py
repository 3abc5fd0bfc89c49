"""The chart of rounds: a dot for each round, a bar for the mean."""

from xml.etree import ElementTree

import pandas as pd
import pytest

from mfbench.report.charts.rounds import MEAN, draw_rounds, rounds_chart

TRIALS = pd.DataFrame(
    {"method": ["A", "A", "B <x>", "B <x>"], "detection": [0.0, 1.0, 0.5, None], "false_alarm": [0.0, 0.0, None, None]}
)


def test_a_dot_for_each_round_and_a_bar_for_each_mean():
    root = ElementTree.fromstring(draw_rounds("xor", TRIALS))
    assert len(root.findall(".//{*}circle")) == 3 + 2
    bars = [line for line in root.findall(".//{*}line") if line.get("stroke") == MEAN]
    assert len(bars) == 3
    dots = [float(dot.get("cx")) for dot in root.findall(".//{*}circle")][:2]
    assert float(bars[0].get("x1")) == pytest.approx(sum(dots) / 2, abs=0.1)


def test_names_are_text():
    root = ElementTree.fromstring(draw_rounds("<script>", TRIALS))
    assert {"<script>", "B <x>", "false-alarm rate"} <= {element.text for element in root.iter()}


def test_the_chart_is_named_for_a_file():
    assert rounds_chart(1, "XOR (n=6)", TRIALS).name == "rounds-01-xor-n-6"
