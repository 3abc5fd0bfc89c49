"""Shares of wins as a heat map: those of all ordered pairs, best method first."""

import numpy as np
import pandas as pd
import pytest

from mfbench.report.charts.comparison import win_probabilities_chart
from mfbench.stats.across_datasets import Overall, complete

# Of four datasets, A is better than B on three and equal on one, and better than C on two.
SCORES = pd.DataFrame({"C": [0.9, 0.9, 0.1, 0.1], "A": [0.8, 0.8, 0.8, 0.5], "B": [0.7, 0.7, 0.7, 0.5]})


def wins(names):
    return pd.DataFrame(0.5, index=list(names), columns=list(names))


@pytest.fixture
def chart():
    return win_probabilities_chart(Overall(complete(SCORES, "drop-dataset"), True, "A").wins)


def test_the_shares_are_those_of_the_scores(chart, rows_of):
    shares = {(row, column): share for row, column, share in rows_of(chart, "row", "column", "share")}
    assert shares == {
        ("A", "B"): 0.875, ("A", "C"): 0.5, ("B", "A"): 0.125,
        ("B", "C"): 0.5, ("C", "A"): 0.5, ("C", "B"): 0.5,
    }  # fmt: skip


def test_smaller_may_be_better(rows_of):
    turned = win_probabilities_chart(Overall(complete(SCORES, "drop-dataset"), False, "A").wins)
    shares = {(row, column): share for row, column, share in rows_of(turned, "row", "column", "share")}
    assert shares["A", "B"] == 0.125 and shares["B", "A"] == 0.875


def test_the_best_method_comes_first_on_both_axes(chart, words_of):
    assert [word for word in words_of(chart) if word in SCORES] == ["A", "C", "B"] * 2


def test_the_words_state_the_mean_share_against_the_others(chart):
    assert chart.alt() == "Mean share of wins: A 0.69, C 0.50, B 0.31."


def test_many_methods_have_colours_without_numbers(drawn, words_of):
    few, many = (win_probabilities_chart(wins([f"M{number}" for number in range(size)])) for size in (16, 27))
    assert [layer["mark"]["type"] for layer in drawn(few)["layer"]] == ["rect", "text"]
    assert [layer["mark"]["type"] for layer in drawn(many)["layer"]] == ["rect"]
    words = words_of(many)
    assert [words.count(f"M{number}") for number in range(27)] == [2] * 27


def test_an_undefined_share_can_be_drawn(words_of):
    assert words_of(win_probabilities_chart(wins("AB").replace(0.5, np.nan))).count("A") == 2


def test_one_method_alone_can_be_drawn(drawn, words_of):
    chart = win_probabilities_chart(wins("A"))
    drawn(chart)
    assert "Shares of wins" in words_of(chart)


def test_names_are_plain_text(hostile, check_names):
    check_names(win_probabilities_chart(wins(hostile)), hostile)
