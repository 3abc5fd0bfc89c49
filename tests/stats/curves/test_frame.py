"""The curves of a run are one tidy frame."""

import numpy as np

from mfbench.model.trials import Curve, TrialResult
from mfbench.stats.curves import CURVE_COLUMNS, curve_frame

CURVE = Curve(
    sizes=np.array([1, 4]),
    metrics=("accuracy", "mcc"),
    scores=np.array([[0.5, 0.75], [0.0, np.nan]]),
    seconds=np.array([0.01, 0.02]),
    chosen=({}, {"a": 1}),
)


def test_each_trial_size_and_metric_is_a_row(write_run):
    results = [TrialResult(key="", scores={"accuracy": 0.75}, curve=CURVE), TrialResult(key="", scores={"accuracy": 1})]
    run = write_run({("iris", "A"): results}, folds=2)
    frame = run.curves
    assert tuple(frame.columns) == CURVE_COLUMNS
    assert frame[["fold", "size", "metric"]].values.tolist() == [
        [0, 1, "accuracy"],
        [0, 4, "accuracy"],
        [0, 1, "mcc"],
        [0, 4, "mcc"],
    ]
    np.testing.assert_array_equal(frame["score"], [0.5, 0.75, 0.0, np.nan])
    assert frame["seconds"].tolist() == [0.01, 0.02, 0.01, 0.02]
    assert (frame[["dataset", "method", "replicate"]] == ["iris", "A", 0]).all(axis=None)
    assert "curve" not in run.trials.columns


def test_a_run_without_curves_has_an_empty_frame_with_the_same_columns(write_run):
    frame = write_run({("iris", "A"): 0.5}, folds=2).curves
    full = curve_frame([{"dataset": "d", "method": "m", "repeat": 0, "fold": 0, "curve": CURVE}])
    assert not len(frame) and list(frame.columns) == list(full.columns)
    assert frame["size"].dtype == full["size"].dtype
