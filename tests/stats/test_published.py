"""Ours beside published figures: the standard error, the verdicts, what is not compared."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from scipy import stats

from mfbench.stats.published import compare_with_published, summarise
from mfbench.suite.published import PublishedFigure


def trials(scores, status=None):
    count = len(scores)
    return pd.DataFrame(
        {"dataset": "d", "method": "m", "status": status or ["ok"] * count, "accuracy": scores, "mcc": [0.0] * count}
    )


def figure(value, **more):
    return PublishedFigure(**{"table": "t", "dataset": "d", "method": "m", "label": "D", "value": value, **more})


def compare(frame, *figures, metric="accuracy", ratio=0.25):
    return compare_with_published(frame, figures, {"t": metric}, lambda dataset: ratio)


SCORES = [0.8, 0.9, 0.85, 0.95, 0.9]
ERROR = np.sqrt((1 / 5 + 0.25) * np.var(SCORES, ddof=1))


def test_two_corrected_standard_errors():
    for value, verdict in [
        (0.88, "undecided"),
        (0.88 - 1.999 * ERROR, "undecided"),
        (0.88 - 2.001 * ERROR, "above"),
        (0.88 + 1.999 * ERROR, "undecided"),
        (0.88 + 2.001 * ERROR, "below"),
    ]:
        row = compare(trials(SCORES), figure(value)).iloc[0]
        assert row["verdict"] == verdict
        assert (row["ours"], row["published"]) == pytest.approx((0.88, value))
        assert row["difference"] == pytest.approx(0.88 - value)
        assert row["two_errors"] == pytest.approx(2 * ERROR)


# Small spread, so that the interval can be narrower than the margin of two points.
STEADY = [0.88 + shift for shift in (-0.01, -0.005, 0.0, 0.005, 0.01)]


@pytest.mark.parametrize("sign", [1, -1])
def test_equivalent_if_two_one_sided_tests_reject_a_difference_of_two_points(sign):
    # With ratio 0 these are ordinary one-sample t-tests at level 0.05.
    def largest_p(value):
        differences = np.subtract(STEADY, value)
        tests = [(-0.02, "greater"), (0.02, "less")]
        return max(stats.ttest_1samp(differences, bound, alternative=way).pvalue for bound, way in tests)

    edge = scipy.optimize.brentq(lambda shift: largest_p(0.88 - sign * shift) - 0.05, 0.0, 0.02)
    just_within, just_beyond = (0.88 - sign * edge * factor for factor in (0.999, 1.001))
    frame = compare(trials(STEADY), figure(just_within), figure(just_beyond), ratio=0.0)
    assert frame["verdict"].tolist() == ["equivalent", "above" if sign > 0 else "below"]
    interval = stats.t.interval(0.9, 4, loc=frame["difference"][0], scale=stats.sem(STEADY))
    assert (frame["low"][0], frame["high"][0]) == pytest.approx(interval)


def test_a_small_difference_is_equivalent_even_if_it_is_significant():
    steady = [0.9001, 0.8999, 0.9, 0.9001, 0.8999]
    assert compare(trials(steady), figure(0.89)).iloc[0]["verdict"] == "equivalent"


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([0.9] * 5, "all scores are equal"),
        ([0.8, 0.9, 0.9, 0.8], "fewer than 5 scores"),
        ([0.9], "fewer than 5 scores"),
    ],
)
def test_without_spread_or_with_few_scores_there_is_no_verdict(scores, reason):
    frame = compare(trials(scores), figure(0.9), figure(0.1))
    assert frame["verdict"].tolist() == ["undecided"] * 2 and frame["reason"].tolist() == [reason] * 2


def test_a_printed_figure_is_as_exact_as_its_digits():
    beyond = 0.88 - 2 * ERROR - 0.0004
    frame = compare(trials(SCORES), figure(beyond, rounding=0.0005), figure(beyond, rounding=0.0003))
    assert frame["verdict"].tolist() == ["undecided", "above"]


def comparison(differences, verdicts=None, method="m"):
    return pd.DataFrame(
        {"table": "t", "method": method, "verdict": verdicts or "undecided", "difference": np.array(differences)}
    )


def test_a_method_is_equivalent_on_average_by_the_spread_over_datasets():
    for differences, verdict in [
        ([0.01, -0.01, 0.0, 0.005], "equivalent"),
        ([0.10, 0.11, 0.12], "above"),
        ([-0.10, -0.11, -0.12], "below"),
        ([0.10, -0.10, 0.05], "undecided"),
        ([0.0], "undecided"),
    ]:
        row = summarise(comparison(differences)).iloc[0]
        assert row["verdict"] == verdict
        assert row["datasets"] == len(differences) and row["difference"] == pytest.approx(np.mean(differences))
        if len(differences) > 1:
            half = stats.t.ppf(0.95, len(differences) - 1) * stats.sem(differences)
            assert row["high"] - row["low"] == pytest.approx(2 * half)


def test_the_summary_counts_comparable_figures_only():
    verdicts = ["above", "equivalent", "below", "not comparable", "incomplete"]
    frame = pd.concat([comparison([0.1, 0.0, -0.1, 9.0, 9.0], verdicts), comparison([9.0], ["incomplete"], "n")])
    summary = summarise(frame)
    assert summary["method"].tolist() == ["m"]
    row = summary.iloc[0]
    assert row[["datasets", "above", "equivalent", "undecided", "below"]].tolist() == [3, 1, 1, 0, 1]
    assert row["difference"] == pytest.approx(0.0)


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
    assert compare(trials(SCORES), figure(0.5), metric="mcc").iloc[0][["metric", "ours"]].tolist() == ["mcc", 0.0]


def test_figures_of_other_cells_and_no_figures_leave_a_frame_with_columns():
    empty = compare(trials(SCORES), figure(0.5, method="n"))
    assert len(empty) == len(compare(trials(SCORES))) == len(compare(trials(SCORES).iloc[:0], figure(0.5))) == 0
    assert "verdict" in empty.columns
