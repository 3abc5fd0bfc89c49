"""How often features are selected: shares of folds, most often selected features first."""

import numpy as np
import pytest

from mfbench.report.charts.features import MOST_FEATURES, frequencies, selection_chart

COUNTS = {"A": (np.array([0, 4, 2]), 4), "B": (np.array([1, 2, 2]), 2)}


def chart_of(counts, names, stability=None, dataset="d"):
    return selection_chart(1, dataset, counts, names, stability or {})


def test_shares_of_folds_of_the_most_often_selected_features_first(rows_of):
    chart = chart_of(COUNTS, ["x", "y", "z"])
    assert rows_of(chart, "method", "feature", "position", "share") == [
        ["A", "y", 1, 1.0],
        ["A", "z", 2, 0.5],
        ["A", "x", 3, 0.0],
        ["B", "y", 1, 1.0],
        ["B", "z", 2, 1.0],
        ["B", "x", 3, 0.5],
    ]


def test_features_that_share_a_name_have_places_of_their_own(rows_of):
    chart = chart_of({"A": (np.array([1, 2]), 2)}, ["x", "x"])
    assert rows_of(chart, "feature", "position", "share") == [["x", 1, 1.0], ["x", 2, 0.5]]


def test_the_label_of_a_method_has_its_stability_if_it_is_defined(words_of):
    words = words_of(chart_of(COUNTS, ["x", "y", "z"], {"A": 0.456, "B": np.nan}))
    assert "A (0.46)" in words and "B" in words


def test_of_many_features_the_first_are_shown():
    counts = np.arange(MOST_FEATURES + 10)
    names = [f"f{number}" for number in counts]
    frame = frequencies({"A": (counts, 100)}, names)
    assert frame["feature"].tolist() == names[:9:-1]
    assert frame["share"].tolist() == [count / 100 for count in counts[:9:-1]]
    assert chart_of({"A": (counts, 100)}, names).caption.endswith("The first 60 of 70 features.")
    assert "The first" not in chart_of(COUNTS, ["x", "y", "z"]).caption


@pytest.mark.parametrize("n_features", [1, MOST_FEATURES])
def test_many_methods_keep_their_order(n_features, words_of):
    methods = [f"M{number}" for number in range(27)]
    counts = {method: (np.ones(n_features, dtype=int), 2) for method in methods}
    words = words_of(chart_of(counts, [f"f{number}" for number in range(n_features)]))
    assert [word for word in words if word in methods] == methods


def test_a_feature_that_nothing_selects_has_a_share_of_0(rows_of):
    assert rows_of(chart_of({"A": (np.zeros(2, dtype=int), 3)}, ["x", "y"]), "share") == [[0.0], [0.0]]


def test_the_words_name_the_features_that_each_method_selects_most_often():
    counts = {"A": (np.array([1, 4, 3, 2]), 4), "B": (np.array([4, 0, 0, 0]), 4)}
    assert chart_of(counts, ["w", "x", "y", "z"]).alt() == (
        "d, features selected most often: A: x 100%, y 75%, z 50%; B: w 100%, x 0%, y 0%."
    )


def test_names_are_plain_text(hostile, check_names):
    counts = {method: (np.ones(len(hostile), dtype=int), 1) for method in hostile}
    dataset = " ".join(hostile)
    check_names(chart_of(counts, hostile, dict.fromkeys(hostile, 0.5), dataset), [*hostile, dataset])


def test_the_chart_is_named_for_a_file():
    assert chart_of(COUNTS, ["x", "y", "z"], dataset="My data").name == "selection-01-my-data"
