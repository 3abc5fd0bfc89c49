"""The chart of curves: one line for each method with its band, the best in colour and the others in grey."""

import numpy as np
import pandas as pd
import pytest

from mfbench.model.evaluation import Score
from mfbench.report.charts.curves import HIGHLIGHTED, MOST_LINES, curve_chart, ranking_chart
from mfbench.report.charts.drawing import NEUTRAL


def means_of(cells, sizes=(1, 10, 100)):
    rows = [(d, m, size, 0.5 + number / 10) for d, m in cells for number, size in enumerate(sizes)]
    frame = pd.DataFrame(rows, columns=["dataset", "method", "size", "mean"])
    return frame.assign(low=frame["mean"] - 0.05, high=frame["mean"] + 0.05)


def chart_of(cells, *, means=None, percent=True, classifier="knn", greater=True):
    overview = pd.DataFrame({"method": list(dict.fromkeys(m for _, m in cells)), "classifier": classifier})
    return curve_chart(
        1,
        means_of(cells) if means is None else means,
        overview,
        "accuracy",
        Score(percent=percent, greater_is_better=greater),
    )


def test_each_size_has_a_mean_with_its_band_in_percent(rows_of):
    rows = rows_of(chart_of([("d", "A")]), "dataset", "method", "size", "mean", "low", "high")
    assert rows[0] == ["d", "A", 1, pytest.approx(50.0), pytest.approx(45.0), pytest.approx(55.0)]
    assert [row[2] for row in rows] == [1, 10, 100]
    assert rows_of(chart_of([("d", "A")], percent=False), "mean")[2] == [pytest.approx(0.7)]


def test_the_axis_of_sizes_is_logarithmic_and_each_dataset_has_a_panel_of_its_own(drawn, words_of):
    chart = chart_of([("e", "A"), ("d", "A")])
    content = drawn(chart)
    encodings = [layer["encoding"] for layer in content["spec"]["layer"]]
    assert {encoding["x"]["scale"]["type"] for encoding in encodings} == {"log"}
    assert content["facet"]["sort"] == ["e", "d"]
    assert content["resolve"] == {"scale": {"x": "independent", "y": "independent"}}
    assert {"d", "e", "A", "features"} <= set(words_of(chart))


def test_a_few_methods_are_all_in_colour(drawn):
    names = [f"M{number}" for number in range(MOST_LINES)]
    chart = chart_of([("d", name) for name in names])
    scale = drawn(chart)["spec"]["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == names and NEUTRAL not in scale["range"]
    assert len(set(scale["range"])) == MOST_LINES and "grey" not in chart.caption


def test_of_many_the_best_are_in_colour_and_the_others_share_a_grey_entry(drawn, words_of):
    names = [f"M{number:02d}" for number in range(20)]
    chart = chart_of([("d", name) for name in names])
    content = drawn(chart)
    others, bands, lines = content["spec"]["layer"]
    scale = lines["encoding"]["color"]["scale"]
    assert scale["domain"] == [*names[:HIGHLIGHTED], "15 other methods"] and scale["range"][-1] == NEUTRAL
    assert others["transform"][0]["filter"]["oneOf"] == ["15 other methods"]
    assert bands["transform"][0]["filter"]["oneOf"] == lines["transform"][0]["filter"]["oneOf"] == names[:HIGHLIGHTED]
    assert "15 other methods" in words_of(chart) and "the others are grey" in chart.caption


def test_sizes_without_a_mean_are_left_out_and_without_an_interval_there_is_no_band(rows_of, words_of, drawn):
    means = means_of([("d", "A")])
    means.loc[0, "mean"] = np.nan
    means[["low", "high"]] = np.nan
    chart = chart_of([("d", "A")], means=means)
    assert rows_of(chart, "size") == [[10], [100]]
    assert "A" in words_of(chart) and len(drawn(chart)["spec"]["layer"]) == 1


def test_a_method_of_another_classifier_is_not_in_it(rows_of):
    means = means_of([("d", "A"), ("d", "other")])
    assert {row[0] for row in rows_of(chart_of([("d", "A")], means=means), "method")} == {"A"}


def test_a_single_size_is_a_point(words_of):
    assert "features" in words_of(chart_of([("d", "A")], means=means_of([("d", "A")], sizes=(3,))))


def test_the_description_of_a_loss_has_its_smallest_value():
    means = means_of([("d", "A")])
    means.loc[1, "mean"] = 0.2
    assert "(smallest: 0.2 with 10 features)" in chart_of([("d", "A")], means=means, percent=False, greater=False).alt()


def test_the_description_has_the_ends_and_the_top_of_the_best_method():
    means = means_of([("d", "A"), ("d", "B"), ("e", "B")])
    means.loc[1, "mean"] = 0.95
    assert chart_of([("d", "A"), ("d", "B"), ("e", "B")], means=means).alt() == (
        "knn, mean accuracy of A, best average rank: "
        "d 50 with 1 feature, 70 with 100 features (largest: 95 with 10 features)."
    )
    assert chart_of([("d", "A")], means=means[:0]).alt() == "knn, mean accuracy: undefined."


def test_the_figures_of_rankings_have_a_chart_where_they_are_defined(rows_of, drawn):
    overview = pd.DataFrame({"method": ["A"], "classifier": "knn"})
    figures = {"dataset": "d", "method": ["A", "A", "other"], "size": [1, 4, 1], "stability": [0.5, np.nan, 1.0]}
    rankings = pd.DataFrame(figures | {"recall": np.nan})
    chart = ranking_chart("stability", rankings, overview)
    assert (chart.name, chart.title) == ("curves-stability", "Stability of the selected features against their number")
    assert rows_of(chart, "method", "size", "mean") == [["A", 1, 0.5]]
    assert ranking_chart("recall", rankings, overview) is None


def test_the_name_is_fit_for_a_file():
    assert chart_of([("d", "A")], classifier="knn(n_neighbors=1)").name == "curves-01-knn-n-neighbors-1"


def test_names_are_plain_text(hostile, check_names):
    check_names(chart_of([(name, method) for name in hostile[:2] for method in hostile]), hostile)
    check_names(chart_of([(name, "A") for name in hostile]), hostile)
