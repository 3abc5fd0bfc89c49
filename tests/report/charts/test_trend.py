"""The chart of a trend: blocks on a line, and a picture."""

from dataclasses import replace

import numpy as np
import pytest

from mfbench_gate.history.display import sparkline, trend_chart
from mfbench_gate.history.trends import Trend, select_series, trend_of


@pytest.fixture
def trend(make_entry):
    levels = np.repeat([1.0, 1.5], 6)
    entries = [make_entry(k, {("<A>", "iris"): level}) for k, level in enumerate(levels)]
    return trend_of(select_series(entries)[0])


def cut(trend, length):
    return Trend(replace(trend.series, points=trend.series.points[:length]), ())


def test_a_rise_and_a_fall():
    assert sparkline([1.0, 2.0, 1.0]) == "▁█▁"


def test_only_the_last_values_are_shown():
    assert sparkline([9.0] * 50 + [1.0] * 30) == "▄" * 30


def test_small_noise_does_not_fill_the_line():
    assert set(sparkline([1.0, 1.005, 0.995, 1.0])) <= set("▄▅")


def test_odd_values():
    for values in [[], [0.0], [-1.0, -2.0], [0.0, 0.0]]:
        assert len(sparkline(values)) == len(values)


def test_the_picture_has_a_dot_for_each_run_in_the_order_of_the_commits(trend, rows_of):
    rows = rows_of(trend_chart(1, trend), "run", "value", "commit", "date", "is")
    assert rows == [
        [number, point.value, point.commit[:7], point.date, "1 s" if number <= 6 else "1.5 s"]
        for number, point in enumerate(trend.series.points, 1)
    ]
    assert len(rows) == 12


def test_a_bar_is_at_the_median_of_each_level(trend, rows_of):
    assert rows_of(trend_chart(1, trend), "run", "end", "value") == [
        [0.6, 6.4, 1.0],
        [6.6, pytest.approx(12.4), 1.5],
    ]


def test_a_line_is_at_each_change_with_the_first_commit_after_it(trend, drawn, words_of):
    content = drawn(trend_chart(1, trend))
    assert [{"run": 6.5, "commit": "0000006"}] in content["datasets"].values()
    assert trend.changes[0].first_after.commit[:7] in words_of(trend_chart(1, trend))


def test_the_axis_shows_noise_as_small(trend, drawn):
    quiet = drawn(trend_chart(1, cut(trend, 6)))["layer"][-1]["encoding"]["y"]["scale"]["domain"]
    assert quiet == pytest.approx([0.95, 1.05])
    changed = drawn(trend_chart(1, trend))["layer"][-1]["encoding"]["y"]["scale"]["domain"]
    assert changed == [1.0, 1.5]


@pytest.mark.parametrize("length", [0, 1])
def test_short_series_can_be_drawn(length, trend, words_of):
    chart = trend_chart(1, cut(trend, length))
    assert "<A>/iris: time" in words_of(chart)
    assert chart.alt() == f"<A>/iris, time over {length} runs: {'1 s' if length else 'no level'}."


def test_the_words_state_the_levels(trend):
    assert trend_chart(1, trend).alt() == "<A>/iris, time over 12 runs: 1 s, then 1.5 s."


def test_names_are_plain_text(hostile, trend, check_names):
    for method, dataset in zip(hostile, hostile[::-1], strict=True):
        named = Trend(replace(trend.series, method=method, dataset=dataset), trend.changes)
        check_names(trend_chart(1, named), [f"{method}/{dataset}: time"])


def test_the_chart_has_a_name_fit_for_a_file(trend):
    assert trend_chart(3, trend).name == "trend-03-a-iris-time"
