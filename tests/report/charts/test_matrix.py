"""Weights of pairs as a heat map: the mean weights, similar features together, the largest in the description."""

import numpy as np
import pandas as pd
import pytest

from mfbench.report.charts.comparison import MOST_FEATURES, matrix_chart, matrix_of, order_of
from mfbench.report.charts.drawing import BETTER, WORSE

PAIRS = pd.DataFrame({"first": ["x", "x", "y"], "second": ["y", "x", "z"], "value": [0.5, 2.0, -0.25]})


def chart_of(pairs, names, dataset="d", method="m"):
    return matrix_chart(1, dataset, method, pairs, names)


def pairs_of(rows):
    return pd.DataFrame(rows, columns=["first", "second", "value"])


def test_the_matrix_is_symmetric_and_pairs_without_a_weight_have_0():
    assert matrix_of(PAIRS, ["x", "y", "z"]).tolist() == [[2.0, 0.5, 0.0], [0.5, 0.0, -0.25], [0.0, -0.25, 0.0]]


def test_each_weighed_pair_has_one_cell(rows_of):
    rows = rows_of(chart_of(PAIRS, ["x", "y", "z"]), "first", "second", "weight")
    cells = {frozenset((a, b)): weight for a, b, weight in rows}
    assert len(rows) == 3
    assert cells == {frozenset("x"): 2.0, frozenset("xy"): 0.5, frozenset("yz"): -0.25}


def test_colours_are_symmetric_about_0(drawn):
    scale = drawn(chart_of(PAIRS, ["x", "y", "z"]))["encoding"]["color"]["scale"]
    assert scale["domain"] == [-2.0, 0.0, 2.0]
    assert (scale["range"][0], scale["range"][-1]) == (WORSE, BETTER)


def test_features_with_similar_weights_are_neighbours(words_of):
    rows = [(a, b, 1.0) for group in ("ace", "bdf") for a in group for b in group if a <= b]
    order = "".join("abcdef"[index] for index in order_of(matrix_of(pairs_of(rows), list("abcdef"))))
    assert {frozenset(order[:3]), frozenset(order[3:])} == {frozenset("ace"), frozenset("bdf")}
    assert "".join(word for word in words_of(chart_of(pairs_of(rows), list("abcdef"))) if word in "abcdef") == order * 2


@pytest.mark.parametrize("weights", [np.zeros((4, 4)), np.ones((2, 2)), np.zeros((0, 0))])
def test_without_similarities_features_keep_their_order(weights):
    assert order_of(weights) == list(range(len(weights)))


def test_the_words_name_the_largest_weights_of_different_features():
    rows = [("a", "b", 0.1), ("a", "c", -0.9), ("b", "c", 0.3), ("b", "d", 0.2), ("a", "a", 5.0)]
    assert chart_of(pairs_of(rows), list("abcd")).alt() == (
        "Largest weights of pairs: a and c -0.900, b and c 0.300, b and d 0.200."
    )


@pytest.mark.parametrize("names", [["x"], ["x", "y", "z"]])
def test_no_weights_at_all_can_be_drawn(names, words_of):
    chart = chart_of(pairs_of([]).astype({"value": float}), names)
    assert "m on d: weights of pairs of features" in words_of(chart)
    assert chart.alt() == "Largest weights of pairs: none."


def test_of_many_features_those_with_the_largest_weights_are_shown(rows_of):
    names = [f"f{number}" for number in range(MOST_FEATURES + 40)]
    rows = [(names[number], names[number + 1], float(number)) for number in range(len(names) - 1)]
    chart = chart_of(pairs_of(rows), names)
    shown = {name for pair in rows_of(chart, "first", "second") for name in pair}
    assert shown == set(names[-MOST_FEATURES:])
    assert chart.caption.endswith("The 60 of 100 features with the largest weights.")
    assert chart.alt().startswith("Largest weights of pairs: f98 and f99 98.000, f97 and f98 97.000")
    assert "features with the largest" not in chart_of(PAIRS, ["x", "y", "z"]).caption


def test_thousands_of_features_are_cut_before_they_are_ordered(rows_of):
    names = [f"f{number}" for number in range(5000)]
    chart = chart_of(pairs_of([(names[7], names[4000], 1.0)]), names)
    weighed = [row for row in rows_of(chart, "first", "second", "weight") if row[2]]
    assert [sorted(row[:2]) for row in weighed] == [["f4000", "f7"]]


def test_features_that_share_a_name_are_told_apart(words_of):
    words = words_of(chart_of(pairs_of([("x", "y", 1.0)]), ["x", "x", "y"]))
    assert {"x", "x (2)", "y"} <= set(words)


def test_names_are_plain_text(hostile, check_names):
    rows = [(one, other, 1.0) for one in hostile for other in hostile if one < other]
    title = " ".join(hostile)
    check_names(chart_of(pairs_of(rows), hostile, title, hostile[0]), [*hostile, title])


def test_the_chart_is_named_for_a_file():
    assert chart_of(PAIRS, ["x", "y", "z"], "Data", "IM 4E").name == "weights-of-pairs-01-data-im-4e"
