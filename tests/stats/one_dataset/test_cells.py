"""Cells from a frame of trials: their order, what is complete, and where decisions come from."""

import numpy as np
import pandas as pd
import pytest

from mfbench.errors import RunError
from mfbench.stats.cells import results_by_cell


def trials():
    """Two repeats of two folds, rows shuffled; the second method failed once and has no score once."""
    rows = [
        {
            "dataset": "d",
            "method": method,
            "repeat": repeat,
            "fold": fold,
            "status": "ok",
            "accuracy": repeat + fold / 10,
        }
        for repeat in (0, 1)
        for fold in (0, 1)
        for method in "AB"
    ]
    frame = pd.DataFrame(rows)
    second = frame.index[frame["method"] == "B"]
    frame.loc[second[0], "status"] = "error"
    frame.loc[second[1], "accuracy"] = np.nan
    return frame.sort_values(["fold", "method"], ascending=False)


def right(dataset, method):
    return [np.array([True, False]), np.array([True]), np.array([False]), np.array([False, False])]


def test_folds_are_in_the_order_of_repeats_and_folds():
    cell = results_by_cell(trials(), "accuracy")["d", "A"]
    assert cell.scores.tolist() == [0.0, 0.1, 1.0, 1.1]
    assert cell.repeats.tolist() == [0, 0, 1, 1]
    assert cell.complete


def test_a_failed_trial_has_no_score_and_its_cell_is_incomplete():
    cell = results_by_cell(trials(), "accuracy")["d", "B"]
    assert cell.ok.tolist() == [False, True, True, True]
    assert np.isnan(cell.scores).tolist() == [True, True, False, False]
    assert not cell.complete


def test_decisions_of_the_first_repeat_and_of_the_first_fold():
    cell = results_by_cell(trials(), "accuracy", right)["d", "A"]
    assert cell.first_repeat.tolist() == [True, False, True]
    assert cell.first_test_set().tolist() == [True, False]


def test_without_predictions_the_message_names_the_cell():
    with pytest.raises(RunError, match="no predictions of A on d are stored"):
        results_by_cell(trials(), "accuracy")["d", "A"].first_test_set()


def test_no_trials_are_no_cells():
    assert results_by_cell(trials().iloc[:0], "accuracy") == {}
