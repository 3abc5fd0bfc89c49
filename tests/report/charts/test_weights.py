"""The chart of weights: a bar for each positive weight, relevant features in colour."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd

from mfbench.report.charts.weights import IRRELEVANT, RELEVANT, draw_weights, weights_chart


def colours(svg):
    return [bar.get("fill") for bar in ElementTree.fromstring(svg).findall(".//{*}rect")]


def trials(*weights):
    return pd.DataFrame({"method": [f"M{k}" for k in range(len(weights))], "weights": list(map(np.array, weights))})


def test_relevant_features_have_another_colour():
    bars = colours(draw_weights("xor", trials([1.0, 0.5, 0.1, 0.0]), [0, 1]))
    assert bars.count(RELEVANT) == 2
    assert bars.count(IRRELEVANT) == 1


def test_a_negative_weight_has_no_bar():
    bars = colours(draw_weights("mux6", trials(*[[0.0, -1.0, -2.0, 0.5, 0.0, 0.0]] * 5), [0, 1]))
    assert RELEVANT not in bars
    assert bars.count(IRRELEVANT) == 5


def test_the_chart_is_named_for_a_file():
    assert weights_chart(2, "xor(n_noise=6)", trials([1.0]), []).name == "weights-02-xor-n-noise-6"
