"""Numbers as text: durations, ranks, p-values, scores with their marks."""

import pytest

from mfbench.model.evaluation import Score
from mfbench.model.sections import Cell
from mfbench.report.cells import DASH, interval_text, number_cell, rank_cell, score_cell, seconds, with_unit


def test_durations_read_well():
    for value, text in [
        (0, "0 ms"),
        (0.0004, "0 ms"),
        (0.5, "500 ms"),
        (1, "1.0 s"),
        (59.94, "59.9 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (360000, "100 h 0 min"),
    ]:
        assert seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.9996, "1.0 s"), (59.96, "1 min 0 s")])
def test_durations_at_the_edge_of_a_unit(value, text):
    assert seconds(value) == text


SCORE = {"mean": 0.9, "sd": 0.01, "complete": True, "best": False, "not_worse": False, "completed": 5, "planned": 5}
SCORE["p_best"] = 0.01


def test_a_score_with_its_role_and_mark():
    for changes, mark, cell in [
        ({}, None, Cell("90.0 ± 1.0")),
        ({"best": True}, None, Cell("90.0 ± 1.0", "best")),
        ({"not_worse": True}, None, Cell("90.0 ± 1.0 ≈", "not-worse")),
        ({"p_best": float("nan")}, None, Cell("90.0 ± 1.0 ?", "marked")),
        ({"complete": False, "completed": 4}, None, Cell("90.0 ± 1.0 (4/5)", "missing")),
        ({"mean": float("nan")}, None, DASH),
        ({"sd": float("nan")}, None, Cell("90.0")),
        ({"not_worse": True}, "≫", Cell("90.0 ± 1.0 ≫", "marked")),
        ({"best": True}, "≫", Cell("90.0 ± 1.0 ≫", "best-marked")),
        ({"not_worse": True}, "", Cell("90.0 ± 1.0")),
    ]:
        assert score_cell({**SCORE, **changes}, True, mark) == cell


def test_what_is_not_finite_is_a_dash():
    assert rank_cell(float("nan")) == number_cell(float("inf"), ".2f") == DASH


def test_an_interval_that_cannot_be_computed_says_so():
    row = {"difference": 0.01, "low": float("nan"), "high": float("nan")}
    assert interval_text(row, False) == "+0.010 [too few]"


def test_names_of_metrics_keep_the_form_of_suites():
    assert with_unit("one_vs_rest_accuracy", Score()) == "one_vs_rest_accuracy, percent"
