"""Mean curves: the interval is that of the corrected resampled t-test, and has no width without spread."""

import numpy as np
import pytest
from scipy import stats

from mfbench.stats.curves import MEAN_COLUMNS, mean_curves
from mfbench.stats.paired import corrected_t_test

FOLDS = [0.6, 0.7, 0.5, 0.65, 0.8]


def test_the_interval_is_the_formula_of_the_docs(make_curves):
    row = mean_curves(make_curves({("d", "A"): {4: FOLDS}}), lambda dataset: 0.25).iloc[0]
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + 0.25) * np.var(FOLDS, ddof=1))
    assert row["mean"] == pytest.approx(0.65) and row["sd"] == pytest.approx(np.std(FOLDS, ddof=1))
    assert (row["low"], row["high"]) == (pytest.approx(0.65 - half), pytest.approx(0.65 + half))
    assert (row["folds"], row["seconds"]) == (5, 0.5)


def test_it_is_the_interval_of_the_test_against_zero(make_curves):
    row = mean_curves(make_curves({("d", "A"): {4: FOLDS}}, "log_loss"), lambda dataset: 0.25, alpha=0.1).iloc[0]
    test = corrected_t_test(FOLDS, np.zeros(5), 0.25, alpha=0.1)
    assert (row["low"], row["high"]) == (pytest.approx(test.low), pytest.approx(test.high))


@pytest.mark.parametrize(
    ("metric", "scores", "low", "high"),
    [
        ("accuracy", [0.0, 1.0, 0.0, 1.0, 1.0], 0.0, 1.0),
        ("mcc", [-1.0, 1.0, -1.0, 1.0, 1.0], -1.0, 1.0),
        ("log_loss", [0.0, 3.0, 0.0, 3.0, 3.0], 0.0, None),
    ],
)
def test_intervals_are_cut_at_the_ends_of_the_range_of_the_metric(metric, scores, low, high, make_curves):
    row = mean_curves(make_curves({("d", "A"): {1: scores}}, metric), lambda dataset: 0.25).iloc[0]
    uncut = corrected_t_test(np.array(scores), np.zeros(5), 0.25)
    assert uncut.low < low and row["low"] == low
    assert row["high"] == (pytest.approx(uncut.high) if high is None else high)


def test_without_spread_the_interval_is_a_point(make_curves):
    row = mean_curves(make_curves({("d", "A"): {1: [0.7] * 5}}), lambda dataset: 0.25).iloc[0]
    assert (row["low"], row["high"], row["sd"]) == (0.7, 0.7, 0.0)


def test_two_folds_have_a_wide_interval(make_curves):
    row = mean_curves(make_curves({("d", "A"): {1: [0.59, 0.61]}}, "mcc"), lambda dataset: 0.5).iloc[0]
    half = stats.t.ppf(0.975, 1) * np.sqrt((1 / 2 + 0.5) * 0.0002)
    assert (row["low"], row["high"]) == (pytest.approx(0.6 - half), pytest.approx(0.6 + half))


def test_one_fold_has_no_interval(make_curves):
    row = mean_curves(make_curves({("d", "A"): {1: [0.7]}}), lambda dataset: 0.25).iloc[0]
    assert row["mean"] == 0.7 and row["folds"] == 1
    assert np.isnan(row["sd"]) and np.isnan(row["low"]) and np.isnan(row["high"])


def test_missing_scores_are_left_out_and_sizes_ascend(make_curves):
    curves = make_curves({("d", "B"): {10: [*FOLDS, np.nan], 2: FOLDS}, ("d", "A"): {1: [0.5]}})
    frame = mean_curves(curves, lambda dataset: 0.25)
    assert frame[["method", "size", "folds"]].values.tolist() == [["B", 2, 5], ["B", 10, 5], ["A", 1, 1]]
    assert frame["mean"].tolist() == pytest.approx([0.65, 0.65, 0.5])


def test_without_curves_there_are_columns_alone(make_curves):
    assert mean_curves(make_curves({("d", "A"): {1: [0.5]}})[:0], lambda dataset: 0.25).columns.tolist() == MEAN_COLUMNS
