"""The performance profile: a step function for each method, valid and self-contained."""

import numpy as np
import pandas as pd
import pytest

from mfbench.report.charts.drawing import COLOURS
from mfbench.report.charts.time import time_profile_chart
from mfbench.stats.across_datasets import performance_profile, performance_ratios

RATIOS = pd.DataFrame({"A": [1.0, 1.0, 3.0], "B": [30.0, np.inf, 1.0], "C": [np.inf] * 3})


def share_at(rows, method, factor):
    """Return the share that the step function of a method has at a factor."""
    return max((at, share) for name, at, share in rows if name == method and at <= factor)[1]


def test_the_steps_are_those_of_the_profile(rows_of):
    costs = pd.DataFrame(np.random.default_rng(0).lognormal(size=(12, 3)), columns=list("ABC"))
    ratios = performance_ratios(costs)
    rows = rows_of(time_profile_chart(ratios), "method", "factor", "share")
    factors = (1.0, 1.5, 2.0, 5.0, 10.0)
    for method, shares in performance_profile(ratios, factors).iterrows():
        assert [share_at(rows, method, factor) for factor in factors] == pytest.approx(shares.tolist())


def test_every_line_reaches_from_1_to_the_end_whatever_fails(rows_of, words_of):
    rows = rows_of(time_profile_chart(RATIOS), "method", "factor", "share")
    for method, last in zip("ABC", (1.0, 2 / 3, 0.0), strict=True):
        own = [row[1:] for row in rows if row[0] == method]
        assert own[0][0] == 1.0 and own[-1] == [100.0, pytest.approx(last)]
        assert own == sorted(own)
    assert {"A", "B", "C", "1", "10", "100"} <= set(words_of(time_profile_chart(RATIOS)))


def test_the_axis_ends_at_a_power_of_ten(drawn):
    for largest, end in ((1.0, 10.0), (10.0, 10.0), (10.1, 100.0), (1000.0, 1000.0), (np.inf, 10.0)):
        content = drawn(time_profile_chart(pd.DataFrame({"A": [1.0], "B": [largest]})))
        assert content["encoding"]["x"]["scale"]["domain"] == [1.0, end]


def test_the_method_with_the_largest_area_comes_first(drawn):
    ratios = pd.DataFrame({"slow": [9.0, 9.0], "fast": [1.0, 1.0], "failed": [np.inf, np.inf]})
    chart = time_profile_chart(ratios)
    assert drawn(chart)["encoding"]["color"]["scale"]["domain"] == ["fast", "slow", "failed"]
    assert chart.alt() == (
        "Share of datasets on which each method is the fastest: fast 100%, slow 0%, failed 0%."
    )  # fmt: skip


def test_ties_count_for_each_of_the_fastest():
    chart = time_profile_chart(pd.DataFrame({"A": [1.0, 1.0, 2.0, 1.0], "B": [1.0, 2.0, 1.0, 2.0]}))
    assert chart.alt().endswith("A 75%, B 50%.")


def test_many_methods_have_a_line_style_each(drawn, words_of):
    chart = time_profile_chart(pd.DataFrame({f"M{number}": [1.0 + number, 2.0] for number in range(27)}))
    encoding = drawn(chart)["encoding"]
    styles = zip(encoding["color"]["scale"]["range"], map(str, encoding["strokeDash"]["scale"]["range"]), strict=True)
    assert len(set(styles)) == 27 > len(COLOURS)
    assert {f"M{number}" for number in range(27)} <= set(words_of(chart))


@pytest.mark.parametrize("values", [[1.0], [np.nan, 1.0]])
def test_one_method_alone_can_be_drawn(values, words_of):
    assert "A" in words_of(time_profile_chart(pd.DataFrame({"A": values})))


def test_names_are_plain_text(hostile, check_names):
    check_names(time_profile_chart(pd.DataFrame({name: [1.0, 2.0] for name in hostile})), hostile)
