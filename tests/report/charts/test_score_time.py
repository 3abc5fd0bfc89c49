"""Mean score against time: the front has the methods that no other beats."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.report.charts.time import front, labelled, score_time_chart


def summary(means, seconds, names="ABCDEFGH", planned=1):
    return pd.DataFrame({"method": list(names)[: len(means)], "mean": means, "total_seconds": seconds}).assign(
        planned=planned
    )


def names_on_front(frame, **options):
    marked = front(frame, **options)
    return "".join(marked.loc[marked["front"], "method"])


def test_the_front_is_marked(rows_of):
    chart = score_time_chart(summary([0.9, 0.8, 0.7, 0.95], [4.0, 1.0, 2.0, 9.0]), "accuracy")
    assert rows_of(chart, "method", "mean", "seconds", "front") == [
        ["A", 0.9, 4.0, True],
        ["B", 0.8, 1.0, True],
        ["C", 0.7, 2.0, False],
        ["D", 0.95, 9.0, True],
    ]


def test_ties_on_the_front():
    for means, seconds, expected in [
        ([0.9, 0.9], [1.0, 2.0], "A"),
        ([0.8, 0.9], [1.0, 1.0], "B"),
        ([0.9, 0.9, 0.8], [1.0, 1.0, 2.0], "AB"),
        ([0.9], [1.0], "A"),
    ]:
        assert names_on_front(summary(means, seconds)) == expected


def test_smaller_may_be_better():
    frame = summary([0.2, 0.1, 0.3], [1.0, 2.0, 3.0])
    assert names_on_front(frame) == "AC"
    assert names_on_front(frame, greater_is_better=False) == "AB"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), min_size=1, max_size=8))
def test_a_method_is_on_the_front_unless_another_beats_it(points):
    means, seconds = zip(*points, strict=True)
    marked = front(summary(np.array(means, dtype=float), np.array(seconds, dtype=float)))
    for (mean, time), on_front in zip(points, marked["front"], strict=True):
        beaten = any(m >= mean and t <= time and (m > mean or t < time) for m, t in points)
        assert on_front != beaten


def test_time_is_per_planned_trial(rows_of):
    chart = score_time_chart(summary([0.9, 0.8], [50.0, 10.0], planned=[5, 10]), "accuracy")
    assert rows_of(chart, "method", "seconds") == [["A", 10.0], ["B", 1.0]]


def test_methods_without_a_mean_or_a_time_are_left_out(rows_of):
    frame = summary([0.9, np.nan, 0.7, 0.6, 0.5], [4.0, 1.0, 0.0, np.nan, 2.0])
    assert rows_of(score_time_chart(frame, "accuracy"), "method") == [["A"], ["E"]]


@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_methods_have_no_chart(size):
    assert score_time_chart(summary([0.9, np.nan], [1.0, 1.0])[:size], "accuracy") is None
    assert score_time_chart(summary([0.9, np.nan], [1.0, 1.0]), "accuracy") is None


def test_the_words_name_the_front_fastest_first():
    chart = score_time_chart(summary([0.9, 0.8, 0.7], [4.0, 1.0, 2.0]), "accuracy")
    assert chart.alt() == "Methods on the front, fastest first: B (0.800, 1 s), A (0.900, 4 s)."


def test_titles_name_the_metric(words_of):
    words = words_of(score_time_chart(summary([0.9, 0.8], [4.0, 1.0]), "log_loss", greater_is_better=False))
    assert {"Mean log_loss against time", "mean log_loss", "seconds per trial"} <= set(words)


def test_many_methods_have_a_label_each(words_of):
    methods = [f"M{number}" for number in range(27)]
    frame = summary(np.linspace(0.5, 0.9, 27), np.linspace(1.0, 2.0, 27), methods)
    assert [word for word in words_of(score_time_chart(frame, "accuracy")) if word in methods] == methods


def test_names_are_plain_text(hostile, check_names):
    numbers = np.linspace(0.5, 0.9, len(hostile))
    check_names(score_time_chart(summary(numbers, numbers, hostile), "accuracy"), hostile)


class TestLabels:
    def test_names_that_would_cover_another_are_left_out(self):
        frame = front(summary([0.9, 0.9, 0.5, 0.7], [1.0, 1.01, 100.0, 100.0]))
        assert labelled(frame) == ["A", "C", "D"]

    def test_the_front_has_priority(self):
        frame = front(summary([0.8, 0.801, 0.1], [1.01, 1.0, 1000.0]))
        assert labelled(frame) == ["B", "C"]

    def test_all_dots_in_one_place_share_one_name(self):
        assert labelled(front(summary([0.5] * 3, [1.0] * 3))) == ["A"]

    @given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=1, max_size=8))
    def test_every_method_keeps_its_dot(self, points):
        means, seconds = zip(*points, strict=True)
        frame = front(summary(np.array(means, dtype=float), np.array(seconds, dtype=float)))
        names = labelled(frame)
        assert len(set(names)) == len(names) >= 1
        assert set(names) <= set(frame["method"])


def test_a_dot_without_a_name_is_drawn(rows_of):
    chart = score_time_chart(summary([0.9, 0.9, 0.1], [1.0, 1.0, 9.0]), "accuracy")
    assert len(rows_of(chart, "method")) == 3
