"""The chart of rounds: a dot for each round, a bar for the mean."""

import numpy as np
import pandas as pd
import pytest

from mfbench_protocols.charts import PANELS, rounds_chart

TRIALS = pd.DataFrame(
    {
        "method": ["A", "A", "B", "B"],
        "repeat": [0, 1, 0, 1],
        "fold": 0,
        "detection": [0.0, 1.0, 0.5, None],
        "false_alarm": [0.25, 0.0, None, None],
    }
)


def trials(methods, rounds=2, value=0.5):
    rows = [{"method": method, "repeat": number} for method in methods for number in range(rounds)]
    return pd.DataFrame(rows).assign(fold=0, detection=value, false_alarm=value)


def test_a_dot_for_each_round_that_has_a_value(rows_of):
    assert rows_of(rounds_chart(1, "xor", TRIALS), "rate", "method", "round", "value") == [
        ["detection rate", "A", 0, 0.0],
        ["detection rate", "A", 1, 1.0],
        ["detection rate", "B", 0, 0.5],
        ["false-alarm rate", "A", 0, 0.25],
        ["false-alarm rate", "A", 1, 0.0],
    ]


def test_the_bar_is_the_mean(drawn):
    for panel in drawn(rounds_chart(1, "xor", TRIALS))["hconcat"]:
        bars, dots = panel["layer"]
        assert bars["mark"]["type"] == "tick" and dots["mark"]["type"] == "circle"
        assert bars["encoding"]["x"]["aggregate"] == "mean" and "aggregate" not in dots["encoding"]["x"]


def test_both_panels_have_the_same_rows_in_order_though_a_rate_is_undefined(drawn):
    panels = drawn(rounds_chart(1, "xor", TRIALS[::-1]))["hconcat"]
    domains = [layer["encoding"]["y"]["scale"]["domain"] for panel in panels for layer in panel["layer"]]
    assert domains == [["B", "A"]] * 4


def test_equal_values_do_not_hide_each_other(rows_of):
    places = rows_of(rounds_chart(1, "xor", trials("AB", rounds=5)), "rate", "method", "position")
    assert [place for rate, method, place in places if (rate, method) == ("detection rate", "B")] == [
        -1, -0.5, 0, 0.5, 1
    ]  # fmt: skip
    assert rows_of(rounds_chart(1, "xor", trials("A", rounds=1)), "position") == [[0], [0]]


def test_many_methods_keep_their_order(words_of):
    methods = [f"M{number}" for number in range(27)]
    assert [word for word in words_of(rounds_chart(1, "xor", trials(methods))) if word in methods] == methods


@pytest.mark.parametrize("value", [np.nan, None])
def test_without_any_value_there_are_rows_without_dots(value, words_of, rows_of):
    undefined = trials("AB", value=value).astype({"detection": float, "false_alarm": float})
    chart = rounds_chart(1, "xor", undefined)
    assert {"A", "B", *PANELS.values()} <= set(words_of(chart))
    assert chart.alt().endswith("A – and –, B – and –.")


def test_the_words_state_the_means_and_leave_undefined_ones_out():
    assert rounds_chart(1, "xor", TRIALS).alt() == (
        "xor, mean detection rate and false-alarm rate: A 0.50 and 0.12, B 0.50 and –."
    )


def test_names_are_plain_text(hostile, check_names):
    check_names(rounds_chart(1, " ".join(hostile), trials(hostile)), [*hostile, " ".join(hostile)])


def test_the_chart_is_named_for_a_file():
    assert rounds_chart(1, "XOR (n=6)", TRIALS).name == "rounds-01-xor-n-6"
