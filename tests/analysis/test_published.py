"""Ours beside published figures: the standard error, the verdicts, what is not compared."""

import numpy as np
import pandas as pd
import pytest

from mfbench.analysis.published import compare_with_published
from mfbench.suite.published import PublishedFigure


def trials(scores, status=None):
    count = len(scores)
    return pd.DataFrame(
        {"dataset": "d", "method": "m", "status": status or ["ok"] * count, "accuracy": scores, "mcc": [0.0] * count}
    )


def figure(value, **more):
    return PublishedFigure(**{"table": "t", "dataset": "d", "method": "m", "label": "D", "value": value, **more})


def compare(frame, *figures, metric="accuracy", ratio=0.25):
    return compare_with_published(frame, figures, {"t": metric}, ratio)


SCORES = [0.8, 0.9, 0.85, 0.95, 0.9]
ERROR = np.sqrt((1 / 5 + 0.25) * np.var(SCORES, ddof=1))


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0.88, "within"),
        (0.88 - 1.999 * ERROR, "within"),
        (0.88 - 2.001 * ERROR, "above"),
        (0.88 + 1.999 * ERROR, "within"),
        (0.88 + 2.001 * ERROR, "below"),
    ],
)
def test_two_corrected_standard_errors(value, verdict):
    row = compare(trials(SCORES), figure(value)).iloc[0]
    assert row["verdict"] == verdict
    assert (row["ours"], row["published"]) == pytest.approx((0.88, value))
    assert row["difference"] == pytest.approx(0.88 - value)
    assert row["two_errors"] == pytest.approx(2 * ERROR)


def test_without_spread_equal_is_within_and_anything_else_is_not():
    assert compare(trials([0.9] * 5), figure(0.9), figure(0.901))["verdict"].tolist() == ["within", "below"]


def test_a_printed_figure_is_as_exact_as_its_digits():
    frame = trials([2 / 3] * 5)
    assert compare(frame, figure(0.667, rounding=0.0005), figure(0.666, rounding=0.0005))["verdict"].tolist() == [
        "within",
        "above",
    ]


def test_an_obstacle_goes_over_everything():
    row = compare(trials(SCORES), figure(0.1, obstacle="another size")).iloc[0]
    assert (row["verdict"], row["reason"]) == ("not comparable", "another size")


@pytest.mark.parametrize(
    "frame",
    [
        trials(SCORES, ["ok", "error", "ok", "ok", "ok"]),
        trials(SCORES, [None] * 5),
        trials([0.8, np.nan, 0.9, 0.9, 0.9]),
    ],
    ids=["failed", "not run", "no score"],
)
def test_an_incomplete_cell_is_not_compared(frame):
    assert compare(frame, figure(0.1)).iloc[0]["verdict"] == "incomplete"


def test_the_metric_is_the_tables():
    assert compare(trials(SCORES), figure(0.0), metric="mcc").iloc[0]["verdict"] == "within"


def test_figures_of_other_cells_and_no_figures_leave_a_frame_with_columns():
    empty = compare(trials(SCORES), figure(0.5, method="n"))
    assert len(empty) == len(compare(trials(SCORES))) == len(compare(trials(SCORES).iloc[:0], figure(0.5))) == 0
    assert "verdict" in empty.columns
