"""Sizes of datasets and splits, and the accuracy of always giving the same answer."""

import numpy as np
import pytest
from toy_metrics import SCORES

from mfbench.run.store.formats import StoredSplit
from mfbench.stats.selection import dataset_frame, size_frame

DATASET = {
    "label": "d",
    "n_samples": 10,
    "n_features": 3,
    "truth": np.repeat([0, 1, 2], [5, 3, 2]),
    "class_names": ["x", "y", "z"],
    "sha256": "abc",
    "source": "here",
}


@pytest.mark.parametrize(
    ("metric", "trivial"), [("accuracy", 0.5), ("one_vs_rest_accuracy", (0.5 + 0.7 + 0.8) / 3), ("mcc", 0.5)]
)
def test_a_trivial_accuracy_is_that_of_the_metric(metric, trivial):
    row = dataset_frame([DATASET], SCORES[metric]).iloc[0]
    assert row["trivial_accuracy"] == pytest.approx(trivial)
    assert row["classes"] == {"x": 5, "y": 3, "z": 2}
    assert (row["dataset"], row["n_samples"], row["sha256"]) == ("d", 10, "abc")


def test_validation_rows_are_counted_if_there_are_any():
    splits = {
        (0, 1): StoredSplit(np.arange(3), np.arange(3, 8), np.arange(8, 10), 5, 3),
        (0, 0): StoredSplit(np.arange(2), None, None, 8, 2),
    }
    frame = size_frame([("d", splits)])
    assert frame["fold"].tolist() == [0, 1]
    assert frame["n_train"].tolist() == [8, 5]
    assert frame["n_validation"].tolist() == [0, 2]
    assert frame["n_test"].tolist() == [2, 3]
    assert frame["n_features"].tolist() == [2, 3]


def test_no_datasets_are_an_empty_frame_with_columns():
    assert "trivial_accuracy" in dataset_frame([], SCORES["accuracy"]).columns
    assert "n_train" in size_frame([]).columns
